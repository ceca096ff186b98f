"""Looking back and taking back: what changed between two moments, why an atom is there, inverse events."""
