"""Answering questions from the index and the sets."""
