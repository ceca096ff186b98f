"""The version of the distribution; formats have their own numbers, in `engine.ledger.layout` and SPEC.md."""

__version__ = "0.1.0"
