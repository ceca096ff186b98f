"""Making proofs: what `proofs` verifies, read off one snapshot of a store."""
