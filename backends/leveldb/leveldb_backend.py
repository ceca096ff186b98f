"""LevelDB through plyvel: the default embedded backend.

With LevelDB's defaults, acknowledged writes are lost in several ways (measured). This module takes the
following measures, each with a test in `tests/backends/leveldb/test_leveldb_rules.py`:

- after a failed write the handle accepts no more writes, and the exception is BackendInDoubt, because the
  write may have taken effect;
- a store has its own lock (`leveldb_place`); across all processes, only one handle
  can be open at a time, and a forked process cannot use its parent's handle;
- `paranoid_checks` is always on, checksums are verified on every read, and compression is off;
- a batch is built in full and then written with one call;
- creation is atomic, and nothing is ever repaired;
- closing waits for running calls;
- if the folder's list of files has changed, the folder is synced before a durable write is acknowledged;
- a durable write also makes the earlier writes durable;
- deleted bytes are removed by rewriting the whole store, because compaction leaves them in the files
  (measured).

This module cannot detect that the end of LevelDB's log was cut off. Such a loss can be detected only with a
checkpoint that is kept in another place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from backends.base import (
    Backend,
    Batch,
    Capabilities,
    Guard,
    Guards,
    Row,
    Snapshot,
    check_batch,
    check_guards,
    guards_of,
)
from backends.errors import BackendCorrupt, environment_error
from backends.files import fsync_path, resolve_path
from backends.leveldb.leveldb_opening import convert_doubt, open_data, plyvel_module
from backends.leveldb.leveldb_place import DATA, claim_store, rewrite
from backends.leveldb.leveldb_reads import LevelDBReads, LevelDBSnapshot

_LOG_BYTES_MAX = 4 << 20
"""If the process is not killed, the next opening of the store reads a log of at most this many bytes."""

_BORDERS = (b"\0", b"a", b"i", b"p/", b"q", b"\xff" * 64)
"""Keys that divide the rows into ranges; the ranges are merged one after the other. The first key is before
all rows, and the last key is after all rows."""

_SETTLED_SHARE = 2
"""Closing merges the tables if this handle has written at least 1/2 of the bytes in them. So merging takes
time in proportion to what was written."""

_AMPLE_BYTES = 256 << 20
"""If more bytes than this are free on the disk, the free space is not compared with the size of a batch."""

_SPACE_SECONDS = 0.1
"""If much more than `_AMPLE_BYTES` is free, the system is not asked again for this time, in seconds."""

_MARGIN_BYTES = 256 << 10
"""The space, in bytes, that opening the store needs in addition to the size of the logs."""

BUSY_SECONDS = 10.0
"""The time, in seconds, that `purge` waits for open snapshots and scans before it raises BackendBusy."""


class LevelDBBackend(Backend):
    """An open LevelDB store; only one handle can be open at a time, in one process.

    Args:
        path: The store's folder.
        create: Create the store if it is missing.
        busy_seconds: The time, in seconds, that `purge` waits until open snapshots and scans are closed.
        temporary: Map fewer tables into memory, because the store is deleted after use.

    Raises:
        BackendMissing: there is no store, and `create` is false.
        BackendBusy: the store is already open in this or another process.
        BackendCorrupt: LevelDB reports that its log or files are damaged.
        BackendUnusable: the path is occupied by something that is not a store, or the system denies access.
    """

    name = "leveldb"
    capabilities = Capabilities(durable=True, multi_process=False, persistent=True)

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        busy_seconds: float = BUSY_SECONDS,
        temporary: bool = False,
    ) -> None:
        self._error: type[Exception] = plyvel_module().Error
        place = resolve_path(os.fspath(path))
        self._claim = claim_store(place, create=create)
        self._place = place
        self._data = place / DATA
        self._busy_seconds = busy_seconds
        try:
            database = open_data(self._data, temporary=temporary)
        except BaseException:
            self._claim.release()
            raise
        self._reads = LevelDBReads(database, str(place), self._claim.abandon)
        self._handle_state = self._reads.handle_state
        self._temporary = temporary
        self._names: set[str] = set()
        self._log, self._log_size = "", 0
        self._logged = 0
        """The number of bytes that this handle has written to logs."""
        self._ample_until = 0.0
        self._unsynced = False
        self._writing = threading.Lock()

    def is_wanted(self) -> bool:
        """Return True if somebody has tried to open the store in vain since it was opened here."""
        return self._claim.is_wanted()

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None. Raise BackendCorrupt if a checksum is wrong."""
        return self._reads.get(None, key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in the same order. To read them at one moment, use a snapshot."""
        return self._reads.multi_get(None, keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, as they are at the time of the call.

        The iterator fetches a few rows at a time.
        """
        return self._reads.scan(None, self._handle_state, start, end, reverse=reverse)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current rows."""
        with self._handle_state.inside():
            return LevelDBSnapshot(self._reads, self._reads.database.snapshot())

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; with `durable`, this and all earlier writes survive a power failure."""
        check_batch(batch)
        guards = guards_of(guard)
        with self._handle_state.inside(), self._writing:
            self._write(batch, guards, durable=durable)

    def _write(self, batch: Batch, guards: tuple[Guard, ...], *, durable: bool) -> None:
        self._handle_state.check_writable()
        check_guards(guards, self.get)
        if not batch.rows and not (durable and self._unsynced):
            return
        self._check_space(batch)
        sync = durable and not self._unsynced
        built = self._reads.database.write_batch(sync=sync)
        put, delete = built.put, built.delete
        for key, value in batch.rows.items():
            if value is None:
                delete(key)
            else:
                put(key, value)
        try:
            self._send(built, sync=sync, durable=durable)
        except BaseException as error:
            # Including exceptions from signal handlers: the write may have been interrupted at any point.
            self._handle_state.poison(error)
            if isinstance(error, Exception):
                what = f"a write to {self._handle_state.where} failed and may have taken effect"
                raise convert_doubt(what, error) from error
            raise

    def _check_space(self, batch: Batch) -> None:
        """Raise BackendEnvironment if the disk has too little free space for `batch`.

        In that case nothing is sent to LevelDB. If LevelDB could not finish a write, this handle would refuse
        all later writes. Opening the store copies the logs into tables, so enough space for a copy of the
        logs must stay free, too. Asking the system takes 4 µs (measured). So if much more than `_AMPLE_BYTES`
        is free, the system is not asked at every write.
        """
        now = time.monotonic()
        if now < self._ample_until:
            return
        free = self._free_bytes()
        if free > _AMPLE_BYTES:
            if free > 4 * _AMPLE_BYTES:
                self._ample_until = now + _SPACE_SECONDS
            return
        rows = batch.rows
        size = sum(map(len, rows)) + sum(len(value) for value in rows.values() if value is not None)
        logs = sum(path.stat().st_size for path in self._data.glob("*.log"))
        if free < logs + 2 * size + _MARGIN_BYTES:
            raise environment_error(f"{self._handle_state.where} cannot be written", errno.ENOSPC)

    def _send(self, built: Any, *, sync: bool, durable: bool) -> None:
        """Write one batch. The caller treats the batch as written when this method returns.

        LevelDB starts a new log every `write_buffer_size` bytes and syncs only the newest log. So a crash
        could lose earlier unsynced writes in an older log, although a later synced write survives. Therefore,
        if there are unsynced rows, a durable write has three steps. This method writes the batch. It then
        syncs the older logs, if there are any. Last, it syncs the newest log by writing an empty batch. After
        a crash at any point, the store has all rows up to some write, and no rows of later writes. This
        promise fails only if the operating system itself writes the new log to the disk just before the old
        log is synced.
        """
        built.write()
        if not sync:
            self._unsynced = True
        self._sync_names()
        if durable and not sync:
            self._reads.database.write_batch(sync=True).write()
            self._sync_names()
        if durable:
            self._unsynced = False

    def _sync_names(self) -> None:
        """Sync the folder and all logs except the newest, if LevelDB has started a new log.

        LevelDB does not sync the folder after it starts a new log. If the folder is not synced, POSIX allows
        a file system to lose the log's name in a crash. The whole log is then lost. This method is called
        after each write. If the newest known log has grown, LevelDB has appended the write to that log and
        has not started another log. Measured: this check takes 2 µs, and listing a folder of 10 to 25 files
        takes 7 to 12 µs.
        """
        if self._log_has_grown():
            return
        names = set(os.listdir(self._data))  # noqa: PTH208 - half the time of iterdir, at every write
        logs = sorted((name for name in names if name.endswith(".log")), key=lambda name: int(name[:-4]))
        self._log, self._log_size = os.path.join(self._data, logs[-1]) if logs else "", 0  # noqa: PTH118
        self._log_has_grown()
        if names == self._names:
            return
        for name in logs[:-1]:
            # If the log is gone, its rows are already in a synced table.
            with contextlib.suppress(FileNotFoundError):
                fsync_path(self._data / name)
        fsync_path(self._data)
        self._names = names

    def _log_has_grown(self) -> bool:
        """Return True if the log `_log` has grown since the last call."""
        try:
            size = os.stat(self._log).st_size  # noqa: PTH116 - a third of the time of Path.stat
        except OSError:
            return False
        grown = size > self._log_size
        self._logged += size - self._log_size
        self._log_size = size
        return grown

    def purge(self) -> bool:
        """Copy all rows into a new LevelDB, which then replaces the old one."""
        return self.rewrite(iter)

    def rewrite(self, change: Callable[[Iterator[Row]], Iterable[Row]]) -> bool:
        """Write the new rows into a new LevelDB, which then replaces the old one."""
        with self._handle_state.paused(lambda: not self._reads.live, self._busy_seconds):
            self._handle_state.check_writable()
            try:
                with contextlib.closing(self._reads.database.iterator(verify_checksums=True)) as rows:
                    rewrite(self._place, change(rows))
                self._reads.database.close()
                self._claim.swap()
                self._reads.database = open_data(self._data, temporary=self._temporary)
            except BaseException as error:
                # Whether `db` is now the old or the new LevelDB, it holds all rows. Both must be closed.
                self._handle_state.poison(error)
                if self._reads.database.closed:
                    self._handle_state.refusal = (
                        f"cannot reopen {self._handle_state.where} after a rewrite; close it and reopen it"
                    )
                damaged_row = isinstance(error, BackendCorrupt) and error.key is not None
                if isinstance(error, Exception) and not damaged_row:
                    what = f"rewriting {self._handle_state.where} failed, and no rows are lost"
                    raise convert_doubt(what, error) from error
                raise
            self._names, self._log, self._unsynced = set(), "", False
        return True

    def files(self) -> tuple[Path, ...]:
        """Return the paths of LevelDB's files."""
        return tuple(sorted(path for path in self._data.iterdir() if path.is_file()))

    def close(self) -> None:
        """Wait for running calls, then release the store; open scans raise BackendClosed."""
        self._handle_state.shut(self._release)

    def _release(self) -> None:
        try:
            if self._logged > _LOG_BYTES_MAX and not self._temporary:
                self._settle()
        finally:
            self._logged = 0  # if this was interrupted, it is called again, with a closed LevelDB
            self._reads.database.close()
            self._reads.live.clear()
            self._claim.release()

    def _settle(self) -> None:
        """Write the rows of the log to a table; if much was written, merge the tables, too.

        The next opening then need not read a long log. If several tables may contain the same row, reads make
        LevelDB merge the tables in the background. Measured: 300 questions after 100,000 adds took 1.4 s of
        CPU time. If the tables were merged before, the questions took 0.9 s. Merging takes 0.4 s.

        If this method fails or is interrupted, nothing is lost: LevelDB does the work later.
        """
        with contextlib.suppress(self._error, OSError):
            stored = self._table_bytes()
            if self._logged * _SETTLED_SHARE < stored or not self._has_room_for(stored):
                # LevelDB has no function that only writes the log to a table. No rows follow the last key, so
                # this call merges no tables.
                self._reads.database.compact_range(start=_BORDERS[-1], stop=_BORDERS[-1])
                return
            for start, stop in pairwise(_BORDERS):
                # A signal can interrupt this loop between two calls.
                self._reads.database.compact_range(start=start, stop=stop)

    def _table_bytes(self) -> int:
        """Return the size of all tables, in bytes."""
        size = 0
        for path in self._data.glob("*.ldb"):
            # LevelDB may be deleting a table that it has merged.
            with contextlib.suppress(FileNotFoundError):
                size += path.stat().st_size
        return size

    def _has_room_for(self, size: int) -> bool:
        """Return True if more than `_AMPLE_BYTES` stays free after `size` bytes are written."""
        return self._free_bytes() > size + _AMPLE_BYTES

    def _free_bytes(self) -> int:
        """Return the free space on the disk of the store, in bytes."""
        disk = os.statvfs(self._data)
        return disk.f_bavail * disk.f_frsize
