"""The version of the distribution. The formats have version numbers of their own (SPEC.md)."""

__version__ = "0.1.0"
