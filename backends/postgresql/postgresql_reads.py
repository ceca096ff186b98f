"""Reads from a memory in PostgreSQL: single rows, many rows, snapshots, and the cache of rows."""

from __future__ import annotations

import contextlib
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import psycopg

from backends.base import AFTER_ALL_KEYS, Row, prefix_end
from backends.databases import check_row
from backends.handle_state import HandleState
from backends.postgresql import postgresql_sql as sql
from backends.postgresql.postgresql_connections import Connection
from backends.postgresql.postgresql_errors import convert
from backends.snapshots import TransactionSnapshot

PAGE_ROWS: Final = 256
"""The number of rows that a scan fetches first."""

PAGE_ROWS_MAX: Final = 8192
PAGE_BYTES: Final = 1 << 22
"""The size of the pages that a scan fetches, in bytes, estimated from the sizes of its last rows."""

KEPT_BYTES_MAX: Final = 1 << 21
"""The largest number of bytes of cached keys and values. The oldest rows are dropped first."""

VALUE_BYTES_MAX: Final = 1 << 16
"""Larger values are not cached, and neither are scans with more bytes."""

_SCANS_MAX: Final = 64

_ROW_BYTES: Final = 160
"""The approximate number of bytes that a cached row takes in main memory, in addition to its key and
value."""

Range = tuple[bytes, bytes | None, bool]
"""A scan: the start, the end, and whether it is reversed."""


class Begun(NamedTuple):
    """An open transaction that reads."""

    connection: Connection
    state: State
    """The state of the memory in the transaction."""
    values: list[bytes | None]
    """The values of the requested keys."""


