"""Commands that run out of memory: allocations by Python fail, or the process may not grow.

The failures of Python's allocations end after a while: with no memory at all, CPython 3.11 never leaves its
search for an exception handler. The limit on the process stays; SQLite, LevelDB and the kernels meet it, too.
"""

from __future__ import annotations

import faulthandler
import math
import resource
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.torture.injected import HANGS, Acknowledge, Ended, forked
from tests.torture.kills import WAITING, Whole, judged, prepared, summed

allocations: Any = None
"""The module of CPython's own tests that makes allocations fail; None where it is not installed."""
with suppress(ImportError):
    allocations = import_module("_testcapi")

FIRST_MAX: Final = 300_000
"""The largest number of the allocation that fails first. Most commands make fewer; then nothing fails."""

IN_A_ROW: Final = (1, 10, 1000)
"""The numbers of allocations that fail."""

ROOM_MIN: Final = 4 << 10
ROOM_MAX: Final = 256 << 20
"""The smallest and the largest number of bytes by which a process may grow. LevelDB maps its files."""


def why_not() -> str:
    """Return why these exercises cannot run here; empty if they can."""
    return "" if hasattr(allocations, "set_nomemory") else "this Python has no module _testcapi"


def attempt(whole: Whole, first: int, last: int, folder: Path) -> tuple[Counter[str], str]:
    """Let the allocations from `first` on fail, up to but not including `last`."""

    def call(do: Callable[[Acknowledge], None]) -> Ended:
        def without(acknowledge: Acknowledge) -> None:
            faulthandler.disable()  # a crash is counted and need not be shown
            allocations.set_nomemory(first, last)
            try:
                do(acknowledge)
            finally:
                allocations.remove_mem_hooks()

        return forked(without)

    return judged(whole, call, f"allocations from {first} to {last - 1}", folder)


def attempt_within(whole: Whole, room: int, folder: Path) -> tuple[Counter[str], str]:
    """Let the process grow by at most `room` bytes."""

    def call(do: Callable[[Acknowledge], None]) -> Ended:
        def within(acknowledge: Acknowledge) -> None:
            faulthandler.disable()  # as above
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            usual = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (size + room, usual[1]))
            try:
                do(acknowledge)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, usual)

        ended = forked(within)
        return ended._replace(how=WAITING) if ended.how == HANGS else ended

    return judged(whole, call, f"growth by {room} bytes", folder)


def torture(variant: str, seed: int, wanted: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Let a command on a backend (`SCHEME COMMAND`) run out of memory; return counts and failures."""
    whole = prepared(variant, folder)
    chosen = Random(f"memory {whole.name} {whole.scheme} {seed}")

    def trial(at: int) -> tuple[Counter[str], str]:
        if at % 2:
            room = int(math.exp(chosen.uniform(math.log(ROOM_MIN), math.log(ROOM_MAX))))
            return attempt_within(whole, room, folder)
        first = int(math.exp(chosen.uniform(0, math.log(FIRST_MAX))))
        return attempt(whole, first, first + chosen.choice(IN_A_ROW), folder)

    return summed(map(trial, range(wanted)))
