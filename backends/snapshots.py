"""The snapshots of the backends on SQL databases: a snapshot is a read transaction on its own connection."""

from __future__ import annotations

import contextlib
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from backends.base import Row, Snapshot
from backends.errors import BackendClosed
from backends.handle_state import HandleState

Connection = TypeVar("Connection")

_OPENED: Row = (b"", b"")


class TransactionSnapshot(Snapshot, Generic[Connection]):
    """A snapshot that is a read transaction. A lock ensures that the transaction does not end during a read.

    Args:
        handle_state: The state of the store's handle.
        connection: A connection with an open read transaction, used by this snapshot only.
        give_back: The function that returns the connection to the store at the end.
    """

    def __init__(
        self, handle_state: HandleState, connection: Connection, give_back: Callable[[Connection], None]
    ) -> None:
        self._handle_state = handle_state
        self._connection: Connection | None = connection
        self._give_back = give_back
        self._using = threading.Lock()

    @abstractmethod
    def _converted(self) -> AbstractContextManager[None]:
        """Convert the exceptions of the database in a block."""

    @abstractmethod
    def _chunks(
        self, connection: Connection, start: bytes, end: bytes | None, *, reverse: bool
    ) -> Iterator[list[Row]]:
        """Begin a scan, and return its rows in lists. Each step is made inside `using`."""

    @abstractmethod
    def _end_scan(self, chunks: Iterator[list[Row]]) -> None:
        """Release what a scan holds. This is called inside `HandleState`."""

    @abstractmethod
    def _end(self, connection: Connection) -> None:
        """End the transaction and return the connection."""

    def check(self) -> None:
        """Raise BackendClosed if the snapshot or the store is closed."""
        self._handle_state.check()
        if self._connection is None:
            raise BackendClosed("the snapshot is closed")

    @contextlib.contextmanager
    def using(self) -> Iterator[Connection]:
        """Yield the connection for one call inside `HandleState`, and convert the database's exceptions."""
        with self._handle_state.inside(), self._using:
            if self._connection is None:
                raise BackendClosed("the snapshot is closed")
            with self._converted():
                yield self._connection

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, fetched some rows at a time."""
        return self.rows(start, end, reverse=reverse, close=False)

    def rows(self, start: bytes, end: bytes | None, *, reverse: bool, close: bool) -> Iterator[Row]:
        """Return a started iterator over rows. With `close`, the end of the iterator closes the snapshot."""
        self.check()
        if end is not None and end <= start:
            if close:
                self.close()
            return iter(())
        rows = self._rows_of(start, end, reverse, close)
        # Run to the first yield, because the cleanup of a generator runs only if it has started.
        next(rows)
        return rows

    def _rows_of(self, start: bytes, end: bytes | None, reverse: bool, close: bool) -> Iterator[Row]:
        with self.using() as connection:
            chunks = self._chunks(connection, start, end, reverse=reverse)
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
                with contextlib.suppress(BackendClosed), self._handle_state.inside():
                    self._end_scan(chunks)

    def close(self) -> None:
        """End the transaction; open scans raise BackendClosed."""
        with contextlib.suppress(BackendClosed), self._handle_state.inside(), self._using:
            connection, self._connection = self._connection, None
            if connection is not None:
                self._end(connection)

    def __del__(self) -> None:
        self.close()
