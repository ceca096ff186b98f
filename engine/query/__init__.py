"""The queries on a store: recall, context, exploration, the graph of relations, and history."""
