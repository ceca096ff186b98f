"""Processes killed at their system calls, and system calls that fail, in every command."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from backends.errors import BackendError
from engine.base.errors import EngineError
from tests.torture.acts import carry_out, opened, prepare, side_effects, url_of
from tests.torture.injected import CALLS, Acknowledge, Ended, Fault, calls_of, run
from tests.torture.oracle import BROKEN, FOREIGN, LOST, NOT_OPENED, WRONG, Journal, count, examine, journal_of

ERRORS: Final = ("EIO", "ENOSPC")
BESIDE: Final = "files beside the store torn"
REPEATED: Final = "another root after repeating the command"
STUCK: Final = "cannot be repeated"
WAITING: Final = "killed while it waited for a thread"
"""CPython waits forever for a new thread that gets no memory. The process is killed after a minute."""
EXPECTED: Final = frozenset(
    {"finished", "killed", "our error", "out of memory", "the process ended", WAITING}
)
"""The ways in which a command may end after a fault."""


class Whole(NamedTuple):
    """A command that ran without a fault."""

    name: str
    scheme: str
    start: Path
    """The folder that every trial begins with."""
    journal: Journal
    root: str
    calls: Counter[str]


def undisturbed(name: str, scheme: str, start: Path, folder: Path) -> Whole:
    """Run a command without a fault, which also loads the modules that it needs before a process forks."""
    # The same folder as in the trials: an ingest records where its files are.
    place = folder / "trial"
    shutil.copytree(start, place)
    carry_out(name, scheme, place, lambda _: None)
    with opened(url_of(scheme, place)) as engine:
        root = engine.root().root
    journal = journal_of(url_of(scheme, place))
    shutil.rmtree(place)
    shutil.copytree(start, place)
    calls = calls_of(partial(carry_out, name, scheme, place), folder / "log")
    shutil.rmtree(place)
    return Whole(name, scheme, start, journal, root, calls)


def faults(whole: Whole, kind: str, seed: int, wanted: int) -> list[Fault]:
    """Return `wanted` faults of a kind (`SIGKILL`, `EIO`, `ENOSPC`), spread over the calls of the command."""
    chosen = Random(f"{kind} {whole.name} {whole.scheme} {seed}")
    possible = [(call, number) for call in CALLS for number in range(1, whole.calls[call] + 1)]
    picked = sorted(chosen.sample(possible, min(wanted, len(possible))))
    return [Fault(call, number, kind, kind != "SIGKILL" and chosen.random() < 0.5) for call, number in picked]


def attempt(whole: Whole, fault: Fault, folder: Path) -> tuple[Counter[str], str]:
    """Run the command with a fault, then check the store and repeat the command; return counts and a note."""
    options = ("-e", f"trace={fault.call}", "-e", fault.option)
    return judged(whole, lambda do: run(do, options), fault.option, folder)


def judged(
    whole: Whole, call: Callable[[Callable[[Acknowledge], None]], Ended], named: str, folder: Path
) -> tuple[Counter[str], str]:
    """Let `call` carry out the command with a fault, then check the store; return counts and a note."""
    place = folder / "trial"
    shutil.copytree(whole.start, place)
    try:
        ended = call(partial(carry_out, whole.name, whole.scheme, place))
        counts = _checked(whole, place, ended)
    finally:
        shutil.rmtree(place)
    failed = {name: number for name, number in counts.items() if number and name in COUNTED}
    return counts, f"{whole.scheme} {whole.name} {named}: {ended} {failed}"[:500] if failed else ""


COUNTED: Final = frozenset({LOST, NOT_OPENED, WRONG, FOREIGN, BROKEN, BESIDE, REPEATED, STUCK})
"""The counts that must be 0."""


def _checked(whole: Whole, place: Path, ended: Ended) -> Counter[str]:
    url = url_of(whole.scheme, place)
    # An ingest passes over a file that it cannot read, and says so. Then its events are others.
    passed_over = whole.name == "ingest" and ended.how == "finished"
    journal = journal_of(url) if passed_over else whole.journal
    found = examine(url, journal, ended.acknowledged, verify=True)
    counts = count(found, ended.acknowledged)
    if passed_over:
        counts[LOST] += max(0, ended.acknowledged - len(journal))
    counts[ended.how] += 1
    counts[FOREIGN] += ended.how not in EXPECTED
    if found.how == NOT_OPENED:
        return counts
    try:
        counts[BESIDE] += bool(side_effects(whole.name, whole.scheme, place))
    except (EngineError, BackendError):
        counts[BESIDE] += 1
    try:
        # A mirror or a new store from an import may exist; then repeating says so or changes nothing.
        if not (whole.name == "import" and (place / "imported").exists()):
            carry_out(whole.name, whole.scheme, place, lambda _: None)
        with opened(url) as engine:
            counts[REPEATED] += engine.root().root != whole.root and not passed_over
    except (EngineError, BackendError):
        counts[STUCK] += 1
    return counts


def torture(variant: str, kind: str, seed: int, wanted: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Try `wanted` faults of a kind in a command on a backend (`SCHEME COMMAND`); return counts and notes."""
    whole = prepared(variant, folder)
    return summed(attempt(whole, fault, folder) for fault in faults(whole, kind, seed, wanted))


def prepared(variant: str, folder: Path) -> Whole:
    """Return the undisturbed run of a command on a backend (`SCHEME COMMAND`), on one start in the folder."""
    scheme, name = variant.split()
    start = folder / "start"
    if not start.exists():
        prepare(scheme, start)
    return undisturbed(name, scheme, start, folder)


def summed(trials: Iterable[tuple[Counter[str], str]]) -> tuple[Counter[str], list[str]]:
    """Return the sum of the counts of trials, and their notes."""
    total: Counter[str] = Counter()
    told = []
    for counts, note in trials:
        total += counts
        if note:
            told.append(note)
    return total, told
