"""Mutation tests: code is changed in one place at a time, and the tests must notice each change."""
