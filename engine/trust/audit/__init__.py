"""Verifying a store against its journal."""
