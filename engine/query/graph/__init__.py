"""Walking edges: find, and the graph of the atoms that a question lights up."""
