"""Reading rows of a SQLite store, with a check of every row.

SQLite does not notice a changed byte in a key or a value. Each row that is read is compared with its
checksum. A changed key also hides rows: a search that reaches the changed key may continue on the wrong side,
and then ends next to the changed key. Therefore, if a search finds no row, the two rows next to the place
where the search ended are checked. For a scan, the rows before and after the range are checked.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from backends.base import Row
from backends.databases import check_row
from backends.errors import BackendBusy, BackendCorrupt
from backends.handle_state import HandleState
from backends.snapshots import TransactionSnapshot
from backends.sqlite.sqlite_connections import converted
from backends.sqlite.sqlite_tables import KEYS_PER_QUERY, Statements

FIRST_KEY = b"\0"
"""The smallest key that callers can use."""

_ROWS_MIN, _ROWS_MAX = 4, 32
"""The numbers of rows that a scan fetches: in its first step, and at most in one step."""


class Rows:
    """The rows of one table, read and checked.

    Args:
        where: The store's name in messages.
        sql: The SQL statements on the table.
    """

    __slots__ = ("sql", "where")

    def __init__(self, where: str, sql: Statements) -> None:
        self.where = where
        self.sql = sql

    def begin(self, connection: sqlite3.Connection) -> None:
        """Read one row. From then on, the transaction of `connection` sees the rows of this moment."""
        connection.execute(self.sql.get, (b"",)).fetchone()

    def get(self, connection: sqlite3.Connection, key: bytes, *, confirm: bool = True) -> bytes | None:
        """Return the value of `key` in the transaction of `connection`, or None.

        With `confirm`, check that damage does not hide the row.

        Raises:
            BackendCorrupt: the row or a row next to it is damaged.
        """
        if not key:
            return None  # the backend's own row
        row = connection.execute(self.sql.get, (key,)).fetchone()
        if row is None:
            if confirm:
                self.confirm_missing(connection, key)
            return None
        value: bytes = row[0]
        check_row(self.where, key, value, row[1])
        return value

    def get_many(
        self, connection: sqlite3.Connection, keys: Sequence[bytes], *, confirm: bool = True
    ) -> list[bytes | None]:
        """Return the values of `keys`, with one query for each hundred keys. `confirm` is as for `get`.

        The last query is padded, so that SQLite compiles only one statement.

        Raises:
            BackendCorrupt: one of the rows, or a row next to a missing row, is damaged.
        """
        values: dict[bytes, bytes] = {}
        for at in range(0, len(keys), KEYS_PER_QUERY):
            some = keys[at : at + KEYS_PER_QUERY]
            if len(some) < 8:
                for key in some:
                    value = self.get(connection, key, confirm=False)
                    if value is not None:
                        values[key] = value
                continue
            padded = [*some, *[some[-1]] * (KEYS_PER_QUERY - len(some))]
            for key, value, checksum in connection.execute(self.sql.get_many, padded):
                check_row(self.where, key, value, checksum)
                values[key] = value
        values.pop(b"", None)
        if confirm and len(values) < len(keys):
            for key in dict.fromkeys(keys):
                if key not in values:
                    self.confirm_missing(connection, key)
        return [values.get(key) for key in keys]

    def confirm_missing(self, connection: sqlite3.Connection, key: bytes) -> None:
        """Check the two rows next to the place where the row of `key` would be.

        Raises:
            BackendCorrupt: one of them is damaged.
        """
        for near, value, checksum in connection.execute(self.sql.around, (key,)):
            check_row(self.where, near, value, checksum)

    def scan(
        self,
        connection: sqlite3.Connection,
        start: bytes,
        end: bytes | None,
        *,
        reverse: bool,
        confirm: bool = True,
    ) -> tuple[sqlite3.Cursor, Iterator[list[Row]]]:
        """Return a started cursor, and an iterator over lists of checked rows with start <= key < end.

        Each step of the iterator reads from the cursor. The cursor itself has no bound at the end of the
        range. With `confirm`, the rows before and after the range are checked, too, because damage may have
        moved them out of the range.

        Raises:
            BackendCorrupt: a row is damaged or not in order. Each step of the iterator can raise this.
        """
        sql = self.sql
        start = start or FIRST_KEY
        first: tuple[bytes, ...]
        if not reverse:
            statement, first = sql.up, (start,)
        elif end is None:
            statement, first = sql.all_down, ()
        else:
            statement, first = sql.down, (end,)
        if confirm and first:
            self._check_row_before(connection, sql.up if reverse else sql.down, first)
        cursor = connection.execute(statement, first)
        return cursor, self._chunks(cursor, start, end, reverse, confirm)

    def _check_row_before(
        self, connection: sqlite3.Connection, backwards: str, first: tuple[bytes, ...]
    ) -> None:
        """Check the row in front of a scan that begins at the key `first`."""
        row = connection.execute(f"{backwards} LIMIT 1", first).fetchone()
        if row is not None:
            check_row(self.where, *row)

    def _chunks(
        self, cursor: sqlite3.Cursor, start: bytes, end: bytes | None, reverse: bool, confirm: bool
    ) -> Iterator[list[Row]]:
        where, count = self.where, _ROWS_MIN
        last: bytes | None = None
        while True:
            raw = cursor.fetchmany(count)
            chunk: list[Row] = []
            for key, value, checksum in raw:
                try:
                    outside = key < start if reverse else end is not None and key >= end
                except TypeError:  # a damaged key may be a number, a text or NULL
                    raise self._misplaced(key) from None
                if outside:
                    if confirm:
                        check_row(where, key, value, checksum)
                    yield chunk
                    return
                check_row(where, key, value, checksum)
                if last is not None and (key >= last if reverse else key <= last):
                    raise self._misplaced(key)
                last = key
                chunk.append((key, value))
            yield chunk
            if len(raw) < count:
                return
            count = min(2 * count, _ROWS_MAX)

    def keys(self, connection: sqlite3.Connection, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`. The values are not read.

        Raises:
            BackendCorrupt: a key is not in order, or the keys before and after the returned keys are not in
                their places.
        """
        keys: list[bytes] = []
        start = prefix or FIRST_KEY
        before = connection.execute(f"{self.sql.down} LIMIT 1", (start,)).fetchone()
        self._check_place(connection, None if before is None else before[0])
        last = b""
        for (key,) in connection.execute(self.sql.keys, (start, limit)):
            if type(key) is not bytes:
                raise self._misplaced(key)
            if not key.startswith(prefix):
                self._check_place(connection, key)
                break
            if key <= last:
                raise self._misplaced(key)
            last = key
            keys.append(key)
        return keys

    def _check_place(self, connection: sqlite3.Connection, key: bytes | None) -> None:
        """Raise BackendCorrupt if a search does not find the row of a key that was read from the table."""
        if key is not None and connection.execute(self.sql.get, (key,)).fetchone() is None:
            raise self._misplaced(key)

    def _misplaced(self, key: bytes) -> BackendCorrupt:
        # Without `key`: a row that is not found by its key cannot be deleted or replaced.
        return BackendCorrupt(f"{self.where} is damaged: the row {ascii(key)[:80]} is not in its place")


