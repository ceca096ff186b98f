"""Tests that the verifier refuses what it must: named rejects, mutations, and mutants of its checks."""
