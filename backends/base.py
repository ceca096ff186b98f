"""The interface of all backends: an ordered map from bytes to bytes.

Keys are compared as unsigned bytes. Backends do not depend on atoms or journals. The public methods validate
and convert their arguments; a backend implements the abstract methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from backends.errors import BackendError, GuardFailed

KEY_BYTES_MAX = 1024
"""The maximum length of a key.

PostgreSQL's btree allows about 2.7 kB; less than half of that leaves room for a prefix.
"""

Row = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The guarantees of a backend, as data, so that callers need not test its class."""

    durable: bool
    """True if a `write(durable=True)` survives a power failure once it has returned."""
    multi_process: bool
    """True if several processes may have the store open for writing at once."""
    persistent: bool
    """True if the rows outlive the handle."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on a write: `key` still has exactly the value `expected`, or no row if that is None."""

    key: bytes
    expected: bytes | None


Guards = Guard | Sequence[Guard] | None
"""The conditions on a write: one, several that must all hold, or none."""


class Batch:
    """Puts and deletes that are applied atomically; the last one for a key wins."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes | None] = {}

    def put(self, key: bytes, value: bytes) -> None:
        """Set `key` to `value`."""
        self.rows[key] = value

    def delete(self, key: bytes) -> None:
        """Remove `key`; a missing key is allowed."""
        self.rows[key] = None

    def __len__(self) -> int:
        return len(self.rows)


class Reader(ABC):
    """An object that rows can be read from: a backend or a snapshot of one."""

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None if there is no row."""

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order, with None where there is no row."""
        return [self.get(key) for key in keys]

    @abstractmethod
    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end (None: to the last), in key order.

        It yields the rows as of the call, without later writes. A scan may be abandoned before its end. It
        raises BackendClosed once its snapshot or its backend is closed.
        """

    def scan_prefix(self, prefix: bytes, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over all rows whose key begins with `prefix`."""
        return self.scan(prefix, prefix_end(prefix), reverse=reverse)


class Snapshot(Reader):
    """The rows at one moment. Close it, or use it as a context manager."""

    @abstractmethod
    def close(self) -> None:
        """Release the snapshot; closing twice is allowed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Backend(Reader):
    """An open store. Several threads may use it, and any of them may close it."""

    name: str
    capabilities: Capabilities

    @abstractmethod
    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; with `durable`, return only when it would survive a power failure.

        A durable write also makes every earlier write of this handle durable; an empty durable batch does
        only that. A power failure loses only the newest writes: no row survives that was written after a lost
        one.

        Args:
            batch: The puts and deletes.
            guard: One condition or several; all must hold at the moment of the write.
            durable: Wait until the write would survive a power failure.

        Raises:
            BackendBusy: other processes kept the store locked; nothing was written.
            BackendError: a row is out of bounds (see `check_batch`), or a guard is not a Guard; nothing was
                written.
            GuardFailed: a guard did not hold; the message names its row, and nothing was written.
            BackendInDoubt: the write failed after it was sent; reopen the store to find out whether it took
                effect.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep other processes from writing until the end of the block.

        Use it if guarded writes fail repeatedly, or if several writes must follow each other. Other processes
        can read. Their writes wait, and raise BackendBusy if the block takes too long, so keep it short.
        Blocks may be nested in one thread. For stores that only one process can open, it does nothing.

        Raises:
            BackendBusy: other processes kept the store locked.
            BackendInDoubt: an earlier write of this handle failed.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """
        return nullcontext()

    @abstractmethod
    def purge(self) -> None:
        """Remove all deleted and replaced bytes from the store's own files.

        All rows remain, and are durable when it returns. It rewrites the store, so it takes time and disk
        space in proportion to the store's size. It waits until open snapshots and scans, those of the calling
        thread included, are closed; concurrent calls wait for it. If the process is killed, all rows remain,
        and perhaps some of the old bytes: call it again. It cannot erase disk blocks that the file system has
        released.

        Raises:
            BackendBusy: a snapshot or scan stayed open, here or in another process; nothing is lost, and old
                bytes may remain.
            BackendInDoubt: it failed half-way; reopen the store. All rows are there.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """

    def files(self) -> tuple[Path, ...]:
        """Return every file that may hold bytes of this store; none if it is not kept on disk."""
        return ()

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return a snapshot of the present rows."""

    @abstractmethod
    def close(self) -> None:
        """Wait for running calls, then release the store; closing twice is allowed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def prefix_end(prefix: bytes) -> bytes | None:
    """Return the first key after all keys that begin with `prefix`, or None if there is no such key."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return None
    return stripped[:-1] + bytes([stripped[-1] + 1])


def guards_of(guard: Guards) -> tuple[Guard, ...]:
    """Return the conditions as a tuple, in their order; empty for None.

    Raises:
        BackendError: one of them is not a Guard.
    """
    if guard is None:
        return ()
    guards = (guard,) if isinstance(guard, Guard) else tuple(guard)
    for one in guards:
        if not isinstance(one, Guard):
            raise BackendError(f"guards must be Guard objects, not {type(one).__name__}")
    return guards


def check_guards(guards: Sequence[Guard], get: Callable[[bytes], bytes | None]) -> None:
    """Raise GuardFailed for the first of `guards` that does not hold; `get` returns the value of a row."""
    for guard in guards:
        if get(guard.key) != guard.expected:
            raise GuardFailed(f"row {guard.key!r} has changed")


def check_batch(batch: Batch) -> None:
    """Raise BackendError for rows that some backend could not store.

    Raises:
        BackendError: a key is empty or longer than KEY_BYTES_MAX, or a key or value is not `bytes`.
    """
    rows = batch.rows
    if not rows:
        return
    wrong = (set(map(type, rows)) | set(map(type, rows.values()))) - {bytes, type(None)}
    if wrong or None in rows:
        names = ", ".join(sorted(kind.__name__ for kind in wrong)) or "None"
        raise BackendError(f"keys and values must be bytes, not {names}")
    for size in (min(map(len, rows)), max(map(len, rows))):
        if not 0 < size <= KEY_BYTES_MAX:
            raise BackendError(f"a key must have 1 to {KEY_BYTES_MAX} bytes, not {size}")
