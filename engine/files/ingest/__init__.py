"""Ingest: find files, read them, split them into atoms, and update the store so that it matches the files."""
