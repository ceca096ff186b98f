"""A lease: an open memory that threads share, and that is closed when another process wants it.

Only one process at a time can open a LevelDB store. A server that kept the store open would lock out all
other clients and the command line. Opening a large store and reading its index again take longer than most
calls, so a `Lease` keeps a store open for a while, unless another process asks for it. A store always stays
open if several processes can open it at the same time, or if it is in memory.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.base.errors import BusyError, ClosedError, CorruptionError, EngineError, InDoubtError
from engine.memory.open_memory import retry_while_busy

if TYPE_CHECKING:
    from engine.engine import Engine

DEFAULT_WAIT = 10.0
"""The seconds that a call waits for a store that another process has open."""

LINGER_SECONDS = 0.05
"""The seconds that an unused store stays open even if another process wants it, so that a series of calls
need not reopen it."""

HOLD_SECONDS = 0.5
"""The seconds that a store may stay open while calls follow each other and another process wants it.

After this time, the store is closed as soon as no call uses it, even if further calls wait.
"""

PAUSE_SECONDS = 0.05
"""The time, in seconds, for which the store stays closed when another process wants it.

Other processes retry every `POLL_SECONDS`.
"""


log = logging.getLogger(__name__)


class Lease:
    """One store shared by all threads of a process. Use `memory()`, and call `close()` at the end."""

    def __init__(
        self, open_store: Callable[[], Engine], wait: float = DEFAULT_WAIT, keep: float = LINGER_SECONDS
    ) -> None:
        """Create the lease without opening the store.

        Args:
            open_store: A function that opens the store, or raises BusyError without waiting.
            wait: The seconds for which opening is retried after a BusyError.
            keep: The seconds that an unused store stays open if no other process asks for it.
        """
        self._open_store = open_store
        self._wait = wait
        self._keep = keep
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
        """Yield the store, which stays open until the block ends.

        Raises:
            BusyError: another process had the store open for the whole waiting time.
            EngineError: the store cannot be opened.
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
        """Refuse new calls, wait for running calls, and close the store. Closing twice is allowed.

        Returns:
            True if all calls ended within `timeout` seconds. Otherwise the last call closes the store.
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
                    raise ClosedError("the server is shutting down")
                if self._engine is not None and not self._overdue():
                    self._users += 1
                    return self._engine
                if self._engine is None and not self._moving:
                    break
                if not self._changed.wait(max(deadline - time.monotonic(), 0)):
                    raise BusyError(
                        "another call is still running; when it ends, other processes get the store first",
                        hint="try again",
                    )
            self._moving = True
        try:
            engine = self._open_with_retry(deadline)
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

    def _open_with_retry(self, deadline: float) -> Engine:
        # Processes that wait for the store need a moment in which it is closed.
        time.sleep(max(self._resume - time.monotonic(), 0))
        return retry_while_busy(self._open_store, max(deadline - time.monotonic(), 0))

    def _give(self) -> None:
        with self._changed:
            self._users -= 1
            if self._users:
                return
            if self._closed or self._overdue():
                self._release()
            elif self._leased():
                self._idle_since = time.monotonic()
                self._look_later(self._idle_since)
            self._changed.notify_all()

    def _leased(self) -> bool:
        """Return True if no other process can open the store while it is open here."""
        if self._engine is None:
            return False
        can = self._engine.store.backend.capabilities
        return can.persistent and not can.multi_process

    def _overdue(self) -> bool:
        held = time.monotonic() - self._opened
        return self._spoilt or (held > HOLD_SECONDS and self._wanted())

    def _wanted(self) -> bool:
        """Return True if another process waits for the store that is open here."""
        return self._engine is not None and self._leased() and self._engine.store.backend.is_wanted()

    def _release(self) -> None:
        """Close the store. The caller holds the lock, and no call uses the store."""
        if not self._spoilt and self._wanted():
            self._resume = time.monotonic() + PAUSE_SECONDS
        engine, self._engine = self._engine, None
        if engine is not None:
            try:
                engine.close()
            except (
                EngineError
            ):  # The last call has succeeded; an error while closing must not change its answer.
                log.exception("the store could not be closed")
        self._changed.notify_all()

    def _look_later(self, since: float) -> None:
        """Close the store when it was unused for long enough, unless a call uses it by then."""

        def look() -> None:
            with self._changed:
                if self._users or self._engine is None or self._idle_since != since:
                    return
                if self._wanted() or time.monotonic() - since >= self._keep:
                    self._release()
                else:
                    self._look_later(since)

        timer = threading.Timer(LINGER_SECONDS, look)
        timer.daemon = True
        timer.start()
