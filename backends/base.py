"""The interface of all backends: an ordered map from bytes to bytes.

Keys are compared as unsigned bytes. Backends do not depend on atoms or journals. The public methods validate
and convert their arguments; a backend implements the abstract methods.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from backends.errors import BackendError, GuardFailed

if TYPE_CHECKING:
    from backends.files import Location
    from backends.sealed.seal import Seal

KEY_BYTES_MAX = 1024
"""The maximum length of a key.

A future backend could use PostgreSQL, whose btree index allows keys of about 2.7 kB. The limit is less than
half of 2.7 kB, so that a backend can add a prefix to each key.
"""

AFTER_ALL_KEYS = b"\xff" * (KEY_BYTES_MAX + 1)
"""A byte string that is greater than every key."""

HEADERS = frozenset({b"\0memroot/sealed", b"\xff" * 8 + b"memroot/sealed"})
"""The keys of the two rows that make a store a sealed one (`backends.sealed`). They enclose all others."""

Row = tuple[bytes, bytes]

_STORED = frozenset({bytes, type(None)})


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The guarantees of a backend. Callers read them here instead of testing the backend's class."""

    durable: bool
    """True if the rows of `write(durable=True)` survive a power failure after the call has returned."""
    multi_process: bool
    """True if several processes may have the store open for writing at the same time."""
    persistent: bool
    """True if the rows outlive the handle."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on a write: the value of `key` is `expected`; if `expected` is None, there is no row."""

    key: bytes
    expected: bytes | None


Guards = Guard | Sequence[Guard] | None
"""The conditions on a write: one Guard, several that must all hold, or None for no condition."""


class Batch:
    """Puts and deletes that are applied atomically. Only the last put or delete of a key has an effect."""

    __slots__ = ("reaches", "rows")

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes | None] = {}
        self.reaches: int | None = None
        """The number of events in the store after the batch, or None if the batch adds no event. A backend
        may also keep this number outside the store. If the store loses writes, the backend can then report
        what is missing."""

    def put(self, key: bytes, value: bytes) -> None:
        """Set `key` to `value`."""
        self.rows[key] = value

    def delete(self, key: bytes) -> None:
        """Remove `key`. A key that does not exist is not an error."""
        self.rows[key] = None

    def __len__(self) -> int:
        return len(self.rows)


