"""Markers for tests that need LevelDB, which are skipped if plyvel is missing.

Without plyvel, the other tests use SQLite stores.
"""

from importlib.util import find_spec

import pytest

needs_leveldb = pytest.mark.skipif(
    find_spec("plyvel") is None, reason="NOT TESTED: plyvel is not installed, so there is no LevelDB here"
)
LEVELDB = pytest.param("leveldb", marks=needs_leveldb)
"""LevelDB as a parameter of parametrized tests, skipped if plyvel is missing."""
