"""A backend that keeps rows in memory, for tests and temporary stores.

It is the simplest implementation of the interface of backends.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from sortedcontainers import SortedList

from backends.base import (
    Backend,
    Batch,
    Capabilities,
    Guards,
    Row,
    Snapshot,
    check_batch,
    check_guards,
    guards_of,
)
from backends.errors import BackendClosed
from backends.handle_state import HandleState

_CHUNK_ROWS = 64
"""The maximum number of rows that a scan fetches each time it takes the lock."""

Past = tuple[int, bytes | None]
"""An old value of a key, and the number of the version that replaced this value."""


class _Rows:
    """The current rows, and the old rows that open snapshots and scans still need, protected by one lock.

    A snapshot is a version number. While a snapshot is open, a write saves in `past` the value that
    it replaces, and a deleted key stays in `order` with the value None. `journal` lists the saved values,
    oldest first, so that closing the oldest snapshot frees exactly the values that only this snapshot could
    see.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.handle_state = HandleState("the memory store")
        self.version = 0
        self.values: dict[bytes, bytes | None] = {}
        self.order: SortedList = SortedList()
        self.past: dict[bytes, list[Past]] = {}
        self.journal: deque[tuple[int, bytes]] = deque()
        self.readers: dict[int, int] = {}
        # The garbage collector can free a scan while the same thread holds the lock. A freed scan only
        # appends its version here, which needs no lock; the next call frees the values.
        self.released: deque[int] = deque()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Acquire the lock. Check that the handle is open, both before and after that.

        A fork can copy a held lock.
        """
        self.handle_state.check()
        with self.lock:
            self.handle_state.check()
            yield

    def open_reader(self) -> int:
        """Register a reader of the current version and return the number of this version."""
        with self.locked():
            self.readers[self.version] = self.readers.get(self.version, 0) + 1
            return self.version

    def read(self, key: bytes, version: int) -> bytes | None:
        """Return the value of `key` at `version`; the caller holds the lock."""
        for replaced_by, value in self.past.get(key, ()):
            if replaced_by > version:
                return value
        return self.values.get(key)

    def apply(self, batch: Batch) -> None:
        """Apply `batch` as the next version; the caller holds the lock."""
        self._collect()
        self.version += 1
        if self.readers:
            for key in batch.rows:
                self.past.setdefault(key, []).append((self.version, self.values.get(key)))
                self.journal.append((self.version, key))
        for key, value in batch.rows.items():
            if key not in self.values:
                if value is None and not self.readers:
                    continue
                self.order.add(key)
            self.values[key] = value
            if value is None and not self.readers:
                self._drop(key)

    def forget(self) -> None:
        """Drop all rows. The caller has already closed the handle."""
        with self.lock:
            self.values, self.past, self.order = {}, {}, SortedList()
            self.journal.clear()

    def _drop(self, key: bytes) -> None:
        del self.values[key]
        self.order.remove(key)

    def _collect(self) -> None:
        """Free the values that no reader can see any more; the caller holds the lock."""
        while self.released:
            version = self.released.popleft()
            self.readers[version] -= 1
            if not self.readers[version]:
                del self.readers[version]
        oldest = min(self.readers, default=self.version)
        while self.journal and self.journal[0][0] <= oldest:
            _, key = self.journal.popleft()
            values = self.past[key]
            del values[0]
            if not values:
                del self.past[key]
                if self.values[key] is None:
                    self._drop(key)


def _scan(rows: _Rows, version: int, start: bytes, end: bytes | None, reverse: bool) -> Iterator[Row]:
    """Yield the rows of `version`, fetched a chunk at a time. The caller keeps the version registered."""
    include = (True, False)
    while True:
        with rows.locked():
            keys = list(islice(rows.order.irange(start, end, include, reverse), _CHUNK_ROWS))
            rows_read = [(key, rows.read(key, version)) for key in keys]
        for key, value in rows_read:
            rows.handle_state.check()
            if value is not None:
                yield key, value
        if len(keys) < _CHUNK_ROWS:
            return
        if reverse:
            end = keys[-1]
        else:
            start, include = keys[-1], (False, False)


class _MemorySnapshot(Snapshot):
    def __init__(self, rows: _Rows) -> None:
        self._open = False
        self._rows = rows
        self._version = rows.open_reader()
        self._open = True

    def _check(self) -> None:
        if not self._open:
            raise BackendClosed("the snapshot is closed")
        self._rows.handle_state.check()

    def get(self, key: bytes) -> bytes | None:
        return self.multi_get([key])[0]

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        self._check()
        # One lock for all keys: commands in bulk read a row for each command.
        with self._rows.locked():
            return [self._rows.read(key, self._version) for key in keys]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        self._check()
        if end is not None and end <= start:
            return iter(())
        return self._scan(start, end, reverse)

    def _scan(self, start: bytes, end: bytes | None, reverse: bool) -> Iterator[Row]:
        for row in _scan(self._rows, self._version, start, end, reverse):
            self._check()
            yield row

    def close(self) -> None:
        if self._open:
            self._open = False
            self._rows.released.append(self._version)

    def __del__(self) -> None:
        self.close()


class MemoryBackend(Backend):
    """A store in memory. Its rows exist only as long as the handle.

    Opening a snapshot only registers a version number and copies nothing. A forked process cannot use the
    handle.
    """

    name = "memory"
    capabilities = Capabilities(durable=False, multi_process=False, persistent=False)

    def __init__(self) -> None:
        self._rows = _Rows()

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        rows = self._rows
        rows.handle_state.check()
        with rows.lock:
            rows.handle_state.check()
            return rows.values.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys` at one moment, in the same order."""
        rows = self._rows
        with rows.locked():
            return [rows.values.get(key) for key in keys]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, as they are at the time of the call.

        The snapshot that the iterator reads from stays open until the iterator ends.
        """
        return _MemorySnapshot(self._rows).scan(start, end, reverse=reverse)

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically. It is never durable, even if `durable` is true."""
        check_batch(batch)
        guards = guards_of(guard)
        rows = self._rows
        with rows.locked():
            check_guards(guards, rows.values.get)
            if batch.rows:
                try:
                    rows.apply(batch)
                except BaseException:
                    rows.handle_state.refusal = "the memory store is closed: a write was interrupted half-way"
                    raise

    def purge(self) -> bool:
        """Only check that the handle is open, because there are no files to rewrite."""
        self._rows.handle_state.check()
        return True

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current rows."""
        return _MemorySnapshot(self._rows)

    def close(self) -> None:
        """Close the handle and drop all rows."""
        self._rows.handle_state.shut(self._rows.forget)
