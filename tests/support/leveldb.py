"""Which tests need LevelDB; where plyvel cannot be had, stores are SQLite files, and they are skipped."""

from importlib.util import find_spec

import pytest

needs_leveldb = pytest.mark.skipif(
    find_spec("plyvel") is None, reason="NOT TESTED: plyvel is not installed, so there is no LevelDB here"
)
LEVELDB = pytest.param("leveldb", marks=needs_leveldb)
"""The backend as a parameter."""
