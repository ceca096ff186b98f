"""The queries of a store: recall, context, exploration, the graph of relations, and history."""
