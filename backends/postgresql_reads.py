"""Reads from a memory in PostgreSQL: single rows, many rows, and snapshots."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

import psycopg

from backends import postgresql_sql as sql
from backends.base import Row, Snapshot, prefix_end
from backends.checksum import check_row
from backends.errors import BackendClosed
from backends.handle_state import HandleState
from backends.postgresql_address import Connection
from backends.postgresql_errors import convert
from backends.postgresql_kept import KeptRows, State

PAGE_ROWS: Final = 256
"""The number of rows that a scan fetches first."""

PAGE_ROWS_MAX: Final = 8192
PAGE_BYTES: Final = 1 << 22
"""A scan fetches as many rows at a time as would have this many bytes, judging by its last rows."""

_OPENED: Row = (b"", b"")


class Begun(NamedTuple):
    """An open transaction that reads."""

    connection: Connection
    state: State
    """The state of the memory in the transaction."""
    values: list[bytes | None]
    """The values of the keys that were asked for."""


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
        """Begin a transaction that reads the rows as they are now, and read `keys` in the same round trip.

        Returns:
            The transaction; None if the memory was deleted. Then the transaction is open, too.
        """
        with connection.pipeline():
            connection.execute(sql.BEGIN_READING)
            named = [str(self.memory), sql.TOKEN_BYTES, self.memory]
            entered = self._run(connection, sql.ENTER_MEMORY, named)
            found = self._run(connection, sql.GET_MANY, [self.memory, list(set(keys))]) if keys else ()
        state = entered.fetchone()
        if state is None:
            return None
        return Begun(connection, State(state[1], state[2]), self._values(keys, found))

    def get(self, connection: Connection, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        found = self._run(connection, sql.GET, [self.memory, key]).fetchone()
        return None if found is None else self._value(key, *found)

    def get_many(self, connection: Connection, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order."""
        if len(keys) < 2:
            return [self.get(connection, key) for key in keys]
        return self._values(keys, self._run(connection, sql.GET_MANY, [self.memory, list(set(keys))]))

    def page(
        self, connection: Connection, start: bytes, end: bytes | None, most: int, *, reverse: bool
    ) -> list[Row]:
        """Return the first `most` rows with start <= key < end, or the last ones in reverse order."""
        if end is None:
            statement = sql.SCAN_BACK if reverse else sql.SCAN
            found = self._run(connection, statement, [self.memory, start, most])
        else:
            statement = sql.SCAN_BACK_TO if reverse else sql.SCAN_TO
            found = self._run(connection, statement, [self.memory, start, end, most])
        return [(key, self._value(key, value, summed)) for key, value, summed in found]

    def keys(self, connection: Connection, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        end = prefix_end(prefix)
        if end is None:
            found = self._run(connection, sql.KEYS, [self.memory, prefix, limit])
        else:
            found = self._run(connection, sql.KEYS_TO, [self.memory, prefix, end, limit])
        return [key for (key,) in found]

    def _values(self, keys: Sequence[bytes], found: Iterable[Any]) -> list[bytes | None]:
        values = {key: self._value(key, value, summed) for key, value, summed in found}
        return [values.get(key) for key in keys]

    def _run(self, connection: Connection, statement: Any, values: Sequence[object]) -> Any:
        return connection.execute(statement, values, binary=True)

    def _value(self, key: bytes, value: Any, summed: Any) -> bytes:
        check_row(self.where, key, value, summed)
        return cast("bytes", value)  # `check_row` has refused everything else


class PostgreSQLSnapshot(Snapshot):
    """A snapshot, which is a transaction that reads. A lock ensures that it does not end during a read.

    Args:
        handle_state: The state of the store's handle.
        rows: The rows of the memory.
        begun: An open transaction on a connection that only this snapshot uses.
        kept: The rows that the handle keeps.
        give_back: The function that returns the connection to the pool.
    """

    def __init__(
        self,
        handle_state: HandleState,
        rows: Rows,
        begun: Begun,
        kept: KeptRows,
        give_back: Callable[[Connection], None],
    ) -> None:
        self._handle_state = handle_state
        self._rows = rows
        self._state = begun.state
        self._kept = kept
        self._give_back = give_back
        self._connection: Connection | None = begun.connection
        self._using = threading.Lock()

    def check(self) -> None:
        """Raise BackendClosed if the snapshot or the store is closed."""
        self._handle_state.check()
        if self._connection is None:
            raise BackendClosed("the snapshot is closed")

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        """Yield the connection for one call inside `HandleState`, and convert the exceptions of psycopg."""
        with self._handle_state.inside(), self._using:
            if self._connection is None:
                raise BackendClosed("the snapshot is closed")
            try:
                yield self._connection
            except psycopg.Error as error:
                raise convert(self._rows.where, error) from error

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        return self.multi_get((key,))[0]

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order. Rows that the handle keeps are not fetched again."""
        self.check()
        found = {} if self.from_store else self._kept.find(self._state, keys)
        missing = [key for key in keys if key not in found]
        if missing:
            with self._borrowed() as connection:
                fetched = dict(zip(missing, self._rows.get_many(connection, missing), strict=True))
            found.update(fetched)
            self._kept.keep(self._state, fetched)
        return [found[key] for key in keys]

    def keys(self, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        with self._borrowed() as connection:
            return self._rows.keys(connection, prefix, limit)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, fetched some rows at a time."""
        self.check()
        if end is not None and end <= start:
            return iter(())
        kept = None if self.from_store else self._kept.find_scan(self._state, (start, end, reverse))
        return self._scan(start, end, reverse, []) if kept is None else self._open_rows(kept)

    def scan_and_close(self, start: bytes, end: bytes | None, *, reverse: bool) -> Iterator[Row]:
        """Return an iterator like `scan`, whose end closes the snapshot; a short scan closes it at once."""
        self.check()
        if end is not None and end <= start:
            self.close()
            return iter(())
        with self._borrowed() as connection:
            first = self._rows.page(connection, start, end, PAGE_ROWS, reverse=reverse)
        if len(first) < PAGE_ROWS:
            self.close()
            return self._checked(first)
        rows = self._closing(start, end, reverse, first)
        # Run to the first yield, because the cleanup of a generator runs only if it has started.
        next(rows)
        return rows

    def _checked(self, rows: Sequence[Row]) -> Iterator[Row]:
        for row in rows:
            self._handle_state.check()
            yield row

    def _open_rows(self, rows: Sequence[Row]) -> Iterator[Row]:
        for row in rows:
            self.check()
            yield row

    def _closing(self, start: bytes, end: bytes | None, reverse: bool, first: list[Row]) -> Iterator[Row]:
        try:
            yield _OPENED
            yield from self._scan(start, end, reverse, first)
        finally:
            self.close()

    def _scan(self, start: bytes, end: bytes | None, reverse: bool, page: list[Row]) -> Iterator[Row]:
        most, wanted = PAGE_ROWS, (start, end, reverse)
        while True:
            if not page:
                with self._borrowed() as connection:
                    page = self._rows.page(connection, start, end, most, reverse=reverse)
                if len(page) < most and wanted == (start, end, reverse):
                    self._kept.keep_scan(self._state, wanted, page)
            for row in page:
                self.check()
                yield row
            if len(page) < most:
                return
            last = page[-1][0]
            start, end = (start, last) if reverse else (last + b"\x00", end)
            size = sum(len(key) + len(value) for key, value in page) // len(page) + 1
            most, page = max(1, min(PAGE_ROWS_MAX, PAGE_BYTES // size, 4 * most)), []

    def close(self) -> None:
        """End the transaction; open scans raise BackendClosed."""
        with contextlib.suppress(BackendClosed), self._handle_state.inside(), self._using:
            connection, self._connection = self._connection, None
            if connection is not None:
                self._give_back(connection)

    def __del__(self) -> None:
        self.close()
