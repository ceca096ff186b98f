"""Benchmarks of retrieval quality against rivals: `python -m bench.retrieval` (bench/retrieval/README.md)."""
