"""Definitions that the whole engine uses: errors, limits, validation, and the values that callers receive."""
