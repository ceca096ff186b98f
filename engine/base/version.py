"""The version of the distribution. The stored formats have separate version numbers (SPEC.md)."""

__version__ = "0.1.0"
