"""Checkpoints outside the store: notes, keys that sign them, what a kept one says of a store (SPEC: 21)."""
