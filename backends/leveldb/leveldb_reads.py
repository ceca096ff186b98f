"""Reads from a LevelDB store: single rows, scans, and snapshots."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from backends.base import Row, Snapshot
from backends.errors import BackendClosed, BackendError
from backends.handle_state import HandleState
from backends.leveldb.leveldb_opening import convert_error, plyvel_module

_CHUNK_ROWS = 32
"""The maximum number of rows that a scan fetches from LevelDB in one step.

The first step fetches only one row, because many callers need only one.
"""

_OPENED: Row = (b"", b"")


class LevelDBReads:
    """The reads of a handle. `source` is a snapshot of plyvel, or None for the store as it is now.

    plyvel's objects may be used only inside `HandleState`.

    Args:
        database: The open database. Rewriting the store replaces it.
        where: The store's name in messages.
        abandon: The function that releases the copy of the store's lock in a forked process.
    """

    def __init__(self, database: Any, where: str, abandon: Callable[[], None]) -> None:
        self.database = database
        self.live: set[Any] = set()
        """The open iterators and snapshots of plyvel."""
        self._abandon = abandon
        self._error: type[Exception] = plyvel_module().Error
        self.handle_state = HandleState(where, self._fork_unsafe)

    def _fork_unsafe(self) -> Iterable[object]:
        """In a forked process, release the copy of the lock; return the objects that must not be freed."""
        self._abandon()
        return (self.database, *self.live)

    def get(self, source: Any, key: bytes) -> bytes | None:
        """Return the value of `key`, or None. Raise BackendCorrupt if a checksum is wrong."""
        self.handle_state.enter()
        try:
            return (source or self.database).get(key, verify_checksums=True)  # type: ignore[no-any-return]
        except self._error as error:
            raise self._convert_error(error) from error
        finally:
            self.handle_state.leave()

    def multi_get(self, source: Any, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order."""
        self.handle_state.enter()
        try:
            get = (source or self.database).get
            return [get(key, verify_checksums=True) for key in keys]
        except self._error as error:
            raise self._convert_error(error) from error
        finally:
            self.handle_state.leave()

    def scan(
        self,
        source: Any,
        owner: HandleState | LevelDBSnapshot,
        start: bytes,
        end: bytes | None,
        *,
        reverse: bool,
    ) -> Iterator[Row]:
        """Return a started iterator over the rows with start <= key < end.

        It raises BackendClosed once `owner`, the handle or a snapshot, is closed.
        """
        self.handle_state.check()
        if end is not None and end <= start:
            return iter(())
        rows = self._rows(source, owner, start, end, reverse)
        # The first yield opens the iterator, so that the scan sees the rows of this moment, and so that the
        # generator's cleanup runs even if it is never read.
        next(rows)
        return rows

    def _rows(
        self,
        source: Any,
        owner: HandleState | LevelDBSnapshot,
        start: bytes,
        end: bytes | None,
        reverse: bool,
    ) -> Iterator[Row]:
        handle_state = self.handle_state
        with handle_state.inside():
            # In reverse, plyvel 1.5.1 finds nothing if `start` is the only key in the range, so a reverse
            # scan passes no `start` and stops at it below.
            try:
                iterator = (source or self.database).iterator(
                    start=None if reverse else start, stop=end, reverse=reverse, verify_checksums=True
                )
            except self._error as error:
                raise self._convert_error(error) from error
            self.live.add(iterator)
        size = 1
        try:
            yield _OPENED
            while True:
                with handle_state.inside():
                    chunk = list(islice(iterator, size))
                fetched = len(chunk)
                while chunk and chunk[-1][0] < start:
                    chunk.pop()
                for row in chunk:
                    if handle_state.refusal is not None:
                        handle_state.check()
                    if owner is not handle_state and owner.refusal is not None:
                        raise BackendClosed(owner.refusal)
                    yield row
                if fetched < size or len(chunk) < fetched:
                    return
                size = min(2 * size, _CHUNK_ROWS)
        except self._error as error:
            raise self._convert_error(error) from error
        finally:
            self._end(iterator)

    def _end(self, iterator: Any) -> None:
        """Close an iterator, unless the handle is closed or belongs to the parent process."""
        with contextlib.suppress(BackendClosed), self.handle_state.inside():
            iterator.close()
            self.live.discard(iterator)

    def _convert_error(self, error: Exception) -> BackendError:
        where = self.handle_state.where
        return convert_error(f"{where} cannot be read", where, error)


class LevelDBSnapshot(Snapshot):
    """A snapshot of a LevelDB store.

    `close` only drops the reference to plyvel's snapshot. A call that runs in another thread still holds a
    reference, so plyvel releases its snapshot when the last call has ended. While the handle is being closed,
    the reference is kept: plyvel then releases all snapshots itself, and crashes if another thread releases a
    snapshot at the same time.
    """

    def __init__(self, reads: LevelDBReads, source: Any) -> None:
        self.refusal: str | None = None
        self._reads = reads
        self._source = source
        reads.live.add(source)

    def _checked(self) -> Any:
        source = self._source
        if source is None or self.refusal is not None:
            raise BackendClosed("the snapshot is closed")
        return source

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        return self._reads.get(self._checked(), key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in their order."""
        return self._reads.multi_get(self._checked(), keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, fetched a few rows at a time."""
        return self._reads.scan(self._checked(), self, start, end, reverse=reverse)

    def close(self) -> None:
        """Release the snapshot; open scans raise BackendClosed."""
        self.refusal = "the snapshot is closed"
        if self._source is not None:
            with contextlib.suppress(BackendClosed), self._reads.handle_state.inside():
                self._reads.live.discard(self._source)
                self._source = None

    def __del__(self) -> None:
        if self._source is not None:
            self.close()
