"""Text analysis: terms, fingerprints and token counts. The results are the same on every machine."""
