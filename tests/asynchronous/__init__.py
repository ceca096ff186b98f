"""Tests of `AsyncEngine`."""
