"""The contract every backend keeps: an ordered map from bytes to bytes.

Keys are compared as unsigned bytes. A backend knows nothing of atoms or journals. The public
methods check and translate; a backend writes the underscored ones.
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
"""The longest key. PostgreSQL's btree takes about 2.7 kB; half leaves room for a prefix."""

Row = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend promises, as data, so that no caller asks for its class."""

    durable: bool
    """`write(durable=True)` survives loss of power once it has returned."""
    multi_process: bool
    """Several processes may have the store open for writing at once."""
    persistent: bool
    """The rows outlive the handle."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on a write: `key` still holds exactly `expected` (None: it has no row)."""

    key: bytes
    expected: bytes | None


Guards = Guard | Sequence[Guard] | None
"""The conditions on a write: one, several that must all hold, or none."""


class Batch:
    """Puts and deletes that happen together or not at all; the last one for a key wins."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes | None] = {}

    def put(self, key: bytes, value: bytes) -> None:
        """Set `key` to `value`."""
        self.rows[key] = value

    def delete(self, key: bytes) -> None:
        """Remove `key`; removing what is not there is allowed."""
        self.rows[key] = None

    def __len__(self) -> int:
        return len(self.rows)


class Reader(ABC):
    """Anything rows can be read from: a backend, or a snapshot of one."""

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, in their order, None where there is no row."""
        return [self.get(key) for key in keys]

    @abstractmethod
    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with start <= key < end (None: to the last), in key order, as of the call.

        What is written while the scan runs is not seen by it. A scan may be left half read; it
        raises BackendClosed once its snapshot or its backend is closed.
        """

    def scan_prefix(self, prefix: bytes, *, reverse: bool = False) -> Iterator[Row]:
        """All rows whose key begins with `prefix`."""
        return self.scan(prefix, prefix_end(prefix), reverse=reverse)


class Snapshot(Reader):
    """The rows as they were at one moment. Close it, or use it as a context manager."""

    @abstractmethod
    def close(self) -> None:
        """Release what the snapshot holds; closing twice is allowed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Backend(Reader):
    """An open store. Safe to use from several threads; closed once, from any of them."""

    name: str
    capabilities: Capabilities

    @abstractmethod
    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; with `durable`, return only when it would survive loss of power.

        So would everything this handle wrote before, durable or not; an empty durable batch does
        only that. What is lost is always the newest: never a row that a surviving one came after.

        Args:
            batch: what to put and delete.
            guard: one condition or several; all must hold at the moment of the write.
            durable: wait until it would survive loss of power.

        Raises:
            BackendBusy: other processes kept the store locked; nothing was written.
            BackendError: a row is out of bounds (see `check_batch`), or a guard is no Guard; nothing was
                written.
            GuardFailed: a guard did not hold, and its row is named; nothing was written.
            BackendInDoubt: it failed after it was sent; reopen to find out.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep other processes from writing until the end of the block, however often this one writes.

        For whoever loses guarded writes again and again, or needs several in a row. Others read on; their
        writes wait, and are refused with BackendBusy where the block takes too long: keep it short. Blocks
        may be nested in one thread. Where one process owns the store, it does nothing.

        Raises:
            BackendBusy: other processes kept the store locked.
            BackendInDoubt: an earlier write of this handle failed.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """
        return nullcontext()

    @abstractmethod
    def purge(self) -> None:
        """Have nothing in the store's own files but the rows there are: no deleted or replaced bytes.

        All rows stay, and survive loss of power when it returns. It rewrites the store, so it takes time and
        room in proportion to it. It waits for open snapshots and scans, of this thread's own too, to be
        closed; whoever calls meanwhile waits. Killed anywhere, it leaves all rows, and perhaps what it was
        to remove: call it again. Blocks of the disk that the files no longer use are the file system's.

        Raises:
            BackendBusy: a snapshot or scan was kept open, here or in another process; nothing is lost, and
                old bytes may still be there.
            BackendInDoubt: it failed half-way; reopen the store. All rows are there.
            BackendClosed: the handle is closed, or belongs to the parent process.
        """

    def files(self) -> tuple[Path, ...]:
        """Every file that may hold bytes of this store; none where nothing is kept on a disk."""
        return ()

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The rows as they are now."""

    @abstractmethod
    def close(self) -> None:
        """Wait for readers in flight, then release the store; closing twice is allowed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def prefix_end(prefix: bytes) -> bytes | None:
    """The first key after all that begin with `prefix`; None when there is no such key."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return None
    return stripped[:-1] + bytes([stripped[-1] + 1])


def guards_of(guard: Guards) -> tuple[Guard, ...]:
    """The conditions as a tuple, in their order; empty for None.

    Raises:
        BackendError: one of them is no Guard.
    """
    if guard is None:
        return ()
    guards = (guard,) if isinstance(guard, Guard) else tuple(guard)
    for one in guards:
        if not isinstance(one, Guard):
            raise BackendError(f"a write is guarded by Guard objects, not {type(one).__name__}")
    return guards


def check_guards(guards: Sequence[Guard], get: Callable[[bytes], bytes | None]) -> None:
    """Raise GuardFailed for the first of `guards` that does not hold; `get` reads a row."""
    for guard in guards:
        if get(guard.key) != guard.expected:
            raise GuardFailed(f"row {guard.key!r} has changed")


def check_batch(batch: Batch) -> None:
    """Refuse rows that some backend could not hold, before anything is sent.

    Raises:
        BackendError: a key is empty or longer than KEY_BYTES_MAX, or something is not `bytes`.
    """
    rows = batch.rows
    if not rows:
        return
    wrong = (set(map(type, rows)) | set(map(type, rows.values()))) - {bytes, type(None)}
    if wrong or None in rows:
        names = ", ".join(sorted(kind.__name__ for kind in wrong)) or "None"
        raise BackendError(f"keys and values are bytes, not {names}")
    for size in (min(map(len, rows)), max(map(len, rows))):
        if not 0 < size <= KEY_BYTES_MAX:
            raise BackendError(f"a key has {size} bytes; 1 to {KEY_BYTES_MAX} are allowed")
