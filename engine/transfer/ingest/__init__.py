"""Ingest: find files, read them, split them into atoms, and bring the store into agreement with them."""
