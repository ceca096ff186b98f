"""Stores that this process may read but not write: on a read-only disk, or without permission to write.

LevelDB and SQLite write into the files of a store even in order to read it, for instance to recover from a
crash. Therefore a store that cannot be written is opened as a private copy. The copy is in a folder under
TMPDIR, and is removed when the handle is closed. Tables of LevelDB never change, so the copy only links to
them. Durable writes are refused. Other writes are kept in the copy, for this handle only. For instance,
followers that lack events write their rows there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from backends.base import Backend, Batch, Capabilities, Guards, Row, Snapshot, check_batch
from backends.errors import BackendEnvironment, BackendError, environment_error, explain, system_error
from backends.files import Location, resolve_path, scratch_folder
from backends.leveldb.leveldb_place import data_folders
from backends.locks import Flock


class ReadOnlyBackend(Backend):
    """A store that can only be read.

    Args:
        location: The place of a LevelDB or SQLite store.
        number: The result of `backends.files.why_unwritable`.

    Raises:
        BackendMissing: there is no such memory in the file.
        BackendBusy: a process that may write has the LevelDB store open.
        BackendCorrupt: the store is damaged.
        BackendEnvironment: a file cannot be read, or there is no space for the copy under TMPDIR.
    """

    def __init__(self, location: Location, number: int) -> None:
        place = self._place = resolve_path(location.path)
        self._number = number
        self._owner = os.getpid()
        self._lock: Flock | None = None
        self.unwritable = explain(number).what
        try:
            self._closing = ExitStack()
            self._scratch = self._closing.enter_context(scratch_folder())
        except OSError as error:
            raise system_error("no temporary folder can be created", error) from error
        try:
            self._inner = self._opened(location)
        except BaseException as error:
            self._remove()
            if isinstance(error, OSError):
                what = f"{place} cannot be copied to {self._scratch.parent} to read it"
                raise system_error(what, error) from error
            if isinstance(error, BackendError):
                # The path of the store in place of the path of the copy.
                error.args = (str(error).replace(str(self._scratch / "store"), str(place)),)
            raise
        self.name = self._inner.name
        self.capabilities = Capabilities(
            durable=False, multi_process=self._inner.capabilities.multi_process, persistent=True
        )

    def _opened(self, location: Location) -> Backend:
        copy = self._scratch / "store"
        if location.kind == "leveldb":
            from backends.leveldb.leveldb_backend import LevelDBBackend
            from backends.leveldb.leveldb_place import link_store, lock_for_reading

            self._lock = lock_for_reading(self._place)
            link_store(self._place, copy)
            return LevelDBBackend(copy, create=False)
        from backends.sqlite.sqlite_backend import SQLiteBackend
        from backends.sqlite.sqlite_place import copy_store

        copy_store(self._place, copy)
        return SQLiteBackend(copy, create=False, memory=location.memory)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        return self._inner.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in the same order."""
        return self._inner.multi_get(keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end."""
        return self._inner.scan(start, end, reverse=reverse)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current rows."""
        return self._inner.snapshot()

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Refuse a durable write. Keep any other write in the private copy.

        Raises:
            BackendEnvironment: the write is durable.
        """
        check_batch(batch)
        if durable:
            raise self._refusal()
        self._inner.write(batch, guard=guard, durable=False)

    def _refusal(self) -> BackendEnvironment:
        return environment_error(f"{self._place} cannot be written", self._number)

    def purge(self) -> bool:
        """Refuse to rewrite the store.

        Raises:
            BackendEnvironment: always.
        """
        raise self._refusal()

    def files(self) -> tuple[Path, ...]:
        """Return the paths of the store's own files, not the paths of the copy's files."""
        if self._place.is_dir():
            folders = data_folders(self._place)
            return tuple(sorted(path for folder in folders for path in folder.iterdir() if path.is_file()))
        return tuple(path for end in ("", "-wal", "-shm") if (path := Path(f"{self._place}{end}")).is_file())

    def close(self) -> None:
        """Wait for running calls, then release the store and remove the copy."""
        self._inner.close()
        self._remove()

    def _remove(self) -> None:
        """Remove the copy and release the lock. A forked process leaves them to its parent."""
        if os.getpid() != self._owner:
            return
        self._closing.close()
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()
