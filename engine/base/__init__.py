"""What every part uses: errors, limits, validation, the values that callers meet."""
