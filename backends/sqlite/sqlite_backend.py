"""A backend on SQLite, for computers without plyvel and for stores that several processes use.

A file in WAL mode has one table for the store without a name and one for each named memory. Only one writer
at a time can write: a mutex excludes other threads of this process, and a lock file (`sqlite_locks`) excludes
other processes. Readers never wait for writers. SQLite has no checksums, so this backend stores one with each
row (`backends.databases`), and compares it whenever the row is read (`sqlite_reads`). SQLite drops the end of
a damaged WAL without an error, so a file next to the store records how far the store reached (`sqlite_mark`).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TypeGuard

from backends.base import (
    Backend,
    Batch,
    Capabilities,
    Guard,
    Guards,
    Row,
    check_batch,
    check_guards,
    guards_of,
)
from backends.databases import memory_name, with_checksums
from backends.errors import BackendCorrupt, BackendError, GuardFailed, system_error
from backends.files import resolve_path
from backends.handle_state import HandleState
from backends.locks import REGISTRY
from backends.sqlite.sqlite_connections import (
    address,
    convert_doubt,
    convert_error,
    converted,
)
from backends.sqlite.sqlite_locks import UseLock, WriterLock
from backends.sqlite.sqlite_mark import MARK_SUFFIX, Mark, check_marks
from backends.sqlite.sqlite_memories import open_table
from backends.sqlite.sqlite_place import register_store
from backends.sqlite.sqlite_reads import Rows, SQLiteSnapshot, vacuum
from backends.sqlite.sqlite_tables import UNNAMED, Own, check_layout, read_own, swap_own, write_own

BUSY_SECONDS = 10.0
"""The time, in seconds, that a write waits for other processes before it raises BackendBusy."""

_IDLE_READERS_MAX = 8


def _text(raw: bytes) -> str:
    """Return the value of a column whose type is damaged, so that its type differs from `bytes`."""
    return raw.decode("latin-1")


class SQLiteBackend(Backend):
    """An open SQLite store; any number of handles may be open, in any number of processes.

    Args:
        path: The store's file.
        create: Create the store if it is missing.
        busy_seconds: The time, in seconds, that a write waits for writers in other processes.
        memory: The name of a memory in the file; every memory is a separate store. None means the store
            without a name.

    Raises:
        BackendMissing: there is no store, and `create` is false.
        BackendBusy: another process keeps the store locked for longer than `busy_seconds`, or is renaming or
            deleting the memory.
        BackendCorrupt: SQLite reports that the file is damaged.
        BackendUnusable: the path is occupied by something that is not a store, or the system denies access.
    """

    name = "sqlite"
    capabilities = Capabilities(durable=True, multi_process=True, persistent=True)

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        busy_seconds: float = BUSY_SECONDS,
        memory: str | None = None,
    ) -> None:
        self._memory = None if memory is None else memory_name(memory)
        self._use: UseLock | None = None
        self._path: Path = resolve_path(os.fspath(path))
        self._table = Rows(str(self._path), UNNAMED)
        self._mark = Mark(self._path, UNNAMED.number)
        self._last_own: Own | None = None
        self._busy_seconds = busy_seconds
        self._all: set[sqlite3.Connection] = set()
        self._snapshots: weakref.WeakSet[SQLiteSnapshot] = weakref.WeakSet()
        self._idle: list[sqlite3.Connection] = []
        self._writing = threading.RLock()
        self._unsynced = False
        self._level = ""
        self._lock = WriterLock(self._path, busy_seconds)
        self._handle_state = HandleState(str(self._path), self._fork_unsafe)
        self._identity = register_store(self._path, create=create)
        try:
            with converted(self._handle_state.where):
                check_marks(self._path, busy_seconds)
            self._writer = self._connect("PRAGMA secure_delete = ON", "PRAGMA cache_size = -16000")
            self._settle_table(create=create)
            self._idle.append(self._reader())
        except BaseException:
            self._release()
            raise

    def _connect(self, *settings: str) -> sqlite3.Connection:
        with converted(self._handle_state.where):
            connection = sqlite3.connect(
                address(self._path),
                uri=True,
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            self._all.add(connection)
            for setting in settings:
                connection.execute(setting)
        return connection

    def _settle_table(self, *, create: bool) -> None:
        try:
            with converted(self._handle_state.where):
                # The header, which was checked before, may be older than the WAL.
                check_layout(self._writer.execute("PRAGMA user_version").fetchone()[0], self._path)
                sql, self._use = open_table(self._writer, self._path, self._memory, self._lock, create=create)
                self._table = Rows(self._handle_state.where, sql)
                self._mark = Mark(self._path, sql.number)
                self._mark.check(self._mark.read(), self._own(), self._handle_state.where)
        except OSError as error:
            raise system_error(f"{self._path}{MARK_SUFFIX} cannot be read", error) from error

    def _own(self) -> Own:
        return read_own(self._writer, self._table.sql, self._handle_state.where)

    def _reader(self) -> sqlite3.Connection:
        connection = self._connect("PRAGMA query_only = ON")
        # A damaged record may say that a key or a value is a text. The checks of rows refuse every `str`.
        connection.text_factory = _text
        with converted(self._handle_state.where):
            self._table.begin(connection)
        return connection

    def _fork_unsafe(self) -> Iterable[object]:
        """In a forked process, release the copies of the locks; return the objects that must not be freed.

        Closing a connection in the forked process could remove the WAL.
        """
        self._lock.abandon()
        if self._use is not None:
            self._use.abandon()
        cursors = [cursor for snapshot in self._snapshots for cursor in snapshot.cursors.values()]
        return (*self._all, *cursors)

    def _take_reader(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._reader()

    def _return_reader(self, reader: sqlite3.Connection) -> None:
        if len(self._idle) < _IDLE_READERS_MAX:
            self._idle.append(reader)
        else:
            self._all.discard(reader)
            reader.close()

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        """Yield a reading connection inside `HandleState`, and convert SQLite's exceptions."""
        with self._handle_state.inside():
            reader = self._take_reader()
            try:
                with converted(self._handle_state.where):
                    yield reader
            finally:
                self._return_reader(reader)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        with self._borrowed() as reader:
            return self._table.get(reader, key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in the same order. To read them at one moment, use a snapshot."""
        with self._borrowed() as reader:
            return self._table.get_many(reader, keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, as they are at the time of the call.

        The iterator reads from its own snapshot, a few rows at a time.
        """
        snapshot = self.snapshot()
        return snapshot.rows(start, end, reverse=reverse, close=True)

    def snapshot(self) -> SQLiteSnapshot:
        """Return a snapshot of the current rows: a read transaction on a separate connection."""
        with self._handle_state.inside():
            reader = self._take_reader()
            with converted(self._handle_state.where):
                reader.execute("BEGIN")
                # The transaction sees the rows at the time of its first read, not of BEGIN.
                self._table.begin(reader)
            snapshot = SQLiteSnapshot(self._handle_state, self._table, reader, self._return_reader)
            self._snapshots.add(snapshot)
            return snapshot

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; with `durable`, this and all earlier writes survive a power failure.

        Raises:
            BackendBusy: other processes kept the store locked; nothing was written.
        """
        check_batch(batch)
        guards = guards_of(guard)
        with self._handle_state.inside(), self._writing:
            self._handle_state.check_writable()
            if batch.rows or guards or (durable and self._unsynced):
                with self._lock:
                    self._send(batch, guards, durable)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Prevent other handles and processes from writing until the end of the block."""
        with self._handle_state.inside(), self._writing:
            self._handle_state.check_writable()
            with self._lock:
                yield

    def purge(self) -> bool:
        """Run VACUUM and empty the WAL. Wait for readers for at most `busy_seconds`."""
        with self._handle_state.inside(), self._writing:
            self._handle_state.check_writable()
            with self._lock:
                self._set_level("FULL")
                vacuum(self._writer, self._handle_state.where)
                self._unsynced = False
        return True

    def files(self) -> tuple[Path, ...]:
        """Return the paths of the database and of the two files that SQLite keeps next to it."""
        return tuple(path for end in ("", "-wal", "-shm") if (path := Path(f"{self._path}{end}")).is_file())

    def _send(self, batch: Batch, guards: Sequence[Guard], durable: bool) -> None:
        """Run one transaction. If it fails and may have taken effect, the handle refuses all later writes.

        A crash between the commit and the mark leaves a mark that lags. The next durable write corrects it.
        """
        try:
            self._begin(durable)
            mark = self._apply(batch, guards, durable)
            if mark is not None:
                self._mark.write(mark)
            self._unsynced = not durable
        except BackendError:
            raise
        except BaseException as error:
            if self._is_rolled_back(error):
                raise convert_error(self._handle_state.where, error) from error
            self._handle_state.poison(error)
            self._roll_back()
            if isinstance(error, Exception):
                where = self._handle_state.where
                what = f"a write to {where} failed and may have taken effect"
                raise convert_doubt(what, where, error) from error
            raise

    def _begin(self, durable: bool) -> None:
        """Take the write lock and set the sync level of the COMMIT. No row is written yet."""
        level = "FULL" if durable else "NORMAL"
        try:
            if durable:
                self._mark.prepare()
            with converted(self._handle_state.where):
                self._set_level(level)
                self._writer.execute("BEGIN IMMEDIATE")
        except OSError as error:
            raise system_error(f"{self._path}{MARK_SUFFIX} cannot be written", error) from error

    def _set_level(self, level: str) -> None:
        """Set whether COMMIT waits until the data is on the disk: FULL waits, NORMAL does not."""
        if level != self._level:
            self._writer.execute(f"PRAGMA synchronous = {level}")
            self._level = level

    def _apply(self, batch: Batch, guards: Sequence[Guard], durable: bool) -> Own | None:
        """Execute the statements of a transaction that has begun, and end the transaction.

        SQLite syncs nothing if no page changes. Suppose that rows were written without `durable`, and the
        same rows are then written durably: without a changed page, the durable write would return before the
        rows are on the disk. So each durable write increments the counter in the backend's own row; this
        always changes a page.

        Returns:
            The backend's own row after a durable write; None after a write that is not durable.
        """
        writer, sql = self._writer, self._table.sql
        mark = None
        try:
            check_guards(guards, lambda key: self._table.get(writer, key, confirm=False))
            if durable:
                mark = self._advance_own(batch.reaches)
        except (GuardFailed, BackendCorrupt):
            writer.execute("ROLLBACK")
            raise
        # In key order each page of the tree is visited once, in sequence.
        rows = sorted(batch.rows.items(), key=itemgetter(0))
        writer.executemany(sql.put, with_checksums(rows))
        writer.executemany(sql.delete, [(key,) for key, value in rows if value is None])
        writer.execute("COMMIT")
        self._last_own = mark or self._last_own
        return mark

    def _advance_own(self, reaches: int | None) -> Own:
        """Count a durable write in the backend's own row, and return the new row."""
        writer, sql, last = self._writer, self._table.sql, self._last_own
        if last is not None:
            mark = last.after_write(reaches)
            if swap_own(writer, sql, last, mark):
                return mark
        # Another handle has written since, or this is the handle's first write.
        mark = self._own().after_write(reaches)
        write_own(writer, sql, mark)
        return mark

    def _is_rolled_back(self, error: BaseException) -> TypeGuard[sqlite3.Error]:
        """Return True if the disk was full and the transaction is undone, so that the handle stays usable.

        SQLite reports a full disk only when it writes pages. The last page commits the transaction, so a
        transaction that lacks a page has no effect, even after a crash.
        """
        if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_FULL:
            return False
        self._roll_back()
        return not self._writer.in_transaction

    def _roll_back(self) -> None:
        """Release the write lock after a failure, unless SQLite has already released it."""
        with contextlib.suppress(sqlite3.Error):
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def close(self) -> None:
        """Wait for running calls, then release the store; open scans raise BackendClosed."""
        self._handle_state.shut(self._release)

    def _release(self) -> None:
        with REGISTRY.lock:
            for connection in tuple(self._all):
                connection.close()
                self._all.discard(connection)
            self._idle.clear()
            self._lock.close()
            self._mark.close()
            if self._use is not None:
                self._use.close()
            REGISTRY.leave(self._identity)
