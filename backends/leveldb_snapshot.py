"""Snapshots of a LevelDB store. They use private methods of the backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from backends.base import Row, Snapshot
from backends.errors import BackendClosed

if TYPE_CHECKING:
    from backends.leveldb import LevelDBBackend


class LevelDBSnapshot(Snapshot):
    """A snapshot of a LevelDB store.

    `close` only drops the reference to plyvel's snapshot. A call that runs in another thread still holds a
    reference, so plyvel releases its snapshot when the last call has ended. While the handle is being closed,
    the reference is kept: plyvel then releases all snapshots itself, and crashes if another thread releases a
    snapshot at the same time.
    """

    def __init__(self, backend: LevelDBBackend, source: Any) -> None:
        self.refusal: str | None = None
        self._backend = backend
        self._source = source
        backend._live.add(source)

    def _checked(self) -> Any:
        source = self._source
        if source is None or self.refusal is not None:
            raise BackendClosed("the snapshot is closed")
        return source

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        return self._backend._get(self._checked(), key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order."""
        return self._backend._multi_get(self._checked(), keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, fetched a few rows at a time."""
        return self._backend._scan(self._checked(), self, start, end, reverse)

    def close(self) -> None:
        """Release the snapshot; open scans raise BackendClosed."""
        self.refusal = "the snapshot is closed"
        if self._source is not None:
            handle_state = self._backend._handle_state
            try:
                handle_state.enter()
            except BackendClosed:
                return
            try:
                self._backend._live.discard(self._source)
                self._source = None
            finally:
                handle_state.leave()

    def __del__(self) -> None:
        self.close()
