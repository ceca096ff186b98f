"""A temporary store for a replay. It reads headers and payloads from the store that is being verified.

A replay checks every header and payload before it uses them, so copying them would only take time and disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.base import Backend, Batch, Guards, Reader, Row, Snapshot
from engine.ledger.layout import JOURNAL, PAYLOAD

_RAW = (JOURNAL, PAYLOAD)


class _Routed(Reader):
    """Reads headers and payloads from `source`, and all other rows from `own`."""

    def __init__(self, own: Reader, source: Reader) -> None:
        self._own = own
        self._source = source

    def get(self, key: bytes) -> bytes | None:
        return (self._source if key.startswith(_RAW) else self._own).get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        if any(key.startswith(_RAW) for key in keys):
            return [self.get(key) for key in keys]
        return self._own.multi_get(keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield rows in key order. A scan that begins in one of the two families must end there."""
        return (self._source if start.startswith(_RAW) else self._own).scan(start, end, reverse=reverse)


class _RoutedSnapshot(_Routed, Snapshot):
    def __init__(self, own: Snapshot, source: Reader) -> None:
        super().__init__(own, source)
        self._snapshot = own

    def close(self) -> None:
        self._snapshot.close()


class ReplayBackend(_Routed, Backend):
    """The rows that a replay writes to `scratch`, together with the headers and payloads of `source`."""

    def __init__(self, scratch: Backend, source: Reader) -> None:
        """Create a store without events. `source` must stay open, and must not change."""
        super().__init__(scratch, source)
        self.name, self.capabilities = scratch.name, scratch.capabilities
        self._scratch = scratch

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Write to the scratch store, never durably."""
        self._scratch.write(batch, guard=guard, durable=False)

    def purge(self) -> bool:
        """Only return True, because the scratch store is deleted."""
        return True

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the scratch store, together with the headers and payloads of the source."""
        return _RoutedSnapshot(self._scratch.snapshot(), self._source)

    def close(self) -> None:
        """Do nothing: whoever opened the scratch store closes it."""
