"""Ways to check a store: verification, proofs, checkpoint notes and log tiles."""
