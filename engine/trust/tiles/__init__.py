"""The log as static files that any web server can serve (c2sp.org/tlog-tiles)."""
