"""Queries: recall, context, exploration, graph walks, history."""
