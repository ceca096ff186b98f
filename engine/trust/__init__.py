"""The means by which others can check a store: verification, proofs, checkpoint notes and log tiles."""
