"""Atoms with the same text: near-duplicates, near copies, and the atom that holds a new text already."""
