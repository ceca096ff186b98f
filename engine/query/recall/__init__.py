"""Recall: from a question to ranked hits."""
