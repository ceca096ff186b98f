"""Reads from a SQLite store: single rows, many rows, and snapshots."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence

from backends.base import Row, Snapshot
from backends.errors import BackendBusy, BackendClosed
from backends.handle_state import HandleState
from backends.sqlite_errors import DATABASE_ERRORS, convert_error
from backends.sqlite_reads import Rows

_OPENED: Row = (b"", b"")


def vacuum(writer: sqlite3.Connection, where: str) -> None:
    """Rewrite the database without deleted bytes, and empty the WAL.

    Raises:
        BackendBusy: an open snapshot or scan still needs older pages.
        BackendError: SQLite failed; nothing is lost.
    """
    try:
        writer.execute("VACUUM")
        busy, *_ = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise convert_error(where, error) from error
    if busy:
        raise BackendBusy(where, "an open snapshot or scan")


class SQLiteSnapshot(Snapshot):
    """A snapshot, which is a read transaction. A lock ensures that it does not end during a read.

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
        self._handle_state = handle_state
        self._table = rows
        self._return_reader = return_reader
        self._reader: sqlite3.Connection | None = reader
        self._using = threading.Lock()
        self.cursors: set[sqlite3.Cursor] = set()

    def check(self) -> None:
        """Raise BackendClosed if the snapshot or the store is closed."""
        self._handle_state.check()
        if self._reader is None:
            raise BackendClosed("the snapshot is closed")

    @contextlib.contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for one call inside `HandleState`, and convert SQLite's exceptions."""
        with self._handle_state.inside(), self._using:
            if self._reader is None:
                raise BackendClosed("the snapshot is closed")
            try:
                yield self._reader
            except DATABASE_ERRORS as error:
                raise convert_error(self._handle_state.where, error) from error

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        with self.using() as reader:
            return self._table.get(reader, key, confirm=self.confirm_missing)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order."""
        with self.using() as reader:
            return self._table.get_many(reader, keys, confirm=self.confirm_missing)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, fetched a few rows at a time."""
        return self.rows(start, end, reverse=reverse, close=False)

    def keys(self, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        with self.using() as reader:
            return self._table.keys(reader, prefix, limit)

    def rows(self, start: bytes, end: bytes | None, *, reverse: bool, close: bool) -> Iterator[Row]:
        """Return a started iterator over rows. With `close`, the end of the iterator closes the snapshot."""
        self.check()
        if end is not None and end <= start:
            if close:
                self.close()
            return iter(())
        rows = self._rows(start, end, reverse, close)
        # Run to the first yield, because the cleanup of a generator runs only if it has started.
        next(rows)
        return rows

    def _rows(self, start: bytes, end: bytes | None, reverse: bool, close: bool) -> Iterator[Row]:
        with self.using() as reader:
            cursor, chunks = self._table.scan(
                reader, start, end, reverse=reverse, confirm=self.confirm_missing
            )
            self.cursors.add(cursor)
        try:
            yield _OPENED
            while True:
                with self.using():
                    chunk = next(chunks, None)
                if chunk is None:
                    return
                for row in chunk:
                    self.check()
                    yield row
        finally:
            if close:
                self.close()
            else:
                self._end(cursor)

    def _end(self, cursor: sqlite3.Cursor) -> None:
        """Close a cursor, unless the snapshot is closed or the cursor belongs to the parent process."""
        with contextlib.suppress(BackendClosed), self._handle_state.inside():
            cursor.close()
            self.cursors.discard(cursor)

    def close(self) -> None:
        """End the transaction; open scans raise BackendClosed."""
        with contextlib.suppress(BackendClosed), self._handle_state.inside(), self._using:
            reader, self._reader = self._reader, None
            if reader is not None:
                # SQLite keeps the transaction open until its last statement has finished.
                for cursor in self.cursors:
                    cursor.close()
                self.cursors.clear()
                # If ending the transaction fails, the connection is not returned for reuse.
                with contextlib.suppress(sqlite3.Error):
                    reader.execute("ROLLBACK")
                    self._return_reader(reader)

    def __del__(self) -> None:
        self.close()
