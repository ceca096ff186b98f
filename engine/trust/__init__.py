"""What others can check: verification, proofs, checkpoint notes, the log as tiles."""
