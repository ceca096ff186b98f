"""Calls of a synchronous memory in worker threads, awaited under asyncio or trio.

The threads belong to the memory. The threads that `asyncio.to_thread` and anyio share among all callers do
not fit, for three reasons. A call that was cancelled while it runs must still count, so that a client that
gives up again and again cannot start any number of threads. Commands must be carried out in the order in
which they were called. And a program that ends must wait for a running command; the threads of anyio are cut
off.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from itertools import islice
from threading import Lock, Thread
from typing import Any, Final, Protocol, Self, TypeVar
from weakref import WeakSet

from engine.base.errors import ClosedError, SystemFailureError
from engine.base.validation import positive

T = TypeVar("T")

THREADS: Final = 8
"""The number of threads for everything but commands, by default."""

THREADS_MAX: Final = 1000


class _Closable(Protocol):
    def close(self) -> None:
        """Close the object."""


class Calls:
    """The threads in which the calls of one memory run: one thread for commands, several for other calls.

    Commands wait for each other in any case, because a memory has one writer. In a thread of their own they
    keep their order, and no other call waits behind them.
    """

    def __init__(self, threads: int = THREADS) -> None:
        self.threads = positive(threads, "threads", THREADS_MAX)
        self._commands = ThreadPoolExecutor(1, "memroot-commands")
        self._others = ThreadPoolExecutor(threads, "memroot")
        self._lock = Lock()
        self._ended: Future[None] | None = None
        self.open: WeakSet[_Closable] = WeakSet()
        """What is closed before the memory is."""

    def begin(self, call: Callable[[], T], *, command: bool = False) -> Future[T]:
        """Hand a call to the threads. A call whose future is cancelled before it runs is never run.

        Raises:
            ClosedError: The memory is closed, or is being closed.
            SystemFailureError: The system refused to start a thread. The call is never run.
        """
        future: Future[T] = Future()
        context = copy_context()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                _settle(future, lambda: context.run(call))

        with self._lock:
            if self._ended is not None:
                raise ClosedError("the memory is closed")
            try:
                (self._commands if command else self._others).submit(work)
            except RuntimeError as error:
                # The call is queued nevertheless, and a thread that runs already may have taken it.
                if future.cancel():
                    raise SystemFailureError(
                        f"no thread can be started: {error}", hint="end other programs, or use fewer threads"
                    ) from error
        return future

    async def run(self, call: Callable[[], T], *, command: bool = False) -> T:
        """Await a call in a thread. If this is cancelled, the call runs to its end or never begins."""
        return await settled(self.begin(call, command=command))

    def end(self, release: Callable[[], object]) -> Future[None]:
        """Refuse new calls. Once all calls have ended, call `release` in a thread. Repeating has no effect.

        The caller need not wait for the returned future; the release goes on without the caller.
        """
        with self._lock:
            if self._ended is not None:
                return self._ended
            ended: Future[None] = Future()
            self._ended = ended
        ended.set_running_or_notify_cancel()  # so that it cannot be cancelled
        closer = Thread(target=_settle, args=(ended, lambda: self._end(release)), name="memroot-close")
        try:
            closer.start()
        except RuntimeError:  # no thread can be started
            closer.run()
        return ended

    def _end(self, release: Callable[[], object]) -> None:
        self._commands.shutdown()
        self._others.shutdown()
        for each in list(self.open):
            each.close()
        release()


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001  it belongs to whoever waits for the future
        future.set_exception(error)
    else:
        future.set_result(result)


def _trio() -> Any:
    """Return the module trio if it runs the present task, or None."""
    # While another thread imports trio, any of its names may be missing, and trio runs no task.
    in_trio_task = getattr(sys.modules.get("trio.lowlevel"), "in_trio_task", None)
    return sys.modules["trio"] if in_trio_task is not None and in_trio_task() else None


async def settled(future: Future[T]) -> T:
    """Await a future of another thread, under asyncio or trio. Cancelling this cancels the future."""
    trio = _trio()
    return await (asyncio.wrap_future(future) if trio is None else _settled_in_trio(trio, future))


async def _settled_in_trio(trio: Any, future: Future[T]) -> T:
    done, token = trio.Event(), trio.lowlevel.current_trio_token()

    def tell(_: Future[T]) -> None:
        try:
            token.run_sync_soon(done.set)
        except trio.RunFinishedError:
            return  # trio has ended, so no task waits

    future.add_done_callback(tell)
    try:
        await done.wait()
    except BaseException:
        future.cancel()
        raise
    return future.result()


def shielded() -> AbstractContextManager[object]:
    """Return a context that the cancel scopes of trio and anyio do not reach."""
    # While another thread imports anyio, it has no scopes yet.
    scope = getattr(_trio() or sys.modules.get("anyio"), "CancelScope", None)
    return nullcontext() if scope is None else scope(shield=True)


class Parts(AsyncIterator[T]):
    """An async iterator over the items of a synchronous iterator, which worker threads read part by part.

    Nothing is read before the first item is awaited. If an await is cancelled, no item is lost: the next
    await continues after the last item that was returned. `aclose` ends the iterator.
    """

    def __init__(self, calls: Calls, begin: Callable[[], Iterator[T]], most: int) -> None:
        """Read the iterator that `begin` returns, in parts of at most `most` items."""
        self._calls = calls
        self._begin = begin
        self._most = most
        self._reading = Lock()
        self._source: Iterator[T] | None = None
        self._items: list[T] = []
        """The items that were read and not returned, the last one first."""
        self._error: BaseException | None = None
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._ended:
                raise StopAsyncIteration
            await self._calls.run(self._read)
        return self._items.pop()

    def _read(self) -> None:
        """Read one part. The items before an error are returned before the error is raised."""
        with self._reading:
            if self._items or self._ended:
                return  # an await that was cancelled has read this part
            items: list[T] = []
            try:
                if self._source is None:
                    self._source = iter(self._begin())
                    self._calls.open.add(self)
                items.extend(islice(self._source, self._most))
                self._ended = not items
            except BaseException as error:  # noqa: BLE001  it is raised by `__anext__`
                self._error, self._ended = error, True
            self._items = items[::-1]

    async def aclose(self) -> None:
        """End the iterator. Items that were read and not returned are dropped."""
        if not self._ended:
            try:
                await self._calls.run(self.close)
            except ClosedError:
                return  # closing the memory has closed the iterator

    def close(self) -> None:
        """End the iterator, once no thread reads it. `aclose` is the same without blocking."""
        with self._reading:
            self._ended, self._items = True, []
            close = getattr(self._source, "close", None)
            if close is not None:
                close()
