"""Text analysis: terms, fingerprints and token counts, equal on every machine."""
