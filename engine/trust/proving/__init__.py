"""Making proofs from one snapshot of a store. The package `proofs` verifies them."""
