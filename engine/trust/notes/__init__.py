"""Checkpoint notes: issuing, signing, trusting, and comparing them with a store (SPEC: 21)."""
