"""Damaged files lead to errors or to the same answers, never to other answers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.support.leveldb import LEVELDB
from tests.support.soak import often
from tests.torture import rot
from tests.torture.oracle import FOREIGN

pytestmark = pytest.mark.slow

CHANGES = 20


@pytest.fixture(scope="module")
def whole(memory: Path) -> object:
    """Return a function that makes the undamaged store of a backend once."""

    @cache
    def of(scheme: str, closed: bool) -> tuple[rot.Whole, Path]:
        folder = memory / f"{scheme}-{closed}"
        folder.mkdir()
        return rot.left_open(scheme, folder, closed=closed), folder

    return of


@pytest.mark.parametrize("number", often(20, 150))
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_no_flipped_bit_changes_an_answer(whole: object, scheme: str, closed: bool, number: int) -> None:
    """A flipped bit is noticed at opening, at reading or by a replay, or it makes no difference."""
    store, folder = whole(scheme, closed)  # type: ignore[operator]
    counts, told = rot.torture(store, rot.flips(store, 1, number), folder)
    assert counts["damages"] == number
    assert (counts[rot.WRONG_ANSWERS], counts[FOREIGN]) == (0, 0), told


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_a_damaged_file_is_noticed_with_a_kept_root(whole: object, scheme: str, closed: bool) -> None:
    """A file that is cut, deleted, swapped or partly zero is noticed, at the latest with a kept root."""
    store, folder = whole(scheme, closed)  # type: ignore[operator]
    counts, told = rot.torture(store, rot.surgery(store, 1, CHANGES), folder)
    assert counts["damages"] == CHANGES
    assert (counts[rot.UNNOTICED], counts[FOREIGN]) == (0, 0), told
