"""The memories that a service offers, and the handles of those that are open."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from backends import Location, locate, open_backend, store_exists
from backends.files import resolve_path
from engine.base.errors import (
    ConflictError,
    EngineError,
    InvalidInputError,
    LockedError,
    NotFoundError,
    RefusedError,
    SystemFailureError,
    translated,
)
from engine.base.validation import quoted
from engine.memory import named_memories as changing
from engine.memory.lease import DEFAULT_WAIT, Lease
from engine.memory.open_memory import engine_opener
from engine.store.named_places import root_of
from engine.store.past_states import PastStates

if TYPE_CHECKING:
    from engine.commands.secrets.policy import SecretsPolicy
    from engine.engine import Engine

UNNAMED: Final = "~"
"""The name in addresses of the memory without a name: the store itself."""

OPEN_MAX: Final = 64
"""The number of memories that are kept open. If more are used, the one unused for longest is closed."""

KEEP_SECONDS: Final = 5.0
"""The seconds that a LevelDB memory stays open without a call, unless another process wants it. While
somebody types a question, calls come faster than that.
"""

ACTOR: Final = "service"
"""The actor of the only event that the service itself records, the first event of a new memory."""


def _place_pattern(location: Location) -> re.Pattern[str]:
    """Return a pattern that finds the address of a store in a message, with what follows in the same word."""
    if location.kind == "postgresql":
        return re.compile(r"postgresql\S*|(?:server at|host|port|user|role|database) \S+")
    paths = {location.path, str(resolve_path(location.path))} if location.path else set()
    places = "|".join(re.escape(path) for path in sorted(paths, key=len, reverse=True) if len(path) > 1)
    return re.compile(rf"(?:(?:leveldb|sqlite)\S*:)?(?:{places})[^\s:;,']*" if places else r"(?!)")


class UnknownMemoryError(NotFoundError):
    """There is no memory of this name, or the service does not offer it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no memory {quoted(name)}", hint="GET /v1/memories lists the memories")


@dataclass(frozen=True, slots=True)
class Described:
    """A memory that a service offers."""

    name: str
    """The name in addresses; `~` for the memory without a name."""
    store_id: str
    live_atoms: int
    events: int
    root: str
    """The overall root, as 64 hex digits."""


@dataclass(slots=True)
class _Held:
    """An open memory, and the number of calls that use it."""

    lease: Lease
    users: int = 0


