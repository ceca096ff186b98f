"""Exploration: reads a memory step by step and counts the tokens of each step."""
