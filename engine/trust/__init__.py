"""Features for third parties: verification, proofs, checkpoint notes, and the log as tiles."""
