"""Graph queries: find by walking edges, and the hits of a question as a graph."""
