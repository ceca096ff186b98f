"""Hits with the text around them, laid out within a token budget."""
