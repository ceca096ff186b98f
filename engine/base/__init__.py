"""Definitions that the whole engine uses: errors, limits, validation, and the values that callers receive."""

__version__ = "0.1.0"
"""The version of the distribution. The stored formats have separate version numbers (SPEC.md)."""
