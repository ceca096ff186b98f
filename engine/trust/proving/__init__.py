"""Making proofs, which `proofs` verifies, from one snapshot of a store."""
