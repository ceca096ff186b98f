"""Stores that are opened and closed again and again: descriptors, threads and memory stay as they are."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Final

from engine.engine import Engine

WARM_UP: Final = 30
"""Openings before the first look."""
MEMORY_SHARE: Final = 0.05
LEFT_OPEN, GREW, THREADS = "descriptors left open", "memory grew by over 5 %", "threads left"


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _memory() -> int:
    """Return the resident memory in pages."""
    return int(Path("/proc/self/statm").read_text().split()[1])


def torture(scheme: str, _seed: int, wanted: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Open, write, ask and close `wanted` times; return the counts."""
    url = f"{scheme}:{folder / 'store'}"

    def once(number: int) -> None:
        with Engine.open(url) as engine:
            if number < WARM_UP:
                engine.add(f"text {number}", tags=["red"])
            engine.recall("text")
            engine.tags()

    for number in range(WARM_UP):
        once(number)
    before = _descriptors(), _memory(), threading.active_count()
    for _ in range(wanted):
        once(WARM_UP)
    counts = Counter({"trials": wanted})
    counts[LEFT_OPEN] += max(0, _descriptors() - before[0])
    counts[THREADS] += max(0, threading.active_count() - before[2])
    grown = _memory() - before[1]
    counts[GREW] += grown > MEMORY_SHARE * before[1]
    return counts, [f"{scheme}: {grown} pages more"] if counts[GREW] else []
