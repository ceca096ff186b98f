"""Erasure: destroying an atom's content permanently while its history stays verifiable."""
