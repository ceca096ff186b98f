"""Text into terms, the same ones on every machine."""
