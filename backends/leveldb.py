"""LevelDB through plyvel: the embedded default.

LevelDB used plainly loses acknowledged writes in several measured ways. What this module does
about them, each with a test in `tests/backends/test_leveldb_rules*.py`:

- after any failed write the handle takes no more, and says "in doubt" rather than "failed";
- a lock of our own (`backends.leveldb_place`), one handle a process, none in a forked process;
- `paranoid_checks` always, checksums verified on every read, compression off;
- a batch is built in full and then written with one call;
- creation is atomic; nothing is ever repaired;
- closing waits for running calls;
- the folder is synced before a durable write is acknowledged, if its list of files has changed;
- a durable write does not overtake what was written before it without `durable`;
- deleted bytes are got rid of by rewriting everything: compaction was measured to leave them.

A log cut at the end is *not* detectable here: only a checkpoint kept elsewhere shows that.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from backends.base import (
    Backend,
    Batch,
    Capabilities,
    Guards,
    Row,
    Snapshot,
    check_batch,
    check_guards,
    guards_of,
)
from backends.errors import BackendClosed, BackendCorrupt, BackendError, BackendInDoubt
from backends.files import fsync_path, real
from backends.handle_state import HandleState
from backends.leveldb_place import DATA, open_data, plyvel_module, rewrite, settle
from backends.leveldb_snapshot import LevelDBSnapshot

_CHUNK_ROWS = 32
"""Most rows a scan fetches in one go; it begins with one, because many callers want one."""

_OPENED: Row = (b"", b"")

BUSY_SECONDS = 10.0
"""How long purging waits for open snapshots and scans before it says busy."""


class LevelDBBackend(Backend):
    """An open LevelDB store; one handle at a time, in one process.

    Args:
        path: the store's folder.
        create: create the store where nothing is.
        busy_seconds: how long purging waits for open snapshots and scans.

    Raises:
        BackendMissing: nothing is there, and `create` is false.
        BackendBusy: it is open already, here or in another process.
        BackendCorrupt: LevelDB's own checks fail on its log or its files.
        BackendUnusable: something else is there, or the system does not let us.
    """

    name = "leveldb"
    capabilities = Capabilities(durable=True, multi_process=False, persistent=True)

    def __init__(
        self, path: str | os.PathLike[str], *, create: bool = True, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self._error: type[Exception] = plyvel_module().Error
        place = real(os.fspath(path))
        self._claim = settle(place, create=create)
        self._place = place
        self._data = place / DATA
        self._busy_seconds = busy_seconds
        try:
            self._db = open_data(self._data)
        except BaseException:
            self._claim.release()
            raise
        self._live: set[Any] = set()
        self._names: set[str] = set()
        self._unsynced = False
        self._writing = threading.Lock()
        self._handle_state = HandleState(str(place), self._parts)

    def _parts(self) -> Iterable[object]:
        """What a forked process must not free; and it must not hold the lock on the parent's behalf."""
        self._claim.abandon()
        return (self._db, *self._live)

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None; raises BackendCorrupt where its block fails its checksum."""
        return self._get(None, key)

    def _get(self, source: Any, key: bytes) -> bytes | None:
        """Reads `source`, or the store itself: only who is inside the gate may name its handle."""
        self._handle_state.enter()
        try:
            return (source or self._db).get(key, verify_checksums=True)  # type: ignore[no-any-return]
        except self._error as error:
            raise self._translated(error) from error
        finally:
            self._handle_state.leave()

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, in their order; take a snapshot to have them of one moment."""
        return self._multi_get(None, keys)

    def _multi_get(self, source: Any, keys: Sequence[bytes]) -> list[bytes | None]:
        try:
            with self._handle_state.inside():
                get = (source or self._db).get
                return [get(key, verify_checksums=True) for key in keys]
        except self._error as error:
            raise self._translated(error) from error

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with start <= key < end as of the call, a few at a time."""
        return self._scan(None, self._handle_state, start, end, reverse)

    def _scan(
        self,
        source: Any,
        owner: HandleState | LevelDBSnapshot,
        start: bytes,
        end: bytes | None,
        reverse: bool,
    ) -> Iterator[Row]:
        self._handle_state.check()
        if end is not None and end <= start:
            return iter(())
        rows = self._rows(source, owner, start, end, reverse)
        # Up to its first yield: the scan sees the rows as of now, and is released even if never read.
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
        handle_state = self._handle_state
        with handle_state.inside():
            # plyvel 1.5.1 finds nothing backwards where `start` is the only key in the range, so
            # backwards we stop at `start` ourselves.
            found = (source or self._db).iterator(
                start=None if reverse else start, stop=end, reverse=reverse, verify_checksums=True
            )
            self._live.add(found)
        size = 1
        try:
            yield _OPENED
            while True:
                with handle_state.inside():
                    chunk = list(islice(found, size))
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
            raise self._translated(error) from error
        finally:
            self._end(found)

    def _end(self, found: Any) -> None:
        """Close an iterator, unless closing the handle did or it belongs to a parent process."""
        with contextlib.suppress(BackendClosed), self._handle_state.inside():
            found.close()
            self._live.discard(found)

    def snapshot(self) -> Snapshot:
        """The rows as they are now."""
        with self._handle_state.inside():
            return LevelDBSnapshot(self, self._db.snapshot())

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; with `durable`, it and everything before it survive loss of power."""
        check_batch(batch)
        guards = guards_of(guard)
        with self._handle_state.inside(), self._writing:
            self._handle_state.check_writable()
            check_guards(guards, self.get)
            if not batch.rows and not (durable and self._unsynced):
                return
            sync = durable and not self._unsynced
            built = self._db.write_batch(sync=sync)
            for key, value in batch.rows.items():
                if value is None:
                    built.delete(key)
                else:
                    built.put(key, value)
            try:
                self._send(built, sync=sync, durable=durable)
            except BaseException as error:
                # Also what a signal handler raises: nobody knows how far the write came.
                self._handle_state.poison(error)
                if isinstance(error, Exception):
                    raise BackendInDoubt(
                        f"a write to {self._handle_state.where} failed half-way ({error}); "
                        f"reopen it and look if the rows are there"
                    ) from error
                raise

    def _send(self, built: Any, *, sync: bool, durable: bool) -> None:
        """Write one batch; acknowledge it by returning.

        LevelDB starts a new log every `write_buffer_size` and syncs only the newest, so a synced
        write could survive a crash that unsynced ones before it, in an older log, do not. Hence,
        while there are unsynced rows: write, sync older logs if there are any, then sync the newest
        through an empty batch. A crash anywhere here leaves all rows up to some write, and none after,
        unless the system, unasked, writes out the new log in the instant before the old one is synced.
        """
        built.write()
        if not sync:
            self._unsynced = True
        self._sync_names()
        if durable and not sync:
            self._db.write_batch(sync=True).write()
            self._sync_names()
        if durable:
            self._unsynced = False

    def _sync_names(self) -> None:
        """Sync the folder and all logs but the newest, if the list of files has changed.

        LevelDB does not sync the folder after it starts a new log: a file system that keeps to the
        letter of POSIX may lose the log's name, and all in it. Measured: 7 to 12 µs for 10 to 25 files
        where nothing changed.
        """
        names = set(os.listdir(self._data))  # noqa: PTH208 - half the time of iterdir, at every write
        if names == self._names:
            return
        logs = sorted((name for name in names if name.endswith(".log")), key=lambda name: int(name[:-4]))
        for name in logs[:-1]:
            # Gone means that its rows are in a synced table by now.
            with contextlib.suppress(FileNotFoundError):
                fsync_path(self._data / name)
        fsync_path(self._data)
        self._names = names

    def purge(self) -> None:
        """Copy all rows into a new LevelDB and have that take the old one's place."""
        with self._handle_state.held(lambda: not self._live, self._busy_seconds):
            self._handle_state.check_writable()
            try:
                with contextlib.closing(self._db.iterator(verify_checksums=True)) as rows:
                    rewrite(self._place, rows)
                self._db.close()
                self._claim.swap()
                self._db = open_data(self._data)
            except BaseException as error:
                # Whichever of the two is there under the name has all rows; this handle may have neither.
                self._handle_state.poison(error)
                if self._db.closed:
                    self._handle_state.refusal = (
                        f"{self._handle_state.where} could not be opened again: close it, reopen it"
                    )
                if isinstance(error, Exception):
                    raise BackendInDoubt(
                        f"rewriting {self._handle_state.where} failed half-way ({error}); "
                        "open it again: nothing is lost"
                    ) from error
                raise
            self._names, self._unsynced = set(), False

    def files(self) -> tuple[Path, ...]:
        """LevelDB's files."""
        return tuple(sorted(path for path in self._data.iterdir() if path.is_file()))

    def close(self) -> None:
        """Wait for running calls, then release the store; scans still open raise BackendClosed."""
        self._handle_state.shut(self._release)

    def _release(self) -> None:
        self._db.close()
        self._live.clear()
        self._claim.release()

    def _translated(self, error: Exception) -> BackendError:
        if isinstance(error, plyvel_module().CorruptionError):
            return BackendCorrupt(f"{self._handle_state.where} is damaged: {error}")
        return BackendError(f"{self._handle_state.where} cannot be read: {error}")
