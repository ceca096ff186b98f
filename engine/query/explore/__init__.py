"""Exploration: a memory looked into step by step, each step with what it costs in tokens."""
