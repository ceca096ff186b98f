"""Loss of power: every state that a recorded run can leave on the disk is opened and compared."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from tests.torture.calls import Call, record
from tests.torture.disk import MODES, Disk, Mode, write_out
from tests.torture.oracle import LOST, NOT_OPENED, Journal, count, examine, journal_of

BUFFER: Final = 1 << 16
"""The bytes after which LevelDB starts a new log in these runs."""
VERIFY_EVERY: Final = 10
"""Every tenth state is replayed in full."""


class Run(NamedTuple):
    """A recorded run and the journal that it wrote."""

    scheme: str
    calls: list[Call]
    journal: Journal


class State(NamedTuple):
    """One state after a loss of power, by which it can be made again."""

    after: int
    """The number of operations before the loss."""
    mode: Mode
    ordered: bool
    """Whether the file system keeps the order of names (`tests.torture.disk.Disk`)."""
    number: int
    """The seed of the random choices in this state."""


def recorded(scheme: str, seed: int, commands: int, folder: Path) -> Run:
    """Record a run on a new store of this kind."""
    place = folder / "run"
    place.mkdir(parents=True)
    url = f"{scheme}:{place / 'store'}"
    calls = record("tests.torture.programs", [url, seed, commands, BUFFER], place, folder / "trace")
    (folder / "trace").unlink()
    return Run(scheme, calls, journal_of(url))


def states(run: Run, seed: int, wanted: int) -> list[State]:
    """Return the states to try, in the order of the losses.

    Every operation is equally likely to be the last one before the loss. All modes get the same number.
    """
    chosen = Random(f"power {run.scheme} {seed}")
    made = [
        State(chosen.randint(1, len(run.calls)), MODES[number % len(MODES)], chosen.random() < 0.5, number)
        for number in range(wanted)
    ]
    return sorted(made)


def explore(run: Run, tried: list[State], folder: Path) -> tuple[Counter[str], list[str]]:
    """Make each state, open it and compare it; return the counts, and a line for each failure."""
    counts: Counter[str] = Counter()
    told: list[str] = []
    disks = {ordered: Disk(ordered=ordered) for ordered in (False, True)}
    at = 0
    for state in tried:
        while at < state.after:
            for disk in disks.values():
                disk.apply(run.calls[at])
            at += 1
        _try_state(run, state, disks[state.ordered], folder / "state", counts, told)
    return counts, told


def _try_state(
    run: Run, state: State, disk: Disk, place: Path, counts: Counter[str], told: list[str]
) -> None:
    left = disk.after_power_loss(state.mode, Random(f"{run.scheme} {state.number}"))
    if not any(path.partition("/")[0] == "store" for path in left):
        # The store had no name yet. Then nothing may have been acknowledged.
        counts["states"] += 1
        counts["before the store had a name"] += 1
        counts[LOST] += disk.acknowledged
        return
    write_out(left, place)
    try:
        verify = state.number % VERIFY_EVERY == 0
        url = f"{run.scheme}:{place / 'store'}"
        found = examine(url, run.journal, disk.acknowledged, verify=verify)
    finally:
        shutil.rmtree(place)
    counts += count(found, disk.acknowledged)
    if found.how == NOT_OPENED:
        counts[
            f"{NOT_OPENED}: {state.mode}, {'names in order' if state.ordered else 'names in any order'}"
        ] += 1
    if found.lost or found.wrong or found.how == NOT_OPENED or found.verified is False:
        told.append(f"{run.scheme} {state}: {found}"[:400])
