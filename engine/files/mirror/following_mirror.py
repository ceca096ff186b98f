"""Keep the mirror of a memory up to date while the memory is written."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engine.base.errors import EngineError, translated
from engine.files.mirror.changed_pages import sync_changes
from engine.files.mirror.mirror_place import place_at
from engine.files.mirror.mirror_report import PullReport, RefusedEdit
from engine.ledger.journal import read_log
from engine.store.replay import Progress, no_progress
from engine.store.store import Store

PERSON: Final = "user"
"""The actor of edits from the pages, because a person made them, whichever actor wrote to the memory last."""

PAUSE: Final = 4.0
"""The pause after a sync, as a multiple of the sync's duration: syncs take at most a fifth of the time."""

BUSY_SECONDS: Final = 10.0
"""The seconds for which a sync waits until another process has written a mirror in the same folder."""


def update(
    store: Store,
    folder: str | os.PathLike[str],
    *,
    actor: str,
    everything: bool = False,
    wait: float = 0.0,
    progress: Progress = no_progress,
) -> PullReport:
    """Bring the mirror in `folder` up to date, or write it if it is missing.

    The edits in the pages that this replaces are applied first; the whole mirror is compared only then.

    Args:
        store: The store.
        folder: The mirror.
        actor: The author of the events of edits.
        everything: Apply the edits in all pages.
        wait: The seconds for which to wait while another run writes in the same parent folder.
        progress: Called with (atoms written, all atoms) while the whole mirror is written.

    Raises:
        BusyError: Another run was still writing in the parent folder.
        RefusedError: See `place_at` and `existing`.
    """
    with place_at(folder, lock=True, wait=wait) as place:
        report = None if everything else sync_changes(store, place)
        if report is not None:
            return PullReport(place.path, (), (), report)
        # Imported here because it takes 15 ms, as long as an update of a few pages.
        from engine.files.mirror.mirror_pull import pull_at

        return pull_at(store, place, actor, progress, dry_run=False, create=True)


class FollowingMirror:
    """The mirror of one open memory, brought up to date after each write. Several threads may use it.

    A sync of many changes reads the whole store, which takes seconds if the store is large. Between two
    syncs there is therefore a pause, which depends on the duration of the last sync. The next sync shows all
    writes that were made during the pause. When the memory is closed, the mirror is up to date.
    """

    def __init__(self, store: Store, folder: str | os.PathLike[str]) -> None:
        """Remember the store and the folder; nothing is written before the first write of the memory."""
        self._store = store
        self._folder = Path(os.path.abspath(folder))  # noqa: PTH100  a link must be refused, not followed
        self._lock = threading.Lock()
        self._size = read_log(store.backend).size
        self._resume = 0.0
        self._timer: threading.Timer | None = None
        self._closed = False
        self._told: frozenset[RefusedEdit] = frozenset()
        self.problem: str | None = None
        """The reason why the mirror could not be brought up to date, or None."""
        self.report: PullReport | None = None
        """What the last sync did, or None."""

    def after_write(self, *, now: bool) -> None:
        """Bring the mirror up to date: after the pause or, with `now`, at once. Raise no EngineError."""
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
        """Bring the mirror up to date for the last time."""
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
        """Return True if the mirror does not show the latest events and no timer is set for the next sync."""
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
                return read_log(self._store.backend).size != self._size
        except EngineError:
            return False  # the store is closed or damaged, which the next call on it reports

    def _sync(self) -> None:
        """Bring the mirror up to date if there are new events."""
        started = time.monotonic()
        try:
            with translated():
                if read_log(self._store.backend).size == self._size:
                    return
                self.report = update(self._store, self._folder, actor=PERSON, wait=BUSY_SECONDS)
                if self.report.mirror is not None:
                    self._size = self.report.mirror.size
            self.problem = None
        except EngineError as error:
            self.problem = str(error)
            self._warn(f"the mirror {self._folder} could not be brought up to date: {error}")
        else:
            for change in self.report.refused:
                if change not in self._told:
                    self._warn(f"an edit in {change.page} cannot be applied: {change.reason} {change.kept}")
            self._told |= frozenset(self.report.refused)
        self._resume = time.monotonic() + PAUSE * (time.monotonic() - started)

    def _warn(self, message: str) -> None:
        import logging  # takes 3 ms to load

        logging.getLogger(__name__).warning("%s", message)
