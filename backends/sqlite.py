"""SQLite from the standard library: where plyvel has no wheel, and for several processes at once.

One table in a file in WAL mode, and one for each named memory. Writers take turns, in this process by
a mutex and among processes by a lock file (`backends.sqlite_lock`); readers never wait for them. SQLite
has no checksums: a flipped bit in a value is not noticed here (LevelDB's are), only by whoever checks
the hashes of what it reads.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

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
from backends.errors import BackendError, BackendInDoubt, GuardFailed
from backends.files import real
from backends.handle_state import HandleState
from backends.registry import REGISTRY
from backends.sqlite_lock import WriterLock
from backends.sqlite_named import table_of
from backends.sqlite_place import address, settle
from backends.sqlite_snapshot import SQLiteSnapshot, get_many, get_one, translated, vacuum
from backends.sqlite_tables import UNNAMED, Statements, memory_name
from backends.sqlite_use import UseLock

BUSY_SECONDS = 10.0
"""How long a write waits for other processes before it says busy."""

_IDLE_READERS_MAX = 8

_TURN = "UPDATE turns SET n = n + 1"


class SQLiteBackend(Backend):
    """An open SQLite store; any number of handles, in any number of processes.

    Args:
        path: the store's file.
        create: create the store where nothing is.
        busy_seconds: how long a write waits for writers in other processes.
        memory: the name of one of the memories in the file (`backends.sqlite_tables`), each a store of its
            own; None is the store without a name.

    Raises:
        BackendMissing: nothing is there, and `create` is false.
        BackendBusy: another process keeps it locked for longer than `busy_seconds`, or renames or deletes
            the memory.
        BackendCorrupt: SQLite finds the file damaged.
        BackendUnusable: something else is there, or the system does not let us.
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
        self._sql: Statements = UNNAMED
        self._use: UseLock | None = None
        self._path: Path = real(os.fspath(path))
        self._busy_seconds = busy_seconds
        self._all: set[sqlite3.Connection] = set()
        self._snapshots: weakref.WeakSet[SQLiteSnapshot] = weakref.WeakSet()
        self._idle: list[sqlite3.Connection] = []
        self._writing = threading.RLock()
        self._unsynced = False
        self._level = ""
        self._lock = WriterLock(self._path, busy_seconds)
        self._handle_state = HandleState(str(self._path), self._parts)
        self._identity = settle(self._path, create=create)
        try:
            self._writer = self._connect("PRAGMA secure_delete = ON", "PRAGMA cache_size = -16000")
            self._settle_table(create=create)
            self._idle.append(self._reader())
        except BaseException:
            self._release()
            raise

    def _connect(self, *settings: str) -> sqlite3.Connection:
        try:
            made = sqlite3.connect(
                address(self._path),
                uri=True,
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            self._all.add(made)
            for setting in settings:
                made.execute(setting)
        except sqlite3.Error as error:
            raise translated(self._handle_state.where, error) from error
        return made

    def _settle_table(self, *, create: bool) -> None:
        try:
            self._sql, self._use = table_of(self._writer, self._path, self._memory, self._lock, create=create)
        except sqlite3.Error as error:
            raise translated(self._handle_state.where, error) from error

    def _reader(self) -> sqlite3.Connection:
        made = self._connect("PRAGMA query_only = ON")
        try:
            get_one(made, self._sql, b"")
        except sqlite3.Error as error:
            raise translated(self._handle_state.where, error) from error
        return made

    def _parts(self) -> Iterable[object]:
        """What a forked process must not free: closing a connection there could remove the WAL.

        And it must not hold the writer's lock on the parent's behalf.
        """
        self._lock.abandon()
        if self._use is not None:
            self._use.abandon()
        cursors = [cursor for snapshot in self._snapshots for cursor in snapshot.cursors]
        return (*self._all, *cursors)

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._reader()

    def _give_back(self, reader: sqlite3.Connection) -> None:
        if len(self._idle) < _IDLE_READERS_MAX:
            self._idle.append(reader)
        else:
            self._all.discard(reader)
            reader.close()

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        """A reading connection, inside the gate, with SQLite's errors made ours."""
        with self._handle_state.inside():
            reader = self._take()
            try:
                yield reader
            except sqlite3.Error as error:
                raise translated(self._handle_state.where, error) from error
            finally:
                self._give_back(reader)

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        # As `_borrowed` does, without the 2 µs that context managers take.
        self._handle_state.enter()
        try:
            reader = self._take()
            try:
                return get_one(reader, self._sql, key)
            finally:
                self._give_back(reader)
        except sqlite3.Error as error:
            raise translated(self._handle_state.where, error) from error
        finally:
            self._handle_state.leave()

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, in their order; take a snapshot to have them of one moment."""
        with self._borrowed() as reader:
            return get_many(reader, self._sql, keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with start <= key < end as of the call, a few at a time, out of a snapshot of its own."""
        snapshot = self.snapshot()
        return snapshot.rows(start, end, reverse=reverse, close=True)

    def snapshot(self) -> SQLiteSnapshot:
        """The rows as they are now: a read transaction on a connection of its own."""
        with self._handle_state.inside():
            reader = self._take()
            try:
                reader.execute("BEGIN")
                # The transaction sees the rows as of its first read, not of BEGIN.
                get_one(reader, self._sql, b"")
            except sqlite3.Error as error:
                raise translated(self._handle_state.where, error) from error
            made = SQLiteSnapshot(self._handle_state, self._sql, reader, self._give_back)
            self._snapshots.add(made)
            return made

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; with `durable`, it and everything before it survive loss of power.

        Raises:
            BackendBusy: other processes kept the store locked all the time; nothing was written.
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
        """Keep other handles and processes from writing until the end of the block."""
        with self._handle_state.inside(), self._writing:
            self._handle_state.check_writable()
            with self._lock:
                yield

    def purge(self) -> None:
        """VACUUM, and empty the WAL, waiting for readers as long as a write waits for writers."""
        with self._handle_state.inside(), self._writing:
            self._handle_state.check_writable()
            with self._lock:
                self._set_level("FULL")
                vacuum(self._writer, self._handle_state.where)
                self._unsynced = False

    def files(self) -> tuple[Path, ...]:
        """The database, and the two files that SQLite keeps beside it."""
        return tuple(path for end in ("", "-wal", "-shm") if (path := Path(f"{self._path}{end}")).is_file())

    def _send(self, batch: Batch, guards: Sequence[Guard], durable: bool) -> None:
        """One transaction; a failure that leaves it in doubt poisons the handle."""
        try:
            self._begin(durable)
            self._apply(batch, guards, durable)
            self._unsynced = not durable
        except BackendError:
            raise
        except BaseException as error:
            self._handle_state.poison(error)
            self._roll_back()
            if isinstance(error, Exception):
                raise BackendInDoubt(
                    f"a write to {self._handle_state.where} failed half-way ({error}); "
                    f"reopen it and look if the rows are there"
                ) from error
            raise

    def _begin(self, durable: bool) -> None:
        """Take the write lock, and set what its COMMIT waits for; nothing is sent yet."""
        level = "FULL" if durable else "NORMAL"
        try:
            self._set_level(level)
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise translated(self._handle_state.where, error) from error

    def _set_level(self, level: str) -> None:
        """What a COMMIT waits for: FULL, the disk; NORMAL, nothing."""
        if level != self._level:
            self._writer.execute(f"PRAGMA synchronous = {level}")
            self._level = level

    def _apply(self, batch: Batch, guards: Sequence[Guard], durable: bool) -> None:
        """The body of a transaction that has begun, and its end.

        SQLite syncs nothing where no page changes. A durable write of rows that an earlier one wrote
        without `durable`, here or in another process, would be acknowledged and not be on the disk:
        so each durable one counts itself, which changes a page.
        """
        writer = self._writer
        try:
            check_guards(guards, lambda key: get_one(writer, self._sql, key))
        except GuardFailed:
            writer.execute("ROLLBACK")
            raise
        # In key order the pages of the tree are written one after the other.
        rows = sorted(batch.rows.items(), key=_key_of)
        writer.executemany(self._sql.put, [row for row in rows if row[1] is not None])
        writer.executemany(self._sql.delete, [(key,) for key, value in rows if value is None])
        if durable:
            writer.execute(_TURN)
        writer.execute("COMMIT")

    def _roll_back(self) -> None:
        """Give the write lock back after a failure, if SQLite has not done so itself."""
        with contextlib.suppress(sqlite3.Error):
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def close(self) -> None:
        """Wait for running calls, then release the store; scans still open raise BackendClosed."""
        self._handle_state.shut(self._release)

    def _release(self) -> None:
        with REGISTRY.lock:
            for connection in tuple(self._all):
                connection.close()
                self._all.discard(connection)
            self._idle.clear()
            self._lock.close()
            if self._use is not None:
                self._use.close()
            REGISTRY.leave(self._identity)


def _key_of(row: tuple[bytes, bytes | None]) -> bytes:
    return row[0]
