"""Keep something outside a memory up to date while the memory is written."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from engine.base.errors import EngineError, translated
from engine.ledger.journal import read_log
from engine.store.store import Store

PAUSE: Final = 4.0
"""The pause after a sync, as a multiple of the sync's duration: syncs take at most a fifth of the time."""


class Following(ABC):
    """What follows one open memory, brought up to date after each write. Several threads may use it.

    A sync of many changes reads the whole store, which takes seconds if the store is large. Between two
    syncs there is therefore a pause, which depends on the duration of the last sync. The next sync has all
    writes that were made during the pause. When the memory is closed, everything is up to date.
    """

    def __init__(self, store: Store) -> None:
        """Remember the store; nothing is done before the first write of the memory."""
        self.store = store
        self._lock = threading.Lock()
        self._size = read_log(store.backend).size
        self._resume = 0.0
        self._timer: threading.Timer | None = None
        self._closed = False
        self.problem: str | None = None
        """The reason why the last sync failed, or None."""

    @abstractmethod
    def update(self) -> int | None:
        """Bring everything up to date; return the number of events that it has, or None if unknown."""

    def after_write(self, *, now: bool) -> None:
        """Bring everything up to date: after the pause or, with `now`, at once. Raise no EngineError."""
        # If the lock is taken, the thread that has it looks for later writes after it has released the lock.
        while self._lock.acquire(blocking=now):
            try:
                if self._closed:
                    return
                if now or time.monotonic() >= self._resume:
                    self._sync()
                self._sync_later()
            finally:
                self._lock.release()
            if not self._is_waiting():
                return

    def close(self) -> None:
        """Bring everything up to date for the last time."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            self._sync()

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Wait for the end of a running sync, then prevent syncs until the block ends."""
        with self._lock:
            yield

    def _is_waiting(self) -> bool:
        """Return True if there are events after the last sync and no timer is set for the next one."""
        return self._timer is None and self.problem is None and not self._closed and self._is_behind()

    def _sync_later(self) -> None:
        """Begin a sync after the pause if there are events that the last sync did not show."""
        if self._is_waiting():
            self._timer = threading.Timer(max(self._resume - time.monotonic(), 0), self._after_pause)
            self._timer.daemon = True
            self._timer.start()

    def _after_pause(self) -> None:
        with self._lock:
            self._timer = None
            if not self._closed:
                self._sync()
                self._sync_later()
        if self._is_waiting():
            self.after_write(now=False)

    def _is_behind(self) -> bool:
        try:
            with translated():
                return read_log(self.store.backend).size != self._size
        except EngineError:
            return False  # the store is closed or damaged, which the next call on it reports

    def _sync(self) -> None:
        """Bring everything up to date if there are new events."""
        started = time.monotonic()
        try:
            with translated():
                if read_log(self.store.backend).size == self._size:
                    return
                size = self.update()
                if size is not None:
                    self._size = size
            self.problem = None
        except EngineError as error:
            if self.problem != str(error):
                self.problem = str(error)
                self.warn(f"{self.what} could not be brought up to date: {error}")
        self._resume = time.monotonic() + PAUSE * (time.monotonic() - started)

    @property
    @abstractmethod
    def what(self) -> str:
        """What is brought up to date, for messages."""

    def warn(self, message: str) -> None:
        """Log a warning."""
        import logging  # takes 3 ms to load

        logging.getLogger(__name__).warning("%s", message)
