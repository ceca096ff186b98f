"""The rows that a handle on a memory in PostgreSQL keeps, so that it need not ask the server for them again.

Each write to a memory counts up and leaves a random token, in the transaction of the write. Both together
name a *state* of the memory: rows that were read in one state are the rows of every snapshot with the same
state. A snapshot reads the state when it begins. So a kept row is never older than the snapshot, whoever
writes, and the rows that followers and recall read over and over are fetched once. A write of the handle
itself leads from one state to the next, and the rows that it does not change stay known.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from backends.base import Row

KEPT_BYTES_MAX: Final = 1 << 21
"""The largest number of bytes of kept keys and values. The rows that were kept first are dropped first."""

VALUE_BYTES_MAX: Final = 1 << 16
"""Larger values are not kept, nor are scans that have more bytes."""

_SCANS_MAX: Final = 64
_ROW_BYTES: Final = 160
"""What a kept row takes in main memory beside its key and value, roughly."""

Range = tuple[bytes, bytes | None, bool]
"""A scan: the start, the end, and whether it is reversed."""


class State(NamedTuple):
    """A state of a memory."""

    writes: int
    """The number of writes so far."""
    token: bytes
    """The token of the last write; empty before the first write."""


class KeptRows:
    """Rows of one state of a memory. It is thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._rows: dict[bytes, bytes | None] = {}
        self._scans: dict[Range, list[Row]] = {}
        self._bytes = 0

    def enter(self, state: State) -> None:
        """Keep rows of `state` from now on, unless newer ones are kept."""
        with self._lock:
            if self._state is None or (state != self._state and state.writes >= self._state.writes):
                self._begin(state)

    def _begin(self, state: State | None) -> None:
        self._state = state
        self._rows.clear()
        self._scans.clear()
        self._bytes = 0

    def find(self, state: State, keys: Iterable[bytes]) -> dict[bytes, bytes | None]:
        """Return the kept rows among `keys`; None stands for a row that does not exist."""
        with self._lock:
            if state != self._state:
                return {}
            rows = self._rows
            return {key: rows[key] for key in keys if key in rows}

    def keep(self, state: State, rows: Mapping[bytes, bytes | None]) -> None:
        """Keep rows that were read in `state`."""
        with self._lock:
            if state == self._state:
                self._add(rows)

    def _add(self, rows: Mapping[bytes, bytes | None]) -> None:
        for key, value in rows.items():
            self._forget(key)
            size = 0 if value is None else len(value)
            if size <= VALUE_BYTES_MAX:
                self._rows[key] = value
                self._bytes += _ROW_BYTES + len(key) + size
        while self._bytes > KEPT_BYTES_MAX:
            self._forget(next(iter(self._rows)))

    def _forget(self, key: bytes) -> None:
        if key in self._rows:
            value = self._rows.pop(key)
            self._bytes -= _ROW_BYTES + len(key) + (0 if value is None else len(value))

    def find_scan(self, state: State, wanted: Range) -> list[Row] | None:
        """Return all rows of a scan, or None if they are not kept."""
        with self._lock:
            return self._scans.get(wanted) if state == self._state else None

    def keep_scan(self, state: State, wanted: Range, rows: list[Row]) -> None:
        """Keep all rows of a scan in `state`. The list must not change afterwards."""
        if sum(_ROW_BYTES + len(key) + len(value) for key, value in rows) > VALUE_BYTES_MAX:
            return
        with self._lock:
            if state == self._state:
                if len(self._scans) >= _SCANS_MAX:
                    del self._scans[next(iter(self._scans))]
                self._scans[wanted] = rows

    def wrote(self, before: State, after: State, rows: Mapping[bytes, bytes | None]) -> None:
        """Go from the state `before` to the state `after`, which differ in `rows` only."""
        with self._lock:
            if before == self._state:
                self._state = after
                self._add(rows)
                changed = sorted(rows)
                for wanted in [one for one in self._scans if _reaches(one, changed)]:
                    del self._scans[wanted]
            elif self._state is None or after.writes > self._state.writes:
                self._begin(after)
                self._add(rows)

    def clear(self) -> None:
        """Keep nothing until the next snapshot begins."""
        with self._lock:
            self._begin(None)


def _reaches(wanted: Range, changed: Sequence[bytes]) -> bool:
    """Return True if one of the sorted keys `changed` is in the range of a scan."""
    start, end, _ = wanted
    at = bisect_left(changed, start)
    return at < len(changed) and (end is None or changed[at] < end)
