"""Checking a store against its journal, and making everything else anew from it."""
