"""Recall: ranked hits for a question."""
