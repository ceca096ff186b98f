"""Erasure: an atom's content is destroyed permanently, and the history stays verifiable."""
