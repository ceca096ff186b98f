"""Definitions that every part uses: errors, limits, validation, and the values that callers receive."""
