"""Dreaming in idle time: a cycle whenever the store was quiet for a while, and never longer than that.

The store is open for a look and for a cycle only; in between others can use it, also where one process
holds it at a time.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from engine.base.error_translation import translated
from engine.base.errors import BusyError, InvalidInputError
from engine.base.interrupts import at_end
from engine.knowledge.dreaming.config import DreamConfig
from engine.knowledge.dreaming.cycle import DreamReport, dream
from engine.ledger.journal import read_log
from engine.store.store import Store

QUIET_SECONDS: Final = 30.0
"""So long nothing must have been written."""
CYCLE_ATOMS: Final = 1000
"""The budget of a cycle: at some 300 atoms a second, others wait for it a few seconds at most."""


class End:
    """Something to wait for that a signal handler may set.

    A `threading.Event` may not: the handler runs in the thread that waits, which may hold the event's lock.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._reading, self._writing = socket.socketpair()
        self._writing.setblocking(False)

    def set(self) -> None:
        """Have it happened, and whoever waits wake up; again is harmless."""
        if not self._is_set:
            self._is_set = True
            self._writing.send(b"\x00")

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._is_set

    def wait(self, seconds: float) -> None:
        """Wait until it happens, or for so long."""
        select.select([self._reading], [], [], seconds)

    def close(self) -> None:
        """Give back what waiting takes."""
        self._reading.close()
        self._writing.close()


def watch(
    opened: Callable[[], AbstractContextManager[Store]],
    told: Callable[[DreamReport], None],
    *,
    ended: End,
    quiet: float = QUIET_SECONDS,
    budget: int | None = CYCLE_ATOMS,
    seconds: float | None = None,
    config: DreamConfig | None = None,
) -> None:
    """Dream cycles until `ended` is set.

    What `opened` yields is closed before the next wait; `told` hears of each cycle that looked at something.
    A cycle ends at its next step once `ended` is set. A store is quiet if for `quiet` seconds no event was
    added and nobody used it. The rest is as for `dream`, of each cycle.

    Raises:
        InvalidInputError: `quiet` or a bound is no number above 0.
    """
    if isinstance(quiet, bool) or not isinstance(quiet, int | float) or not quiet > 0:
        raise InvalidInputError(f"quiet must be a number of seconds above 0, not {quiet!r}")
    seen = -1
    while not ended.is_set():
        try:
            with opened() as store, translated():
                if read_log(store.backend).size == seen:
                    report = dream(store, budget=budget, seconds=seconds, config=config, stop=ended.is_set)
                    if report.read or report.looked_at:
                        told(report)
                seen = read_log(store.backend).size
        except BusyError:
            seen = -1
        ended.wait(quiet)


@contextmanager
def until_signalled() -> Iterator[End]:
    """An end that SIGINT and SIGTERM set, instead of ending the process."""
    ended = End()
    try:
        with at_end(ended.set):
            yield ended
    finally:
        ended.close()
