"""Verification, proofs, checkpoint notes, and the log as tiles, with which others can check a store."""
