"""Questions: recall, context, exploration, graph walks, history."""
