"""Measurements of memroot beside a plain rival: `python -m bench` prints one table (bench/README.md)."""
