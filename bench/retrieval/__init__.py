"""How good the answers are, beside rivals: `python -m bench.retrieval` (bench/retrieval/README.md)."""
