"""Bringing projections up to date on two cores, for bulk work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from backends.base import Backend
from backends.errors import BackendClosed
from engine.base.process import ProcessSetting
from engine.followers.base import EntrySource, Follower, catch_up
from engine.index.index_follower import IndexFollower

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


def catch_up_together(
    backend: Backend,
    read: EntrySource,
    followers: Iterable[Follower],
    *,
    stop: int | None = None,
    to_the_end: Follower | None = None,
) -> None:
    """Update `followers` up to event `stop` or the end. More events will follow shortly.

    The index is updated in a separate thread, because its kernels release the interpreter's lock most of the
    time. The thread does not affect the resulting rows, because each follower reads only the journal and rows
    that this follower wrote. The follower `to_the_end` is updated completely, even if it could wait for
    further events.

    Raises:
        CorruptionError: the journal or a cursor does not have the bytes that were written.
    """
    # Imported here because it loads `logging`, which takes 3 ms.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "memroot-index") as thread:
        own_thread: list[Follower] = []
        others: list[Follower] = []
        for follower in followers:
            (own_thread if isinstance(follower, IndexFollower) else others).append(follower)
        running = [thread.submit(catch_up, backend, one, read, stop=stop, more=True) for one in own_thread]
        try:
            for follower in others:
                catch_up(backend, follower, read, stop=stop, more=follower is not to_the_end)
        except BackendClosed as closed:
            # If a write of the index failed, the backend refuses all further calls. That write is the cause.
            causes = [cause for cause in (one.exception() for one in running) if cause is not None]
            raise (causes or [closed])[0] from None
        for one in running:
            one.result()


_SWITCH_SECONDS = 0.001

_switching = ProcessSetting(
    sys.getswitchinterval, sys.setswitchinterval, lambda seconds: min(seconds, _SWITCH_SECONDS)
)
"""The time for which a thread keeps the interpreter's lock while another thread waits for the lock.

A thread releases the lock in each call of LevelDB. After the call, it must wait for the lock if another
thread is running. Measured: with 1 ms instead of Python's 5 ms, a bulk add that updates the followers at the
same time took 0.88 of the time.
"""


class Alongside:
    """A task that is run repeatedly, in a separate thread. Use it as a context manager.

    The block ends only when the task has ended. If the task then has an error that was not reported yet, the
    error is dropped.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._open = ExitStack()
        self._threads: ThreadPoolExecutor | None = None
        self._running: Future[None] | None = None

    def begin(self) -> None:
        """Wait until the previous run of the task has ended, then begin a new run.

        Raises:
            Exception: the error that ended the previous run.
        """
        self.wait()
        if self._threads is None:
            # Imported here because it loads `logging`, which takes 3 ms.
            from concurrent.futures import ThreadPoolExecutor

            self._threads = self._open.enter_context(ThreadPoolExecutor(1, "memroot-follow"))
            self._open.enter_context(_switching.changed())
        self._running = self._threads.submit(self._work)

    def wait(self) -> None:
        """Wait until the current run has ended.

        Raises:
            Exception: the error that ended the run.
        """
        running, self._running = self._running, None
        if running is not None:
            running.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
