"""Context: hits with the neighbouring atoms of their sources, within a token budget."""
