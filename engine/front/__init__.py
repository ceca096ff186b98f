"""Code shared by the command line and the servers: settings, opening a store, times as text."""