@dataclass
class Memories:
    """The memories of one store, folder, file or database. All methods may be called by several threads."""

    url: str
    read_only: bool = True
    secrets: SecretsPolicy | str | None = None
    wait: float = DEFAULT_WAIT
    """The time, in seconds, that a call waits for a store that another process keeps locked."""
    only: str | None = None
    """The name of the only memory that is served; None to serve all."""
    _held: OrderedDict[str, _Held] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    clock_ahead: float = 0.0
    """The seconds by which the clock of this machine is ahead of the database's, as of `compare_clocks`."""
    _past: PastStates = field(default_factory=PastStates)
    """The past states that calls asked about. They are here, because a memory may be closed between calls."""
    _place: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        """Find out which kind of store the URL names.

        Raises:
            InvalidInputError: The URL is not valid.
        """
        with translated():
            location = locate(self.url)
        if location.memory is not None:
            raise InvalidInputError("give the memory with --memory, not in the URL")
        try:
            root_of(self.url)
            self.has_names = True
        except InvalidInputError:
            self.has_names = False
        self._is_folder = self.has_names and root_of(self.url).kind == "folder"
        self._place = _place_pattern(location)

    def names(self) -> list[str]:
        """Return the names of the memories, sorted; the memory without a name comes first, as `~`."""
        names = changing.memories(self.url) if self.has_names else []
        if self.only is not None:
            return [name for name in (UNNAMED, *names) if name == self.only]
        return [*([UNNAMED] if self._has_unnamed() else []), *names]

    def require_any(self) -> None:
        """Check that there is a store to serve.

        Raises:
            NotFoundError: There is none.
        """
        with translated():
            if not store_exists(self.url) and not self.names():
                raise NotFoundError(f"there is no store at {self.url}", hint="create it with `engine init`")

    def _has_unnamed(self) -> bool:
        if not self.has_names:
            return True
        if self._is_folder:
            return False
        try:
            with translated(), open_backend(self.url, create=False):
                return True
        except LockedError:
            return True
        except NotFoundError:
            return False

    def touch(self) -> None:
        """Read something from the store, to find out whether it answers.

        Raises:
            EngineError: The store does not answer, or does not exist.
        """
        if self._is_folder:
            self.names()
        elif self.has_names and self.only is None:
            self._has_unnamed()
        else:
            with self.use(self.only or UNNAMED) as memory:
                _ = memory.size

    def described(self, name: str) -> Described:
        """Return the counts and the root of a memory.

        Raises:
            NotFoundError: There is no such memory.
        """
        with self.use(name) as memory:
            counts, root = memory.status(), memory.root().root
        return Described(name, counts.store_id, counts.live_atoms, counts.events, root)

    def compare_clocks(self) -> None:
        """Set `clock_ahead`, if a memory is open. A store in files has the clock of this machine.

        Raises:
            EngineError: The store does not answer.
        """
        with self._lock:
            name = next(reversed(self._held), None)
        if name is not None:
            with self.use(name) as memory, translated():
                before = memory.store.backend.clock()
                self.clock_ahead = time.time() - before / 1_000_000

    @contextmanager
    def use(self, name: str) -> Iterator[Engine]:
        """Yield a memory, which stays open until the block ends.

        Raises:
            NotFoundError: There is no such memory, or the service does not offer it.
            BusyError: Another process keeps the memory locked.
        """
        held = self._take(name)
        try:
            with held.lease.memory() as memory:
                yield memory
        except UnknownMemoryError:
            with self._lock:
                self._held.pop(name, None)
            raise
        except SystemFailureError:
            raise  # the answer does not contain its message, and the log does
        except EngineError as error:
            self._hide_place(error)
            raise
        finally:
            with self._lock:
                held.users -= 1

    def _hide_place(self, error: EngineError) -> None:
        """Remove the address of the store from a message: it may name a path, a host or a user."""
        texts = [self._place.sub("the store", text) for text in (str(error), error.hint)]
        error.args, error.hint = (texts[0], *error.args[1:]), texts[1]

    def _take(self, name: str) -> _Held:
        with self._lock:
            held = self._held.get(name)
            if held is None:
                held = self._held[name] = _Held(self._lease(name))
            self._held.move_to_end(name)
            held.users += 1
            surplus = self._surplus()
        for old in surplus:
            old.lease.close(0)
        return held

    def _lease(self, name: str) -> Lease:
        # A missing memory is not created by using it, except for a store that is given by itself.
        create = name == UNNAMED and not self.has_names and not self.read_only
        opener = engine_opener(self._url_of(name), ACTOR, create=create, secrets=self.secrets)

        def opened() -> Engine:
            try:
                memory = opener()
            except NotFoundError:
                raise UnknownMemoryError(name) from None
            memory.store.past_states = self._past.of(name)
            return memory

        return Lease(opened, self.wait, KEEP_SECONDS)

    def _surplus(self) -> list[_Held]:
        """Remove the memories that were used longest ago from the table, and return them."""
        idle = [name for name, held in self._held.items() if not held.users]
        return [self._held.pop(name) for name in idle[: max(len(self._held) - OPEN_MAX, 0)]]

    def _url_of(self, name: str) -> str:
        if self.only is not None and name != self.only:
            raise UnknownMemoryError(name)
        if name == UNNAMED:
            if self._is_folder:
                raise UnknownMemoryError(name)
            return self.url
        if not self.has_names:
            raise UnknownMemoryError(name)
        try:
            return root_of(self.url).url_of(name)
        except InvalidInputError:
            raise UnknownMemoryError(name) from None

    def create(self, name: str, actor: str) -> None:
        """Create a memory.

        Raises:
            ConflictError: There is a memory of this name.
            RefusedError: The service is read-only, or its store cannot contain named memories.
            InvalidInputError: The name is not valid.
        """
        self._require_names()
        if not changing.create(self.url, name, actor=actor):
            raise ConflictError(f"a memory named {quoted(name)} already exists", hint="choose another name")

    def rename(self, old: str, new: str) -> None:
        """Rename a memory.

        Raises:
            NotFoundError: There is no memory named `old`.
            ConflictError: There is a memory named `new`.
            BusyError: The memory is in use.
        """
        self._require_names()
        self._release(old)
        changing.rename(self.url, old, new)

    def delete(self, name: str) -> None:
        """Delete a memory with all of its data.

        Raises:
            NotFoundError: There is no such memory.
            BusyError: The memory is in use.
        """
        self._require_names()
        self._release(name)
        changing.delete(self.url, name)

    def _require_names(self) -> None:
        if self.read_only:
            raise RefusedError("this service is read-only", hint="start `engine serve` with --write")
        if not self.has_names or self.only is not None:
            raise RefusedError(
                "this service serves a single memory",
                hint="start it on a folder, a SQLite file or a database",
            )

    def _release(self, name: str) -> None:
        """Close a memory that no call uses, so that it can be renamed or deleted."""
        self._past.forget(name)
        with self._lock:
            held = self._held.get(name)
            if held is None or held.users:
                return
            del self._held[name]
        held.lease.close(0)

    def close(self, seconds: float) -> bool:
        """Refuse new calls, wait for running ones, and close all memories. Return True if all calls ended."""
        with self._lock:
            held = list(self._held.values())
            self._held.clear()
        ended = [one.lease.close(seconds) for one in held]
        self._past.close()
        return all(ended)
