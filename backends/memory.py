"""Rows in memory: for tests, for scratch stores, and as the plainest reading of the contract."""

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
"""Rows a scan fetches under one hold of the lock."""

Past = tuple[int, bytes | None]
"""The version that replaced a value, and the value."""


class _Rows:
    """The rows of now, and of every version that somebody still reads. All under one lock.

    A snapshot is a version number. While one is open, a write keeps the value it replaces in
    `past`, and a deleted key stays in `order` with the value None; `journal` lists what was kept,
    oldest first, so that closing the oldest snapshot frees exactly what only it could see.
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
        # A scan can be freed by the garbage collector while this very thread holds the lock, so it
        # only leaves its version here; the next call clears up. deque.append needs no lock.
        self.left: deque[int] = deque()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The lock, and the handle open under it; before it too, as a fork can copy a lock that is held."""
        self.handle_state.check()
        with self.lock:
            self.handle_state.check()
            yield

    def open_reader(self) -> int:
        with self.locked():
            self.readers[self.version] = self.readers.get(self.version, 0) + 1
            return self.version

    def read(self, key: bytes, version: int) -> bytes | None:
        """The value of `key` at `version`; call it under the lock."""
        for replaced_by, value in self.past.get(key, ()):
            if replaced_by > version:
                return value
        return self.values.get(key)

    def apply(self, batch: Batch) -> None:
        """Make `batch` the next version; call it under the lock."""
        self._clear_up()
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
        """Drop all rows; the gate is shut already."""
        with self.lock:
            self.values, self.past, self.order = {}, {}, SortedList()
            self.journal.clear()

    def _drop(self, key: bytes) -> None:
        del self.values[key]
        self.order.remove(key)

    def _clear_up(self) -> None:
        """Forget what no reader can see any more; call it under the lock."""
        while self.left:
            version = self.left.popleft()
            self.readers[version] -= 1
            if not self.readers[version]:
                del self.readers[version]
        oldest = min(self.readers, default=self.version)
        while self.journal and self.journal[0][0] <= oldest:
            _, key = self.journal.popleft()
            kept = self.past[key]
            del kept[0]
            if not kept:
                del self.past[key]
                if self.values[key] is None:
                    self._drop(key)


def _scan(rows: _Rows, version: int, start: bytes, end: bytes | None, reverse: bool) -> Iterator[Row]:
    """Rows at `version`, a chunk at a time; whoever calls keeps the version open."""
    include = (True, False)
    while True:
        with rows.locked():
            keys = list(islice(rows.order.irange(start, end, include, reverse), _CHUNK_ROWS))
            found = [(key, rows.read(key, version)) for key in keys]
        for key, value in found:
            rows.handle_state.check()
            if value is not None:
                yield key, value
        if len(keys) < _CHUNK_ROWS:
            return
        if reverse:
            end = keys[-1]
        else:
            start, include = keys[-1], (False, False)


class _Snapshot(Snapshot):
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
        self._check()
        with self._rows.locked():
            return self._rows.read(key, self._version)

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
            self._rows.left.append(self._version)

    def __del__(self) -> None:
        self.close()


class MemoryBackend(Backend):
    """Rows that live as long as the handle, and no longer.

    Opening a snapshot takes a number and copies nothing. A forked process cannot use it.
    """

    name = "memory"
    capabilities = Capabilities(durable=False, multi_process=False, persistent=False)

    def __init__(self) -> None:
        self._rows = _Rows()

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        rows = self._rows
        rows.handle_state.check()
        with rows.lock:
            rows.handle_state.check()
            return rows.values.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` at one moment, in their order."""
        rows = self._rows
        with rows.locked():
            return [rows.values.get(key) for key in keys]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with start <= key < end as of the call; the scan keeps a snapshot until it ends."""
        return _Snapshot(self._rows).scan(start, end, reverse=reverse)

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; nothing is durable here, whatever `durable` says."""
        check_batch(batch)
        guards = guards_of(guard)
        rows = self._rows
        with rows.locked():
            check_guards(guards, rows.values.get)
            if batch.rows:
                rows.apply(batch)

    def purge(self) -> None:
        """Nothing to do but to look whether the handle is open: there are no files."""
        self._rows.handle_state.check()

    def snapshot(self) -> Snapshot:
        """The rows as they are now."""
        return _Snapshot(self._rows)

    def close(self) -> None:
        """Drop all rows."""
        self._rows.handle_state.shut(self._rows.forget)
