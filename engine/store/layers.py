"""Layers of changes over read-only rows: for dry runs, and for a store that cannot be written.

If the followers of a store lack events and cannot be updated, for instance on a full disk, they process the
missing events in a layer in main memory. The answers are the same as if the followers were up to date.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import merge
from itertools import groupby
from operator import itemgetter

from backends.base import (
    Backend,
    Batch,
    Capabilities,
    Guards,
    Reader,
    Row,
    Snapshot,
    check_batch,
    check_guards,
    guards_of,
)
from engine.followers.base import EntrySource, Follower, catch_up
from engine.ledger.journal import read_log

_DELETED = b"\x00"
_PUT = b"\x01"


class _LayeredReader(Reader):
    """A reader of two layers: a row of `upper` takes precedence over the row of `lower` with the same key."""

    def __init__(self, lower: Reader, upper: Reader) -> None:
        self._lower = lower
        self._upper = upper

    def get(self, key: bytes) -> bytes | None:
        marked = self._upper.get(key)
        if marked is None:
            return self._lower.get(key)
        return None if marked == _DELETED else marked[1:]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        upper = self._upper.scan(start, end, reverse=reverse)
        lower = ((key, _PUT + value) for key, value in self._lower.scan(start, end, reverse=reverse))
        # merge() is stable: of two rows with the same key, the row of the upper layer comes first.
        rows = groupby(merge(upper, lower, key=itemgetter(0), reverse=reverse), key=itemgetter(0))
        return ((key, marked[1:]) for key, layers in rows if (marked := next(layers)[1]) != _DELETED)


class _Snapshot(_LayeredReader, Snapshot):
    def __init__(self, lower: Reader, upper: Snapshot) -> None:
        super().__init__(lower, upper)
        self._opened = upper

    def close(self) -> None:
        self._opened.close()


class LayeredBackend(_LayeredReader, Backend):
    """A backend over read-only rows that stores changes in a separate layer. Only one process may use it."""

    name = "layers"
    capabilities = Capabilities(durable=False, multi_process=False, persistent=False)

    def __init__(self, lower: Reader, upper: Backend) -> None:
        super().__init__(lower, upper)
        self._written = upper
        self._lock = threading.Lock()

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Write rows to the layer of changes."""
        del durable
        check_batch(batch)
        marked = Batch()
        for key, value in batch.rows.items():
            marked.put(key, _DELETED if value is None else _PUT + value)
        with self._lock:
            check_guards(guards_of(guard), self.get)
            self._written.write(marked, durable=False)

    def purge(self) -> bool:
        """Only return True, because the layer of changes is temporary."""
        return True

    def snapshot(self) -> Snapshot:
        """Return a snapshot of both layers. While it is open, the read-only rows must not change."""
        return _Snapshot(self._lower, self._written.snapshot())

    def close(self) -> None:
        """Close the layer of changes. The read-only rows are closed by their owner."""
        self._written.close()


class _Layer:
    """A layer over one snapshot, and the number of views that use it."""

    def __init__(self, snapshot: Snapshot) -> None:
        from backends.memory import MemoryBackend  # few processes need it

        self.snapshot = snapshot
        self.head = read_log(snapshot).row
        self.backend = LayeredBackend(snapshot, MemoryBackend())
        self.users = 0


class MissingRows:
    """The layer that successive views share until the journal grows or `drop` is called. Thread-safe.

    While the layer exists, it keeps a snapshot of the store open.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._layer: _Layer | None = None

    @contextmanager
    def view(
        self, backend: Backend, followers: Sequence[Follower], source: EntrySource
    ) -> Iterator[Snapshot]:
        """Yield a snapshot in which all `followers` reflect every event of the journal.

        Args:
            backend: The store, which is only read.
            followers: New follower objects, which no other store uses.
            source: As for `catch_up`.
        """
        with self._lock:
            layer = self._current(backend)
            layer.users += 1
            try:
                for follower in followers:
                    catch_up(layer.backend, follower, source)
            except BaseException:
                self._release(layer)
                raise
        try:
            with layer.backend.snapshot() as rows:
                yield rows
        finally:
            with self._lock:
                self._release(layer)

    def drop(self) -> None:
        """Close the snapshot of the layer as soon as no view uses it."""
        with self._lock:
            self._retire()

    def _current(self, backend: Backend) -> _Layer:
        if self._layer is None or read_log(backend).row != self._layer.head:
            self._retire()
            self._layer = _Layer(backend.snapshot())
        return self._layer

    def _retire(self) -> None:
        layer, self._layer = self._layer, None
        if layer is not None and not layer.users:
            layer.snapshot.close()

    def _release(self, layer: _Layer) -> None:
        layer.users -= 1
        if not layer.users and layer is not self._layer:
            layer.snapshot.close()
