"""Opening and closing a store leaves no descriptor, thread or memory behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.leveldb import LEVELDB
from tests.torture.leaks import LEFT_OPEN, THREADS, torture


@pytest.mark.parametrize("scheme", ["sqlite", LEVELDB])
def test_opening_again_and_again_leaves_nothing_behind(scheme: str, memory: Path) -> None:
    """After fifty openings there are as many descriptors and threads as before."""
    folder = memory / f"leaks-{scheme}"
    folder.mkdir()
    counts, told = torture(scheme, 1, 50, folder)
    assert (counts[LEFT_OPEN], counts[THREADS]) == (0, 0), told
