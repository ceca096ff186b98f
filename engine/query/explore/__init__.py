"""Exploration: reading a memory step by step and counting the tokens of each step."""
