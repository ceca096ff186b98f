"""Bulk commits: many commands in several batches, while a second core brings the projections up to date."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Self

from engine.base import limits
from engine.base.errors import BatchLimitError
from engine.base.process import ProcessSetting, rare_collection, without_collection
from engine.followers.requests import Once, OtherParts

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from engine.base.model import Receipt
    from engine.commands.transaction import Command
    from engine.store.commit import Commits
    from engine.store.views import Views


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


COMMIT_CHUNK = 1000
"""The maximum number of commands in one batch of `commit_many`. Measured: larger batches are not faster."""


def commit_many(
    commits: Commits,
    commands: Iterable[Command],
    actor: str,
    request: str | Once | None = None,
    pipeline: str | None = None,
) -> Iterator[Receipt]:
    """Commit any number of commands, up to `COMMIT_CHUNK` in a batch; yield receipts of durable batches.

    Each batch is committed completely or not at all. A batch with too many bytes is split in half. The
    followers are updated every few batches and at the end. `request` and `pipeline` are as for `commit`. If
    `request` is a `Once`, each batch records which part of the commands it has. So a call that was broken
    off can be repeated, and continues where it ended.
    """
    store = commits.store
    remaining = iter(commands)
    behind = at = 0
    with Alongside(partial(_follow_more, store)) as followers:
        while chunk := list(islice(remaining, COMMIT_CHUNK)):
            for receipt in commit_parts(commits, chunk, actor, request, pipeline, at):
                behind += len(receipt.events)
                yield receipt
            at += len(chunk)
            if behind < limits.FOLLOW_EVENTS_MAX // 2:
                continue
            behind = 0
            if store.backend.capabilities.multi_process:
                # The lock that keeps other processes from writing would be waited for in both orders.
                with without_collection():
                    _follow_more(store)
            else:
                followers.begin()
        followers.wait()
    with without_collection(), store.unless_unwritable():
        store.follow()


def _follow_more(store: Views) -> None:
    """Update the followers. More events will follow shortly."""
    with store.unless_unwritable(), rare_collection():
        store.follow(more=True)


def commit_parts(
    commits: Commits,
    commands: Sequence[Command],
    actor: str,
    request: str | Once | None,
    pipeline: str | None,
    first: int,
) -> Iterator[Receipt]:
    """Commit the commands in one batch, or in several if one would be too large; yield the receipts.

    The receipts of the first half are yielded before the second half is committed, because that
    commit may fail. `first` is the number of the first command in the whole call.
    """
    if isinstance(request, Once):
        request = request.of_part(first, len(commands))
    try:
        with without_collection():
            receipts = commits.all(commands, actor, request=request, pipeline=pipeline)
    except (BatchLimitError, OtherParts) as error:
        if len(commands) == 1:
            raise
        cut = error.count if isinstance(error, OtherParts) else len(commands) // 2
        yield from commit_parts(commits, commands[:cut], actor, request, pipeline, first)
        yield from commit_parts(commits, commands[cut:], actor, request, pipeline, first + cut)
    else:
        yield from receipts
