"""Dreaming in idle time: run a cycle whenever the store has been idle for some time.

The store is open only during a check and a cycle. At all other times, other processes can use the store, even
if the backend allows only one process at a time.
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
"""The time in seconds without new events after which a store is idle."""
CYCLE_ATOMS: Final = 1000
"""The largest number of atoms in a cycle. A cycle reads about 1,500 atoms per second, so another process
waits less than a second for the cycle to end."""


class StopSignal:
    """An event that a signal handler may set.

    A handler must not set a `threading.Event`, because the handler runs in the waiting thread, and this
    thread may hold the event's lock.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._reading, self._writing = socket.socketpair()
        self._writing.setblocking(False)

    def set(self) -> None:
        """Set the signal and wake up the waiting thread. Setting the signal again has no effect."""
        if not self._is_set:
            self._is_set = True
            self._writing.send(b"\x00")

    def is_set(self) -> bool:
        """Return True if the signal has been set."""
        return self._is_set

    def wait(self, seconds: float) -> None:
        """Wait until the signal is set, but at most `seconds` seconds."""
        select.select([self._reading], [], [], seconds)

    def close(self) -> None:
        """Close the sockets."""
        self._reading.close()
        self._writing.close()


def watch(
    opened: Callable[[], AbstractContextManager[Store]],
    on_report: Callable[[DreamReport], None],
    *,
    stop: StopSignal,
    quiet: float = QUIET_SECONDS,
    budget: int | None = CYCLE_ATOMS,
    seconds: float | None = None,
    config: DreamConfig | None = None,
) -> None:
    """Run cycles while the store is idle, until `stop` is set.

    The store that `opened` returns is closed before each wait. `on_report` is called after each cycle that
    read at least one atom. When `stop` is set, the current cycle ends before its next step. A store is idle
    if, for `quiet` seconds, no event was added and no other process used the store. The other arguments are
    passed to `dream` for each cycle.

    Raises:
        InvalidInputError: `quiet`, `budget` or `seconds` is not a number above 0.
    """
    if isinstance(quiet, bool) or not isinstance(quiet, int | float) or not quiet > 0:
        raise InvalidInputError(f"quiet must be a number of seconds above 0, not {quiet!r}")
    seen = -1
    while not stop.is_set():
        try:
            with opened() as store, translated():
                if read_log(store.backend).size == seen:
                    report = dream(store, budget=budget, seconds=seconds, config=config, stop=stop.is_set)
                    if report.read or report.looked_at:
                        on_report(report)
                seen = read_log(store.backend).size
        except BusyError:
            seen = -1
        stop.wait(quiet)


@contextmanager
def until_signalled() -> Iterator[StopSignal]:
    """Yield a flag that is set by SIGINT and SIGTERM.

    Within the context, these signals do not end the process.
    """
    stop = StopSignal()
    try:
        with at_end(stop.set):
            yield stop
    finally:
        stop.close()
