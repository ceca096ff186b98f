"""Erasing: content destroyed for good, the history kept verifiable."""
