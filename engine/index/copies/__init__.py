"""Atoms with the same text: near-duplicates, and the atom that holds a new text already."""
