"""Text analysis: terms, fingerprints and token counts, which are the same on every machine."""
