"""Benchmarks of exploration against recall of whole atoms: `python -m bench.exploration`."""
