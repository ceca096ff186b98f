"""History: the differences between two moments, the origin of an atom, and reverting events."""
