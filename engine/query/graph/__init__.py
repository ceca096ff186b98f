"""Queries of the graph: atoms found by following edges, and the hits of a question as a graph."""
