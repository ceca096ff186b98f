"""A command that runs out of memory loses nothing and can be repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.leveldb import LEVELDB
from tests.torture.kills import COUNTED
from tests.torture.memory import torture, why_not

pytestmark = pytest.mark.slow

TRIALS = 6


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
@pytest.mark.parametrize("command", ["add", "erase", "ingest"])
def test_a_command_without_memory_is_whole_or_absent(scheme: str, command: str, memory: Path) -> None:
    """After failed allocations the store replays and lacks nothing, and repeating gives the same root."""
    if reason := why_not():
        pytest.skip(reason)
    counts, told = torture(f"{scheme} {command}", 1, TRIALS, memory / scheme / command)
    assert counts["states"] == TRIALS
    assert counts["finished"] < TRIALS
    assert {name: counts[name] for name in COUNTED} == dict.fromkeys(COUNTED, 0), told
