"""Sealed stores: a store of any kind whose values only the holder of a key can read."""
