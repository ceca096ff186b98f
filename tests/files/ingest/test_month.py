"""A month of a person's edits: nothing of theirs is lost, and every text keeps its atom."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Engine
from tests.files.ingest.month import Figures, Month
from tests.support.engines import salt_of, ticking
from tests.support.soak import seed, times

BACKENDS = pytest.mark.parametrize("url", ["", "sqlite:"], ids=["leveldb", "sqlite"])


def month(folder: Path, url: str, number: int, days: int) -> Figures:
    """Live through some days, check every law after each ingest, and return what happened."""
    folder.mkdir(exist_ok=True)
    with Engine.open(f"{url}{folder / 'store'}", clock=ticking(), salts=salt_of) as engine:
        life = Month(folder / "notes", engine, number)
        life.live(days)
        life.check_store()
    return life.figures


@BACKENDS
@pytest.mark.parametrize("number", range(2))
def test_some_days_of_edits_lose_nothing(tmp_path: Path, url: str, number: int) -> None:
    """After every ingest of some days, every law about edits holds."""
    figures = month(tmp_path, url, number, 4)
    assert figures.ingests > 4
    assert figures.pinned > 10


@pytest.mark.soak
@BACKENDS
def test_a_month_of_edits_loses_nothing(tmp_path: Path, url: str) -> None:
    """The same holds for 100 months."""
    for number in range(times(100)):
        month(tmp_path / str(number), url, seed(number), 20)