class Rows:
    """The statements that read one memory. Every row is compared with its checksum.

    Args:
        where: The address of the memory, for messages.
        memory: The number of the memory.
    """

    def __init__(self, where: str, memory: int) -> None:
        self.where = where
        self.memory = memory

    def begin(self, connection: Connection, keys: Sequence[bytes]) -> Begun | None:
        """Begin a transaction that reads the current rows, and read `keys` in the same round trip.

        Returns:
            The transaction; None if the memory was deleted. Then the transaction is open, too.
        """
        with connection.pipeline():
            connection.execute(sql.BEGIN_READING)
            named = [str(self.memory), sql.TOKEN_BYTES, self.memory]
            entered = self._run(connection, sql.ENTER_MEMORY, named)
            rows = self._run(connection, sql.GET_MANY, [self.memory, list(set(keys))]) if keys else ()
        state = entered.fetchone()
        if state is None:
            return None
        return Begun(connection, State(state[1], state[2]), self._values(keys, rows))

    def get(self, connection: Connection, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        row = self._run(connection, sql.GET, [self.memory, key]).fetchone()
        return None if row is None else self._value(key, *row)

    def get_many(self, connection: Connection, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order."""
        if len(keys) < 2:
            return [self.get(connection, key) for key in keys]
        return self._values(keys, self._run(connection, sql.GET_MANY, [self.memory, list(set(keys))]))

    def page(
        self, connection: Connection, start: bytes, end: bytes | None, most: int, *, reverse: bool
    ) -> list[Row]:
        """Return the first `most` rows with start <= key < end, or the last ones in reverse order."""
        statement = sql.SCAN_BACK if reverse else sql.SCAN
        rows = self._run(connection, statement, [self.memory, start, end or AFTER_ALL_KEYS, most])
        return [(key, self._value(key, value, summed)) for key, value, summed in rows]

    def keys(self, connection: Connection, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        end = prefix_end(prefix) or AFTER_ALL_KEYS
        keys = self._run(connection, sql.KEYS, [self.memory, prefix, end, limit])
        return [key for (key,) in keys]

    def _values(self, keys: Sequence[bytes], found: Iterable[Any]) -> list[bytes | None]:
        values = {key: self._value(key, value, summed) for key, value, summed in found}
        return [values.get(key) for key in keys]

    def _run(self, connection: Connection, statement: Any, values: Sequence[object]) -> Any:
        return connection.execute(statement, values, binary=True)

    def _value(self, key: bytes, value: Any, summed: Any) -> bytes:
        check_row(self.where, key, value, summed)
        return cast("bytes", value)  # `check_row` has refused everything else


class PostgreSQLSnapshot(TransactionSnapshot[Connection]):
    """A snapshot of a memory.

    Args:
        handle_state: The state of the store's handle.
        rows: The rows of the memory.
        begun: An open transaction on a connection that only this snapshot uses.
        cache: The rows that the handle keeps.
        give_back: The function that returns the connection to the pool.
    """

    def __init__(
        self,
        handle_state: HandleState,
        rows: Rows,
        begun: Begun,
        cache: RowCache,
        give_back: Callable[[Connection], None],
    ) -> None:
        super().__init__(handle_state, begun.connection, give_back)
        self._rows = rows
        self._state = begun.state
        self._cache = cache

    @contextlib.contextmanager
    def _converted(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise convert(self._rows.where, error) from error

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        return self.multi_get((key,))[0]

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order. Cached rows are not fetched again."""
        self.check()
        cached = {} if self.from_store else self._cache.find(self._state, keys)
        missing = [key for key in keys if key not in cached]
        if missing:
            with self.using() as connection:
                fetched = dict(zip(missing, self._rows.get_many(connection, missing), strict=True))
            cached.update(fetched)
            self._cache.keep(self._state, fetched)
        return [cached[key] for key in keys]

    def keys(self, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        with self.using() as connection:
            return self._rows.keys(connection, prefix, limit)

    def scan_and_close(self, start: bytes, end: bytes | None, *, reverse: bool) -> Iterator[Row]:
        """Return an iterator like `scan`, whose end closes the snapshot; a short scan closes it at once."""
        self.check()
        if end is None or end > start:
            with self.using() as connection:
                first = self._rows.page(connection, start, end, PAGE_ROWS, reverse=reverse)
            if len(first) < PAGE_ROWS:
                self.close()
                return self._checked(first)
        return self.rows(start, end, reverse=reverse, close=True)

    def _checked(self, rows: Sequence[Row]) -> Iterator[Row]:
        for row in rows:
            self._handle_state.check()
            yield row

    def _chunks(
        self, connection: Connection, start: bytes, end: bytes | None, *, reverse: bool
    ) -> Iterator[list[Row]]:
        most, wanted = PAGE_ROWS, (start, end, reverse)
        cached = None if self.from_store else self._cache.find_scan(self._state, wanted)
        if cached is not None:
            yield cached
            return
        while True:
            page = self._rows.page(connection, start, end, most, reverse=reverse)
            if len(page) < most and wanted == (start, end, reverse):
                self._cache.keep_scan(self._state, wanted, page)
            yield page
            if len(page) < most:
                return
            last = page[-1][0]
            start, end = (start, last) if reverse else (last + b"\x00", end)
            size = sum(len(key) + len(value) for key, value in page) // len(page) + 1
            most = max(1, min(PAGE_ROWS_MAX, PAGE_BYTES // size, 4 * most))

    def _end_scan(self, chunks: Iterator[list[Row]]) -> None:
        """Do nothing: between two pages, a scan holds nothing."""

    def _end(self, connection: Connection) -> None:
        self._give_back(connection)


class State(NamedTuple):
    """A state of a memory."""

    writes: int
    """The number of writes so far."""
    token: bytes
    """The token of the last write; empty before the first write."""


class RowCache:
    """A cache of the rows of one state of a memory, so that they need not be fetched again.

    It is thread-safe.

    Each write to a memory counts up and leaves a random token, in the transaction of the write. Both together
    name a *state* of the memory: rows that were read in one state are the rows of every snapshot with the
    same state. A snapshot reads the state when it begins. So a kept row is never older than the snapshot,
    whoever writes, and the rows that followers and recall read over and over are fetched once. A write of the
    handle itself leads from one state to the next, and the rows that it does not change stay known.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._rows: dict[bytes, bytes | None] = {}
        self._scans: dict[Range, list[Row]] = {}
        self._bytes = 0

    def enter(self, state: State) -> None:
        """Cache rows of `state` from now on, unless newer rows are cached."""
        with self._lock:
            if self._state is None or (state != self._state and state.writes >= self._state.writes):
                self._begin(state)

    def _begin(self, state: State | None) -> None:
        self._state = state
        self._rows.clear()
        self._scans.clear()
        self._bytes = 0

    def find(self, state: State, keys: Iterable[bytes]) -> dict[bytes, bytes | None]:
        """Return the cached rows among `keys`; None stands for a row that does not exist."""
        with self._lock:
            if state != self._state:
                return {}
            rows = self._rows
            return {key: rows[key] for key in keys if key in rows}

    def keep(self, state: State, rows: Mapping[bytes, bytes | None]) -> None:
        """Cache rows that were read in `state`."""
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
        """Return all rows of a scan, or None if they are not cached."""
        with self._lock:
            return self._scans.get(wanted) if state == self._state else None

    def keep_scan(self, state: State, wanted: Range, rows: list[Row]) -> None:
        """Cache all rows of a scan in `state`. The list must not change afterwards."""
        if sum(_ROW_BYTES + len(key) + len(value) for key, value in rows) > VALUE_BYTES_MAX:
            return
        with self._lock:
            if state == self._state:
                if len(self._scans) >= _SCANS_MAX:
                    del self._scans[next(iter(self._scans))]
                self._scans[wanted] = rows

    def wrote(self, before: State, after: State, rows: Mapping[bytes, bytes | None]) -> None:
        """Move the cache from the state `before` to the state `after`, which differ in `rows` only."""
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
        """Empty the cache, and cache nothing until the next snapshot begins."""
        with self._lock:
            self._begin(None)


def _reaches(wanted: Range, changed: Sequence[bytes]) -> bool:
    """Return True if one of the sorted keys `changed` is in the range of a scan."""
    start, end, _ = wanted
    at = bisect_left(changed, start)
    return at < len(changed) and (end is None or changed[at] < end)
