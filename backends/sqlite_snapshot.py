"""Reading a SQLite store: single rows, many rows, and a transaction that stands still."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence

from backends.base import Row, Snapshot
from backends.errors import BackendBusy, BackendClosed, BackendCorrupt, BackendError, BackendUnusable
from backends.handle_state import HandleState
from backends.sqlite_tables import KEYS_PER_QUERY, Statements

_CHUNK_ROWS = 32
_OPENED: Row = (b"", b"")


def translated(where: str, error: sqlite3.Error) -> BackendError:
    """SQLite's error as one of ours."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BackendBusy(where, "another process")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return BackendCorrupt(f"{where} is damaged: {error}")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return BackendUnusable(f"{where} cannot be used: {error}")
    return BackendError(f"{where} cannot be used: {error}")


def get_one(connection: sqlite3.Connection, sql: Statements, key: bytes) -> bytes | None:
    """The value of `key` as this connection sees it, or None."""
    row = connection.execute(sql.get, (key,)).fetchone()
    return None if row is None else row[0]


def get_many(connection: sqlite3.Connection, sql: Statements, keys: Sequence[bytes]) -> list[bytes | None]:
    """One query for each hundred keys; the last is filled up, so that SQLite compiles one statement."""
    found: dict[bytes, bytes] = {}
    for at in range(0, len(keys), KEYS_PER_QUERY):
        some = keys[at : at + KEYS_PER_QUERY]
        if len(some) < 8:
            return [*map(found.get, keys[:at]), *(get_one(connection, sql, key) for key in some)]
        padded = [*some, *[some[-1]] * (KEYS_PER_QUERY - len(some))]
        found.update(connection.execute(sql.get_many, padded))
    return [found.get(key) for key in keys]


def vacuum(writer: sqlite3.Connection, where: str) -> None:
    """Rewrite the database without what was deleted, and empty the WAL.

    Raises:
        BackendBusy: somebody reads older pages all the time.
        BackendError: SQLite cannot; nothing is lost.
    """
    try:
        writer.execute("VACUUM")
        busy, *_ = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise translated(where, error) from error
    if busy:
        raise BackendBusy(where, "a snapshot or a scan that is still open")


class SQLiteSnapshot(Snapshot):
    """A read transaction; the lock keeps one thread from ending it under another's call.

    Args:
        gate: the handle's.
        sql: the statements on the store's table.
        reader: a connection with a read transaction begun, for nobody else to use.
        give_back: takes the connection when the transaction is over.
    """

    def __init__(
        self,
        handle_state: HandleState,
        sql: Statements,
        reader: sqlite3.Connection,
        give_back: Callable[[sqlite3.Connection], None],
    ) -> None:
        self._handle_state = handle_state
        self._sql = sql
        self._give_back = give_back
        self._reader: sqlite3.Connection | None = reader
        self._using = threading.Lock()
        self.cursors: set[sqlite3.Cursor] = set()

    def check(self) -> None:
        """Raise BackendClosed when the snapshot or the store is closed."""
        self._handle_state.check()
        if self._reader is None:
            raise BackendClosed("the snapshot is closed")

    @contextlib.contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one call, inside the gate, with SQLite's errors made ours."""
        with self._handle_state.inside(), self._using:
            if self._reader is None:
                raise BackendClosed("the snapshot is closed")
            try:
                yield self._reader
            except sqlite3.Error as error:
                raise translated(self._handle_state.where, error) from error

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        with self.using() as reader:
            return get_one(reader, self._sql, key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, in their order."""
        with self.using() as reader:
            return get_many(reader, self._sql, keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with start <= key < end, a few at a time."""
        return self.rows(start, end, reverse=reverse, close=False)

    def rows(self, start: bytes, end: bytes | None, *, reverse: bool, close: bool) -> Iterator[Row]:
        """A scan that is open when this returns; with `close`, its end is the snapshot's end."""
        self.check()
        if end is not None and end <= start:
            if close:
                self.close()
            return iter(())
        rows = self._rows(start, end, reverse, close)
        # Up to its first yield: a scan that has begun is released even if never read.
        next(rows)
        return rows

    def _rows(self, start: bytes, end: bytes | None, reverse: bool, close: bool) -> Iterator[Row]:
        order = " DESC" if reverse else ""
        with self.using() as reader:
            if end is None:
                found = reader.execute(self._sql.scan + order, (start,))
            else:
                found = reader.execute(self._sql.scan_to + order, (start, end))
            self.cursors.add(found)
        try:
            yield _OPENED
            while True:
                with self.using():
                    chunk = found.fetchmany(_CHUNK_ROWS)
                for row in chunk:
                    self.check()
                    yield row
                if len(chunk) < _CHUNK_ROWS:
                    return
        finally:
            if close:
                self.close()
            else:
                self._end(found)

    def _end(self, found: sqlite3.Cursor) -> None:
        """Release a cursor, unless closing did or it belongs to a parent process."""
        with contextlib.suppress(BackendClosed), self._handle_state.inside():
            found.close()
            self.cursors.discard(found)

    def close(self) -> None:
        """End the transaction; scans still open raise BackendClosed."""
        with contextlib.suppress(BackendClosed), self._handle_state.inside(), self._using:
            reader, self._reader = self._reader, None
            if reader is not None:
                # A transaction lasts until its last statement is done.
                for found in self.cursors:
                    found.close()
                self.cursors.clear()
                # A connection that cannot end its transaction is kept for nobody.
                with contextlib.suppress(sqlite3.Error):
                    reader.execute("ROLLBACK")
                    self._give_back(reader)

    def __del__(self) -> None:
        self.close()
