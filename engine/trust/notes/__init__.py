"""Checkpoint notes: issuing, signing and verifying them, and comparing them with a store (SPEC, 21)."""
