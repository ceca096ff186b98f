"""The reliability programme in one command: `python -m tests.torture`, or `make torture`.

Every slice that has finished is noted in `build/torture`, so that a run that was stopped goes on where it
stopped if it is started with the same seed and share. The report is written at the end, and whenever the run
is interrupted.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final, NamedTuple

from tests.support.long_runs import say
from tests.torture.exercises import EXERCISES, SLICES_MAX
from tests.torture.report import summarised, write

ROOT: Final = Path(__file__).resolve().parents[2]
NOTES: Final = ROOT / "build" / "torture"
TIMEOUT_SECONDS: Final = 1800
"""The time after which a slice counts as one that hangs; slices take up to a few minutes."""


class Cell(NamedTuple):
    """A slice of an exercise."""

    exercise: str
    variant: str
    number: int
    trials: int

    @property
    def key(self) -> str:
        """The name of the slice in the notes of a run."""
        return f"{self.exercise}/{self.variant}/{self.number}/{self.trials}"


def cells(names: list[str], share: float) -> list[Cell]:
    """Return the slices of a run: all exercises in turn, so that a run that is stopped has tried each."""
    queues = [list(_slices(name, variant, share)) for name in names for variant in EXERCISES[name].variants]
    made = []
    for at in range(max(map(len, queues))):
        made += [queue[at] for queue in queues if at < len(queue)]
    return made


def _slices(name: str, variant: str, share: float) -> Iterator[Cell]:
    exercise = EXERCISES[name]
    left, number = max(1, round(exercise.release * share)), 0
    while left > 0:
        yield Cell(name, variant, number, min(left, exercise.slice))
        left, number = left - exercise.slice, number + 1


def carried_out(cell: Cell, seed: int) -> dict[str, Any]:
    """Carry out a slice in a process of its own, and return what it printed."""
    begin = time.monotonic()
    given = [cell.exercise, cell.variant, str(seed * SLICES_MAX + cell.number), str(cell.trials)]
    command = [sys.executable, "-m", "tests.torture.cell", *given]
    try:
        made = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
        )
        found: dict[str, Any] = (
            json.loads(made.stdout.splitlines()[-1])
            if made.returncode == 0
            else {"failed": f"exit code {made.returncode}: {made.stderr[-600:]}"}
        )
    except subprocess.TimeoutExpired:
        found = {"failed": f"hangs for more than {TIMEOUT_SECONDS} s"}
    return cell._asdict() | found | {"seconds": round(time.monotonic() - begin, 1)}


def go(seed: int, share: float, names: list[str], jobs: int, minutes: float | None) -> list[dict[str, Any]]:
    """Carry out all slices that are not noted yet, and return the results of all."""
    NOTES.mkdir(parents=True, exist_ok=True)
    notes = NOTES / f"{seed}-{share:g}.jsonl"
    lines = notes.read_text().splitlines() if notes.exists() else []
    done = {Cell(*(one[name] for name in Cell._fields)).key: one for one in map(json.loads, lines)}
    wanted = cells(names, share)
    waiting = [cell for cell in wanted if cell.key not in done]
    stop, lock = Event(), Lock()
    until = None if minutes is None else time.monotonic() + minutes * 60

    def work(cell: Cell) -> None:
        if stop.is_set() or (until is not None and time.monotonic() > until):
            return
        found = carried_out(cell, seed)
        with lock:
            done[cell.key] = found
            with notes.open("a") as out:
                out.write(json.dumps(found) + "\n")
            say(f"{len(done)}/{len(wanted)} {cell.key} {found.get('counts', found)} {found['seconds']} s")

    with ThreadPoolExecutor(jobs) as pool:
        try:
            list(pool.map(work, waiting))
        except KeyboardInterrupt:
            stop.set()
    return [done[cell.key] for cell in wanted if cell.key in done]


def main() -> int:
    """Run the programme, write the report, and return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seed", type=int, help="the seed of a run to repeat or to continue")
    parser.add_argument("--share", type=float, default=1.0, help="the share of the release counts; default 1")
    parser.add_argument("--only", nargs="*", choices=list(EXERCISES), help="some of the exercises")
    parser.add_argument("--jobs", type=int, default=2, help="slices at the same time; default 2")
    parser.add_argument("--minutes", type=float, help="begin no slice after this time")
    parser.add_argument("--page", action="store_true", help="also write docs/reliability.md")
    given = parser.parse_args()
    seed = secrets.randbelow(1 << 20) if given.seed is None else given.seed
    say(f"seed {seed}; `python -m tests.torture --seed {seed} --share {given.share:g}` continues this run")
    begin = datetime.now(UTC)
    results = go(seed, given.share, given.only or list(EXERCISES), given.jobs, given.minutes)
    report = summarised(results, seed, given.share, begin)
    write(report, NOTES, page=given.page)
    for line in report["failures"]:
        say(line)
    say(f"written: {NOTES / 'report.json'}, {NOTES / 'report.md'}")
    return int(any(one["failed"] for one in report["exercises"]))


if __name__ == "__main__":
    sys.exit(main())