def vacuum(writer: sqlite3.Connection, where: str) -> None:
    """Rewrite the database without deleted bytes, and empty the WAL.

    Raises:
        BackendBusy: an open snapshot or scan still needs older pages.
        BackendError: SQLite failed; nothing is lost.
    """
    with converted(where):
        writer.execute("VACUUM")
        busy, *_ = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise BackendBusy(where, "an open snapshot or scan")


class SQLiteSnapshot(TransactionSnapshot[sqlite3.Connection]):
    """A snapshot of a SQLite store.

    Args:
        handle_state: The state of the store's handle.
        rows: The rows of the store's table.
        reader: A connection with an open read transaction, used by this snapshot only.
        return_reader: The function that returns the connection to the store after the end of the transaction.
    """

    def __init__(
        self,
        handle_state: HandleState,
        rows: Rows,
        reader: sqlite3.Connection,
        return_reader: Callable[[sqlite3.Connection], None],
    ) -> None:
        super().__init__(handle_state, reader, return_reader)
        self._table = rows
        self.cursors: dict[Iterator[list[Row]], sqlite3.Cursor] = {}
        """The open scans, each with its cursor."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        with self.using() as reader:
            return self._table.get(reader, key, confirm=self.confirm_missing)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order."""
        with self.using() as reader:
            return self._table.get_many(reader, keys, confirm=self.confirm_missing)

    def keys(self, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        with self.using() as reader:
            return self._table.keys(reader, prefix, limit)

    def _converted(self) -> contextlib.AbstractContextManager[None]:
        return converted(self._handle_state.where)

    def _chunks(
        self, connection: sqlite3.Connection, start: bytes, end: bytes | None, *, reverse: bool
    ) -> Iterator[list[Row]]:
        cursor, chunks = self._table.scan(
            connection, start, end, reverse=reverse, confirm=self.confirm_missing
        )
        self.cursors[chunks] = cursor
        return chunks

    def _end_scan(self, chunks: Iterator[list[Row]]) -> None:
        self.cursors.pop(chunks).close()

    def _end(self, connection: sqlite3.Connection) -> None:
        # SQLite keeps the transaction open until its last statement has finished.
        for cursor in self.cursors.values():
            cursor.close()
        # If ending the transaction fails, the connection is not returned for reuse.
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
            self._give_back(connection)
