"""Settings of the whole process that are changed for the duration of some work."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T")


class ProcessSetting(Generic[T]):
    """A setting that has a different value while at least one block needs it.

    Blocks may overlap in any order, in one thread or in several. When the last block ends, the setting is
    restored to the value that it had before the first block.
    """

    def __init__(self, read: Callable[[], T], write: Callable[[T], object], during: Callable[[T], T]) -> None:
        """Create the object without changing the setting.

        Args:
            read: Returns the present value.
            write: Sets the value.
            during: Takes the value before the blocks and returns the value during the blocks.
        """
        self._read, self._write, self._during = read, write, during
        self._lock = threading.Lock()
        self._blocks = 0
        self._before: T

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Change the setting during a block."""
        with self._lock:
            if not self._blocks:
                self._before = self._read()
                self._write(self._during(self._before))
            self._blocks += 1
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                if not self._blocks:
                    self._write(self._before)


def _enable(on: bool) -> None:
    (gc.enable if on else gc.disable)()


_enabled = ProcessSetting(gc.isenabled, _enable, lambda _: False)


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable Python's search for garbage cycles during the block.

    Afterwards, the search is enabled again if it was enabled before. Bulk work makes many small objects.
    These objects are not part of any cycle, but Python starts a search after every 700 new objects. Measured:
    the searches take 4 % of the time of a bulk add of 20,000 atoms, and more in larger processes. Keep the
    block short, and do not yield to a caller from inside it: the setting applies to the whole process.
    """
    with _enabled.changed():
        yield


_RARE = 50_000
"""The number of new objects between two searches in a block with `rare_collection`."""


def _rarer(threshold: tuple[int, int, int]) -> tuple[int, int, int]:
    return (_RARE, *threshold[1:]) if 0 < threshold[0] < _RARE else threshold


_threshold = ProcessSetting(gc.get_threshold, lambda threshold: gc.set_threshold(*threshold), _rarer)


@contextmanager
def rare_collection() -> Iterator[None]:
    """Search for garbage cycles less often in the block: once for every 50,000 new objects that remain.

    Use this for long work that keeps many objects until its end. During such work, `without_collection` would
    let the garbage cycles of other threads accumulate. Measured: 7 % of the CPU time of the process that
    writes the atoms of an ingest.
    """
    with _threshold.changed():
        yield


@contextmanager
def at_end(handler: Callable[[], object]) -> Iterator[None]:
    """Call `handler` on SIGINT and SIGTERM, instead of ending the process, until the `with` block ends.

    This works in the main thread only. The previous handlers are restored at the end of the block.
    """

    def on_signal(number: int, frame: FrameType | None) -> None:
        del number, frame
        handler()

    previous_handlers = {
        number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, previous in previous_handlers.items():
            signal.signal(number, previous)
