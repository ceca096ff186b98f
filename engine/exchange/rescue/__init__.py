"""Rescue: making a new, verified store from the journal that is left in a damaged store."""
