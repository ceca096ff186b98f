"""A command that is killed, or whose system call fails, loses nothing and can be repeated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.leveldb import LEVELDB
from tests.torture.acts import ACTS, prepare
from tests.torture.calls import why_not
from tests.torture.exercises import COMMANDS
from tests.torture.injected import Fault, run
from tests.torture.kills import COUNTED, attempt, faults, summed, undisturbed
from tests.torture.oracle import FOREIGN

pytestmark = pytest.mark.slow

KILLS, FAILURES = 3, 1
"""Faults for each command on each backend."""


@pytest.fixture(scope="module", params=[LEVELDB, "sqlite"])
def start(request: pytest.FixtureRequest, memory: Path) -> tuple[str, Path]:
    """Return a backend and the folder that every trial on it begins with."""
    if reason := why_not():
        pytest.skip(reason)
    place = memory / request.param / "start"
    prepare(request.param, place)
    return request.param, place


def tried(
    start: tuple[str, Path], command: str, kinds: dict[str, int], folder: Path
) -> tuple[Counter[str], list[str]]:
    """Cause faults of these kinds in a command; return the sum of the counts, and notes of failures."""
    scheme, place = start
    whole = undisturbed(command, scheme, place, folder)
    tried = [fault for kind, wanted in kinds.items() for fault in faults(whole, kind, 1, wanted)]
    return summed(attempt(whole, fault, folder) for fault in tried)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_killed_at_a_system_call_is_whole_or_absent(
    start: tuple[str, Path], command: str, memory: Path
) -> None:
    """After a kill the store replays and lacks nothing, and repeating gives the undisturbed root."""
    counts, notes = tried(start, command, {"SIGKILL": KILLS}, memory)
    # SQLite polls a lock while another thread holds it, so the last calls that were counted may not recur:
    # such a trial ends undisturbed, and is checked like the others.
    assert counts["killed"] + counts["finished"] == KILLS
    assert counts["killed"] > KILLS / 2
    assert {name: counts[name] for name in COUNTED} == dict.fromkeys(COUNTED, 0), notes


@pytest.mark.parametrize("command", COMMANDS)
def test_a_system_call_that_fails_loses_nothing(start: tuple[str, Path], command: str, memory: Path) -> None:
    """After EIO or ENOSPC the store replays and lacks nothing, and the command can be repeated."""
    counts, notes = tried(start, command, {"EIO": FAILURES, "ENOSPC": FAILURES}, memory)
    assert counts["states"] == 2 * FAILURES
    # Which errors are ours has tests of its own.
    wanted = COUNTED - {FOREIGN}
    assert {name: counts[name] for name in wanted} == dict.fromkeys(wanted, 0), notes


def test_every_command_that_is_named_is_carried_out() -> None:
    """The exercises name exactly the commands that can be carried out."""
    assert sorted(ACTS) == sorted(COMMANDS)


def test_a_fault_occurs_at_its_call(memory: Path) -> None:
    """The process is killed at the chosen call, and what it acknowledged before is known."""
    if reason := why_not():
        pytest.skip(reason)
    where = memory / "three"
    where.mkdir()

    def do(acknowledge: object) -> None:
        for number in (1, 2, 3):
            (where / str(number)).mkdir()
            acknowledge(number)  # type: ignore[operator]

    ended = run(do, ("-e", "trace=mkdir", "-e", Fault("mkdir", 3, "SIGKILL").option))
    assert (ended.how, ended.acknowledged) == ("killed", 2)
    failed = run(do, ("-e", "trace=mkdir", "-e", Fault("mkdir", 1, "ENOSPC").option))
    assert failed.how == "another error"
    assert "No space left" in failed.said
