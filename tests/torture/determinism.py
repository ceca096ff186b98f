"""Determinism cells: one history gives one root, whatever the process, the backend and the way to it."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from backends import open_backend
from tests.support.engines import engine_on
from tests.support.workloads import commands

ROOT: Final = Path(__file__).resolve().parents[2]
COMMANDS: Final = 120
DIFFERENT: Final = "other roots"
FAILED: Final = "processes that failed"
TIMEOUT_SECONDS: Final = 120


class Cell(NamedTuple):
    """The circumstances of one process."""

    python: str
    backend: str
    hash_seed: str
    locale: str
    zone: str
    batch: int
    way: str
    kernels: str


BACKENDS: Final = ("memory", "sqlite", "leveldb")
HASH_SEEDS: Final = ("0", "1", "random")
LOCALES: Final = ("C", "tr_TR.UTF-8", "de_DE.ISO-8859-1")
ZONES: Final = ("UTC+14", "Pacific/Kiritimati", "UTC-12")
BATCHES: Final = (1, 7, 1000)
WAYS: Final = ("followed", "rebuilt", "opened anew")


def pythons() -> list[str]:
    """Return this interpreter and those in MEMROOT_PYTHONS, which need the dependencies."""
    others = os.environ.get("MEMROOT_PYTHONS", "").split(os.pathsep)
    return [sys.executable, *filter(None, others)]


def cells(kernels: str) -> Iterator[Cell]:
    """Return all cells, so mixed that any run of them has each circumstance."""
    lists = (pythons(), BACKENDS, HASH_SEEDS, LOCALES, ZONES, BATCHES, WAYS)
    every = [Cell(*one, kernels) for one in itertools.product(*lists)]
    step = next(step for step in range(len(every) * 5 // 8, len(every)) if _coprime(step, len(every)))
    return (every[number * step % len(every)] for number in range(len(every)))


def _coprime(first: int, second: int) -> bool:
    while second:
        first, second = second, first % second
    return first == 1


def root_of(url: str, batch: int, way: str) -> str:
    """Return the root of the history, written to a new store."""
    history = commands(COMMANDS, seed=2026)
    with open_backend(url) as backend:
        engine = engine_on(backend)
        for at in range(0, COMMANDS, batch):
            engine.apply(history[at : at + batch])
            if way == "followed":
                engine.catch_up()
        if way == "rebuilt":
            engine.rebuild()
        if way == "opened anew":
            engine = engine_on(backend)
        return engine.root().root


def torture(kernels: str, first: int, wanted: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Compute the root in `wanted` cells from the `first` on; return counts, and a line for each failure."""
    expected = root_of("memory:", 50, "followed")
    counts: Counter[str] = Counter()
    told = []
    for cell in itertools.islice(cells(kernels), first, first + wanted):
        counts["trials"] += 1
        code, found = _in_process(cell, folder)
        counts[FAILED] += code != 0
        counts[DIFFERENT] += code == 0 and found != expected
        if code or found != expected:
            told.append(f"{cell}: {found}"[-400:])
        shutil.rmtree(folder / "cell", ignore_errors=True)
    return counts, told


def _in_process(cell: Cell, folder: Path) -> tuple[int, str]:
    (folder / "cell").mkdir(parents=True)
    url = "memory:" if cell.backend == "memory" else f"{cell.backend}:{folder / 'cell' / 'store'}"
    settings = {"PYTHONHASHSEED": cell.hash_seed, "LC_ALL": cell.locale, "TZ": cell.zone}
    made = subprocess.run(
        [cell.python, "-m", "tests.torture.determinism", url, str(cell.batch), cell.way],
        cwd=ROOT, env=os.environ | settings | {"MEMROOT_KERNELS": cell.kernels}, capture_output=True,
        text=True, check=False, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    return made.returncode, made.stdout.strip() or made.stderr


if __name__ == "__main__":
    print(root_of(sys.argv[1], int(sys.argv[2]), sys.argv[3]))  # noqa: T201  what the parent reads
