"""The class `AsyncEngine`, whose methods are made from those of `Engine`, and `AsyncProved`.

`async_engine.pyi` has their types; `python -m tests.support.stubs` writes it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from engine.base.errors import InvalidInputError, RefusedError
from engine.clients.asynchronous.worker_threads import THREADS, Calls, Parts, settled, shielded
from engine.engine import Engine

if TYPE_CHECKING:
    from engine.base.model import Atom
    from engine.clients.asynchronous.async_explorer import AsyncExplorer
    from engine.clients.proved_answers import Proved
    from engine.memory.memory_protocol import Memory
    from proofs.note import Checkpoint

M = TypeVar("M")

LOG_PART: Final = 256
"""The number of events that one call reads."""

COMMANDS_PART: Final = 1000
"""The number of receipts that one call returns: those of one batch."""


class Opening(Generic[M]):
    """A memory that is being opened. Await it, or use it in `async with`, which also closes the memory."""

    def __init__(self, calls: Calls, enter: Callable[[], Any], wrap: Callable[[Any, Calls], M]) -> None:
        self._calls, self._enter, self._wrap = calls, enter, wrap
        self._memory: Any = None

    def __await__(self) -> Generator[Any, Any, M]:
        return self._opened().__await__()

    async def _opened(self) -> M:
        engine = await _entered(self._calls.begin(self._enter), self._calls, lambda engine: engine.close())
        return self._wrap(engine, self._calls)

    async def __aenter__(self) -> M:
        self._memory = await self._opened()
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        await self._memory.close()


async def _entered(future: Future[Any], calls: Calls, leave: Callable[[Any], object]) -> Any:
    """Await what `future` opens. If that fails or is cancelled, end `calls`, and leave what was opened."""
    try:
        return await settled(future)
    except BaseException:
        future.add_done_callback(lambda done: calls.end(partial(_left, done, leave)))
        raise


def _left(done: Future[Any], leave: Callable[[Any], object]) -> None:
    if not done.cancelled() and done.exception() is None:
        leave(done.result())


class AsyncEngine:
    """An open memory with the methods of `Engine`, awaited. It works under asyncio and under trio.

    Calls run in worker threads, so the event loop never waits for the memory. Commands, which are the methods
    that return receipts, are carried out one after the other, in the order in which they were called. All
    other calls run in up to `threads` threads at the same time.

    If an await is cancelled, it returns at once. A call that a thread had already begun runs to its end; any
    other call is never begun. So a command is carried out completely or not at all, and `close` waits for the
    commands that run. To learn whether a cancelled command was carried out, repeat it: commands that would
    change nothing append no event.

    Functions that are passed as arguments, such as `progress`, are called in a worker thread. So are the
    iterables that are passed as arguments.
    """

    def __init__(self, engine: Memory, *, threads: int = THREADS) -> None:
        """Wrap an open memory. Closing this closes it.

        Args:
            engine: An open store, or a client. It may still be used directly, from other threads.
            threads: The number of calls that may run at the same time, besides one command; 1 to 1,000.

        Raises:
            InvalidInputError: `engine` is not a memory, or `threads` is out of range.
        """
        if not isinstance(engine, Engine):
            from engine.memory.memory_protocol import is_memory

            if not is_memory(engine):
                raise InvalidInputError(f"engine must be a memory, not {type(engine).__name__}")
        self._start(engine, Calls(threads), engine.close)

    def _start(self, engine: Memory, calls: Calls, release: Callable[[], object]) -> Self:
        self.engine = engine
        """The memory that this object wraps."""
        self._calls, self._release, self._is_owner = calls, release, True
        return self

    @classmethod
    def _made(cls, engine: Memory, calls: Calls, release: Callable[[], object] | None = None) -> Self:
        return object.__new__(cls)._start(engine, calls, release or engine.close)

    @classmethod
    def open(cls, url: str, *, threads: int = THREADS, **options: Any) -> Opening[Self]:
        """Open the store at `url`, as `Engine.open` does: `async with AsyncEngine.open(url) as memory`.

        `memory = await AsyncEngine.open(url)` opens it, too; then the caller must close it.

        Args:
            url: The location of the store.
            threads: The number of calls that may run at the same time, besides one command; 1 to 1,000.
            options: The keyword arguments of `Engine.open`.

        Raises:
            InvalidInputError: An argument is not valid.
            NotFoundError: There is no store at `url` and `create` is false.
            BusyError: Another process keeps the store locked.
            CorruptionError: Bytes of the store are damaged.
        """
        return Opening(Calls(threads), partial(Engine.open, url, **options), cls._made)

    @classmethod
    def connect(cls, url: str, *, threads: int = THREADS, **options: Any) -> Opening[Self]:
        """Connect to a memory on a service, as `Engine.connect` does: await it, or use it in `async with`.

        Args:
            url: The address of the service or of the memory.
            threads: The number of calls that may run at the same time, besides one command; 1 to 1,000.
            options: The keyword arguments of `Engine.connect`.

        Raises:
            EngineError: As for `Engine.connect`.
        """
        return Opening(Calls(threads), partial(Engine.connect, url, **options), cls._made)

    @property
    def proved(self) -> AsyncProved:
        """Answers of a service that the client verifies.

        Raises:
            RefusedError: The memory is not a client of a service, so its answers need no proof.
        """
        from engine.clients.remote_engine import RemoteEngine

        if not isinstance(self.engine, RemoteEngine):
            raise RefusedError(
                "an open store answers without proofs", hint="use `prove`, or `verify` for the whole store"
            )
        return AsyncProved(self.engine.proved, self._calls)

    async def close(self) -> None:
        """Refuse new calls, wait for the calls that run, then close the memory. Repeating has no effect.

        A cancel scope of trio or anyio does not cut this short. If asyncio cancels the task meanwhile, the
        memory is closed all the same, a little later.
        """
        if self._is_owner:
            with shielded():
                await settled(self._calls.end(self._release))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def acting_as(self, actor: str, **options: Any) -> Self:
        """Return the same open memory with another author and request key, as `Engine.acting_as` does.

        Closing it does not close the memory.
        """
        other = self._made(self.engine.acting_as(actor, **options), self._calls)
        other._is_owner = False
        return other

    @asynccontextmanager
    async def as_of(self, moment: Any) -> AsyncIterator[AsyncEngine]:
        """Open the memory as it was at `moment`, as `Engine.as_of` does, for `async with`."""
        past, calls = self.engine.as_of(moment), Calls(self._calls.threads)

        def leave(_: object = None) -> None:
            past.__exit__(None, None, None)

        engine = await _entered(self._calls.begin(past.__enter__), calls, leave)
        memory = self._made(engine, calls, leave)
        try:
            yield memory
        finally:
            await memory.close()

    async def explorer(self, **options: Any) -> AsyncExplorer:
        """Return an explorer whose methods are awaited. The arguments are those of `Engine.explorer`."""
        from engine.clients.asynchronous.async_explorer import AsyncExplorer

        return AsyncExplorer(await self._calls.run(partial(self.engine.explorer, **options)), self._calls)


class AsyncProved:
    """The methods of `engine.clients.proved_answers.Proved`, awaited. They raise the same errors."""

    def __init__(self, proved: Proved, calls: Calls) -> None:
        self._proved, self._calls = proved, calls

    async def check(self) -> Checkpoint:
        """Check that the log continues the kept checkpoint, and return the new one."""
        return await self._calls.run(self._proved.check)

    async def get(self, id: str) -> Atom:  # noqa: A002
        """Return an atom that is proved."""
        return await self._calls.run(partial(self._proved.get, id))

    async def recall(self, query: str, **options: Any) -> tuple[Atom, ...]:
        """Return the atoms that answer a question best, each of which is proved."""
        return await self._calls.run(partial(self._proved.recall, query, **options))

    async def tagged(self, tag: str) -> tuple[str, ...]:
        """Return the ids of all live atoms that have a tag; the proof shows that none is missing."""
        return await self._calls.run(partial(self._proved.tagged, tag))

    async def mentioning(self, word: str) -> tuple[str, ...]:
        """Return the ids of all live atoms that mention a word; the proof shows that none is missing."""
        return await self._calls.run(partial(self._proved.mentioning, word))


def _awaited(method: Any) -> Any:
    command = method.__annotations__["return"] in ("Receipt", "list[Receipt]")

    @wraps(method)
    async def awaited(self: AsyncEngine, *args: Any, **options: Any) -> Any:
        call = partial(getattr(self.engine, method.__name__), *args, **options)
        return await self._calls.run(call, command=command)

    return awaited


def _in_parts(method: Any) -> Any:
    most = COMMANDS_PART if method.__annotations__["return"] == "Iterator[Receipt]" else LOG_PART

    @wraps(method)
    def begin(self: AsyncEngine, *args: Any, **options: Any) -> Any:
        return Parts(self._calls, partial(getattr(self.engine, method.__name__), *args, **options), most)

    return begin


def _read(name: str, read: property) -> Any:
    """Return the method for a property that reads the store."""

    async def awaited(self: AsyncEngine) -> Any:
        return await self._calls.run(lambda: getattr(self.engine, name))

    awaited.__name__, awaited.__doc__ = name, read.__doc__
    return awaited


def _known(name: str, read: property) -> property:
    """Return the property for a property that reads nothing."""
    return property(lambda self: getattr(self.engine, name), doc=read.__doc__)


INTERNAL: Final = frozenset({"store"})
READING: Final = frozenset({"size"})
"""The properties of `Engine` that read the store."""


def _complete() -> None:
    """Give `AsyncEngine` the methods of `Engine` that it does not define itself."""
    for name, member in vars(Engine).items():
        if name.startswith("_") or name in INTERNAL or name in vars(AsyncEngine):
            continue
        if isinstance(member, property):
            made = _read(name, member) if name in READING else _known(name, member)
        elif inspect.isgeneratorfunction(member) or member.__annotations__["return"].startswith("Iterator["):
            made = _in_parts(member)
        else:
            made = _awaited(member)
        setattr(AsyncEngine, name, made)
    AsyncEngine.actor = property(lambda self: self.engine.actor, doc="The author that events record.")


_complete()
