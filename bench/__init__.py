"""Benchmarks of memroot against a simple rival: `python -m bench` prints one table (bench/README.md)."""