class Reader(ABC):
    """An object that rows can be read from: a backend, or a snapshot of a backend."""

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None if there is no row."""

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in the same order. The value is None for a key without a row."""
        return [self.get(key) for key in keys]

    @abstractmethod
    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, in key order.

        If `end` is None, the scan has no upper bound.

        The iterator yields the rows that exist at the time of the call and ignores later writes. It need not
        be read to the end. It raises BackendClosed after the snapshot or the backend has been closed.
        """

    def scan_prefix(self, prefix: bytes, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over all rows whose key begins with `prefix`."""
        return self.scan(prefix, prefix_end(prefix), reverse=reverse)

    def keys(self, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, in key order.

        A backend with a checksum for each row does not read the values here, so a row with a damaged value
        can be found and deleted.
        """
        return [key for key, _ in islice(self.scan_prefix(prefix), limit)]


class OpenReader(Reader):
    """A reader that must be closed; a `with` block closes it."""

    @abstractmethod
    def close(self) -> None:
        """Release what the reader holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Snapshot(OpenReader):
    """A view of the rows at one moment. Close the snapshot, or use it as a context manager."""

    confirm_missing = True
    """True if reads also check that no row is hidden by damage. The check is made where a row is missing, and
    at both ends of a scan.

    On SQLite the check takes twice as long as the read. Set it to False if the caller checks the rows itself.
    """
    from_store = False
    """True if each read asks the store, even if the handle keeps a copy of the row. Set it to find out
    whether stored rows are damaged."""

    @abstractmethod
    def close(self) -> None:
        """Release the snapshot. It is not an error to close a snapshot twice."""


class Backend(OpenReader):
    """An open store. Several threads may use the same object, and any thread may close it."""

    name: str
    capabilities: Capabilities
    beyond_purge: tuple[str, ...] = ()
    """The places outside the store's files where the database keeps deleted bytes."""
    unwritable: str | None = None
    """Why the store can only be read, as the end of a sentence; None if the store can be written."""
    location: Location | None = None
    """The place of the store's files, if `open_backend` opened it; None for a store that is not in files."""
    seal: Seal | None = None
    """The key of a sealed store, or None for a store that everybody can read who can read its files."""
    clock_of = "this machine"
    """Whose clock `clock` reads, for messages."""

    def clock(self) -> int:
        """Return the time of the clock that all writers of the store share, in µs since 1970, UTC.

        Raises:
            BackendError: a database does not answer.
        """
        return time.time_ns() // 1000

    def is_wanted(self) -> bool:
        """Return True if somebody has tried to open the store in vain since it was opened here.

        Only stores that one process at a time can open are wanted.
        """
        return False

    @abstractmethod
    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically. With `durable`, return only when the rows would survive a power failure.

        A durable write also makes every earlier write of this handle durable. To make earlier writes durable
        without writing a row, write an empty durable batch. A power failure loses only the newest writes: if
        a write is lost, all later writes are lost, too.

        Args:
            batch: The puts and deletes.
            guard: One or several conditions. All of them must hold at the moment of the write.
            durable: Whether to wait until the write would survive a power failure.

        Raises:
            BackendBusy: other processes kept the store locked; nothing was written.
            BackendError: a row is out of bounds (see `check_batch`), or a guard is not a Guard; nothing was
                written.
            GuardFailed: a guard did not hold; the message names the row, and nothing was written.
            BackendInDoubt: the write failed after it was sent; reopen the store to find out whether it took
                effect.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """

    def exclusive(self) -> AbstractContextManager[None]:
        """Prevent other processes from writing until the end of the block.

        Use this method if guarded writes fail repeatedly, or if several writes must follow each other. Other
        processes can read. Their writes wait, and raise BackendBusy if the block takes too long, so keep the
        block short. Blocks may be nested in one thread. For stores that only one process can open, this
        method does nothing.

        Raises:
            BackendBusy: other processes kept the store locked.
            BackendInDoubt: an earlier write of this handle failed.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """
        return nullcontext()

    @abstractmethod
    def purge(self) -> bool:
        """Remove all deleted and replaced bytes from the store's own files.

        All rows remain, and are durable when the method returns. The method rewrites the store, so it takes
        time and disk space in proportion to the store's size. It waits until all open snapshots and scans are
        closed, including the snapshots and scans of the calling thread. Other calls wait until it has
        finished. If the process is killed, all rows remain, but old bytes may remain, too; then call the
        method again. The method cannot erase disk blocks that the file system has released.

        Returns:
            True if the files have no deleted bytes; False if only the operator of the database may rewrite
                them.

        Raises:
            BackendBusy: a snapshot or scan stayed open in this or another process; no row is lost, and old
                bytes may remain.
            BackendInDoubt: rewriting the store failed; reopen the store. No row is lost.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """

    def rewrite(self, change: Callable[[Iterator[Row]], Iterable[Row]]) -> bool:
        """Replace all rows with `change(rows)`, atomically, and remove the earlier bytes from the files.

        The new rows need not be in order. If the process is killed, the store has the earlier rows, or the
        new ones; in the second case, earlier bytes may remain until `purge`. A backend without a way of its
        own holds the new rows in main memory.

        Returns, raises: As `purge`.
        """
        batch = Batch()
        with self.exclusive():
            with self.snapshot() as rows:
                batch.rows |= dict.fromkeys(key for key, _ in rows.scan())
                batch.rows |= dict(change(rows.scan()))
            self.write(batch)
        return self.purge()

    def stored(self, key: bytes) -> bytes | None:
        """Return the value of `key` as the files have it."""
        return self.get(key)

    def files(self) -> tuple[Path, ...]:
        """Return the paths of all files that may hold bytes of the store. A memory store has no files."""
        return ()

    def read_ahead(self, keys: Sequence[bytes]) -> None:
        """Fetch rows that are probably read soon. A backend on another machine fetches them together."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current rows."""

    @abstractmethod
    def close(self) -> None:
        """Wait for running calls, then release the store. It is not an error to close a store twice."""


def prefix_end(prefix: bytes) -> bytes | None:
    """Return the smallest key above all keys that begin with `prefix`, or None if there is no such key."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return None
    return stripped[:-1] + bytes([stripped[-1] + 1])


def guards_of(guard: Guards) -> tuple[Guard, ...]:
    """Return the conditions as a tuple, in their order, or an empty tuple for None.

    Raises:
        BackendError: a condition is not a Guard.
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
    """Raise BackendError unless the rows are allowed in every backend.

    Raises:
        BackendError: a key is empty or longer than KEY_BYTES_MAX, or a key or value is not `bytes`.
    """
    rows = batch.rows
    if not rows:
        return
    wrong = {*map(type, rows), *map(type, rows.values())} - _STORED
    if wrong or None in rows:
        names = ", ".join(sorted(kind.__name__ for kind in wrong)) or "None"
        raise BackendError(f"keys and values must be bytes, not {names}")
    sizes = set(map(len, rows))
    for size in (min(sizes), max(sizes)):
        if not 0 < size <= KEY_BYTES_MAX:
            raise BackendError(f"a key must have 1 to {KEY_BYTES_MAX} bytes, not {size}")
