"""An interrupt at any line of a commit leaves a memory that agrees with its disk, or refuses to go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.leveldb import LEVELDB
from tests.torture.interrupts import DIFFERS, STUCK, torture
from tests.torture.oracle import BROKEN, FOREIGN, LOST

pytestmark = pytest.mark.slow

LINES = 15


@pytest.mark.parametrize("scheme", ["memory", "sqlite", LEVELDB])
def test_an_interrupted_commit_is_whole_or_refused(scheme: str, memory: Path) -> None:
    """After an interrupt the handle goes on correctly, or refuses until it is opened again."""
    folder = memory / f"interrupts-{scheme}"
    folder.mkdir()
    counts, told = torture(scheme, 1, LINES, folder)
    # Caches make later runs a little shorter than the first, whose lines were counted.
    assert counts["trials"] == LINES
    assert counts["interrupted"] > LINES // 2
    failures = (LOST, BROKEN, FOREIGN, DIFFERS, STUCK)
    assert {name: counts[name] for name in failures} == dict.fromkeys(failures, 0), told
