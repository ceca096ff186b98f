"""The store, opened when a call needs it and closed a short while after, so that others get it, too.

A LevelDB store belongs to one process at a time. A server that kept it open would shut out every other
client and the command line for as long as it runs; so it takes it on lease. What several processes may
have open at once, and what is only in memory, stays open.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.base.errors import BusyError, ClosedError, CorruptionError, EngineError, InDoubtError
from engine.front.opening import patiently

if TYPE_CHECKING:
    from engine.engine import Engine

DEFAULT_WAIT = 10.0
"""Seconds that a call waits for a store that another process holds."""

LINGER_SECONDS = 0.05
"""How long a store that nobody uses stays open: calls that follow one another find it warm."""

HOLD_SECONDS = 0.5
"""After so long the store is given up once nobody uses it, however many calls wait: others wait longer."""

PAUSE_SECONDS = 0.05
"""How long it then stays closed: those who wait for it look every 20 ms (`engine.front.opening`)."""


log = logging.getLogger(__name__)


class Lease:
    """One store for all threads of a process. Use `memory()`; close it at the end."""

    def __init__(self, open_store: Callable[[], Engine], wait: float = DEFAULT_WAIT) -> None:
        """Nothing is opened yet.

        Args:
            open_store: Opens the store, at once or not at all.
            wait: Seconds to try for, where it raises BusyError.
        """
        self._open_store = open_store
        self._wait = wait
        self._changed = threading.Condition()
        self._engine: Engine | None = None
        self._users = 0
        self._opened = 0.0
        self._idle_since = 0.0
        self._resume = 0.0
        self._spoilt = False
        self._moving = False
        self._closed = False

    @contextmanager
    def memory(self) -> Iterator[Engine]:
        """The open store, for the length of the block.

        Raises:
            BusyError: another process held it for as long as this one waits.
            EngineError: it cannot be opened.
            ClosedError: the lease is closed.
        """
        engine = self._take()
        try:
            yield engine
        except (ClosedError, CorruptionError, InDoubtError):
            self._spoilt = True
            raise
        finally:
            self._give()

    def close(self, timeout: float | None = None) -> bool:
        """Take no more calls, wait for those in flight, release the store. Closing twice is allowed.

        Returns:
            Whether all were done within `timeout` seconds; if not, the store is left to the last of them.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            done = self._changed.wait_for(lambda: not self._users and not self._moving, timeout)
            if done:
                self._release()
            return done

    def _take(self) -> Engine:
        deadline = time.monotonic() + self._wait
        with self._changed:
            while True:
                if self._closed:
                    raise ClosedError("the server is ending")
                if self._engine is not None and not self._overdue():
                    self._users += 1
                    return self._engine
                if self._engine is None and not self._moving:
                    break
                if not self._changed.wait(max(deadline - time.monotonic(), 0)):
                    raise BusyError(
                        "another call takes long, and after it the store is given up to others first",
                        hint="try again",
                    )
            self._moving = True
        try:
            engine = self._opened_patiently(deadline)
        except BaseException:
            with self._changed:
                self._moving = False
                self._changed.notify_all()
            raise
        with self._changed:
            self._engine, self._opened, self._spoilt, self._moving = engine, time.monotonic(), False, False
            self._users += 1
            self._changed.notify_all()
            return engine

    def _opened_patiently(self, deadline: float) -> Engine:
        # Whoever waits for the store in another process must have a moment in which it is free.
        time.sleep(max(self._resume - time.monotonic(), 0))
        return patiently(self._open_store, max(deadline - time.monotonic(), 0))

    def _give(self) -> None:
        with self._changed:
            self._users -= 1
            if self._users:
                return
            if self._closed or self._overdue():
                self._release()
            elif self._leased():
                self._close_later()
            self._changed.notify_all()

    def _leased(self) -> bool:
        """Whether holding the store keeps others from it."""
        if self._engine is None:
            return False
        can = self._engine.store.backend.capabilities
        return can.persistent and not can.multi_process

    def _overdue(self) -> bool:
        held = time.monotonic() - self._opened
        return self._spoilt or (self._leased() and held > HOLD_SECONDS)

    def _release(self) -> None:
        """Close the store; the lock is held, and nobody uses it."""
        engine, self._engine = self._engine, None
        if engine is not None:
            if not self._spoilt and time.monotonic() - self._opened > HOLD_SECONDS:
                self._resume = time.monotonic() + PAUSE_SECONDS
            try:
                engine.close()
            except EngineError:  # what the last call did is done, and its answer must say so
                log.exception("the store could not be closed")
        self._changed.notify_all()

    def _close_later(self) -> None:
        """Close the store after a while, unless it is used by then, or was used since."""
        self._idle_since = since = time.monotonic()

        def close() -> None:
            with self._changed:
                if not self._users and self._idle_since == since:
                    self._release()

        timer = threading.Timer(LINGER_SECONDS, close)
        timer.daemon = True
        timer.start()
