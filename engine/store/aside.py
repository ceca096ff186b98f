"""Reading a store whose followers lack events and cannot be updated, for instance on a full disk.

The followers process the missing events in a layer in main memory over a snapshot of the store. The answers
are the same as if the followers were up to date.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from backends.base import Backend, Snapshot
from engine.followers.base import EntrySource, Follower, catch_up
from engine.ledger.journal import read_log
from engine.store.layers import LayeredBackend


class _Layer:
    """A layer over one snapshot, and the number of views that use it."""

    def __init__(self, snapshot: Snapshot) -> None:
        from backends.memory import MemoryBackend  # imported here because few processes need it

        self.snapshot = snapshot
        self.head = read_log(snapshot).row
        self.backend = LayeredBackend(snapshot, MemoryBackend())
        self.users = 0


class Aside:
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
