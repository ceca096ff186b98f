"""The file of a SQLite store: its creation, recognition and copying, without opening it as a database."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendMissing,
    BackendUnusable,
    environment_error,
    system_error,
)
from backends.files import fsync_path, link_new, make_parents, scratch_folder, staging
from backends.locks import REGISTRY, Flock, Identity, identity_of
from backends.sqlite.sqlite_connections import address, creation_error
from backends.sqlite.sqlite_locks import LOCK_SUFFIX
from backends.sqlite.sqlite_mark import MARK_SUFFIX
from backends.sqlite.sqlite_tables import FILE_BYTES, LAYOUT, UNNAMED, check_layout, create_rows

APPLICATION_ID = 0x6D656D72
"""The application id of a store, stored at offset 68 of the file: the bytes `memr`.

It distinguishes stores from other SQLite files.
"""

HEADER = b"SQLite format 3\0"

_APPLICATION_ID_AT = 68
_LAYOUT_AT = 60
_HEADER_BYTES = 100

_WRITTEN_BESIDE = ("-wal", "-shm", LOCK_SUFFIX)
"""The endings of the names of the files next to a SQLite file that every writer needs."""

_BESIDE = ("-wal", MARK_SUFFIX)
"""The endings of the names of the files that lie next to a SQLite file and belong to its state."""

_COPY_TRIES = 5


def is_sqlite(path: Path) -> bool:
    """Return True if `path` is a SQLite file, even if the file is not a store.

    A file that this process already has open is not read: closing it again would release the locks
    that SQLite holds on it.
    """
    if not path.is_file():
        return False
    with REGISTRY.lock:
        return REGISTRY.is_open(identity_of(path.stat())) or _header(path).startswith(HEADER)


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEADER_BYTES)


def register_store(path: Path, *, create: bool) -> Identity:
    """Check that `path` is a store, create a missing store, and register an open handle.

    The caller must unregister the handle when it is closed.

    Raises:
        BackendMissing: there is no store, and `create` is false.
        BackendCorrupt: the file is truncated inside its header.
        BackendUnusable: the path is occupied by something that is not a store, or the system denies access.
    """
    try:
        if not path.exists():
            if not create:
                raise BackendMissing(f"there is no store at {path}")
            _create(path)
        with REGISTRY.lock:
            identity = identity_of(path.stat())
            REGISTRY.refuse_inherited(identity, path)
            if not REGISTRY.is_open(identity):
                _check_store_file(path)
            REGISTRY.enter(identity)
        return identity
    except OSError as error:
        raise system_error(f"{path} cannot be used as a SQLite store", error) from error


def _check_store_file(path: Path) -> None:
    """Raise an exception unless `path` is a store.

    The file is read without SQLite, because SQLite could change it.
    """
    if path.is_dir():
        raise BackendUnusable(f"{path} is a folder, and a SQLite store is a file; use another path")
    header = _header(path)
    if not header.startswith(HEADER):
        raise BackendUnusable(
            f"{path} is not a SQLite file; use another path, or if this was a store, read what is left of it "
            "with `engine rescue`"
        )
    if len(header) < _HEADER_BYTES:
        raise BackendCorrupt(f"{path} is damaged: it ends inside its header")
    application_id = int.from_bytes(header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4], "big")
    if application_id != APPLICATION_ID:
        raise BackendUnusable(
            f"{path} is a SQLite file of another program (application id {application_id:#010x})"
        )
    check_layout(int.from_bytes(header[_LAYOUT_AT : _LAYOUT_AT + 4], "big"), path)


def _create(path: Path) -> None:
    """Create the store atomically, even if other processes create it at the same time.

    A crash before the link leaves a folder `.NAME.new-…`. This folder is removed when a store is created at
    the same path again. A crash after the link leaves the complete store, but a power failure before the
    parent folder is synced may still undo the link.
    """
    make_parents(path)
    with staging(path) as folder:
        new = folder / "store"
        new.touch(mode=0o600)
        try:
            connection = sqlite3.connect(address(new), uri=True, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA secure_delete = ON")
                create_rows(connection, UNNAMED, os.urandom(FILE_BYTES))
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {LAYOUT}")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise creation_error(folder.parent, error) from error
        check_closed(new, path)
        fsync_path(new)
        # Unlike a rename, a link never replaces a file that another process created meanwhile.
        if not path.exists():
            link_new(new, path)
        fsync_path(path.parent)


def check_closed(new: Path, path: Path) -> None:
    """Check that the closed file `new`, which will be moved to `path`, holds all transactions.

    When SQLite closes a file, it moves the transactions from the WAL into the database. If that fails, the
    WAL stays, and SQLite reports no error.

    Raises:
        BackendEnvironment: the WAL still holds transactions.
    """
    wal = new.with_name(f"{new.name}-wal")
    if wal.exists() and wal.stat().st_size:
        raise environment_error(f"{path} cannot be created", 0, "SQLite could not write the database")


def files_to_write(place: Path) -> list[Path]:
    """Return the paths that a process must be able to write to use the store; none if there is no store.

    They are the existing files, and the folder if a file must be created.
    """
    if not is_sqlite(place):
        return []
    beside = [Path(f"{place}{end}") for end in _WRITTEN_BESIDE]
    existing = [path for path in beside if path.exists()]
    return [place, *existing, *([] if len(existing) == len(beside) else [place.parent])]


@contextlib.contextmanager
def private_copy(place: Path) -> Iterator[Path]:
    """Copy a SQLite file, yield the path of the private copy, and remove the copy after the block.

    Raises:
        BackendBusy: other processes kept writing.
        BackendEnvironment: the file cannot be read, or there is no space for the copy.
    """
    try:
        with scratch_folder() as folder:
            copy = folder / "store"
            copy_store(place, copy)
            yield copy
    except OSError as error:
        raise system_error(f"{place} cannot be copied to read it", error) from error


def copy_store(place: Path, copy: Path) -> None:
    """Copy a SQLite file together with its WAL, at a moment when no process writes.

    Raises:
        BackendBusy: other processes kept writing.
    """
    import shutil

    for _ in range(_COPY_TRIES):
        before = _states(place)
        with _writers_excluded(place):
            for end in ("", *_BESIDE):
                target = Path(f"{copy}{end}")
                target.unlink(missing_ok=True)
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(f"{place}{end}", target)
        if _states(place) == before:
            return
    raise BackendBusy(str(place), "another process")


@contextlib.contextmanager
def _writers_excluded(place: Path) -> Iterator[None]:
    """Hold the writers' lock during the block, if the lock file exists and can be opened for reading."""
    lock = Flock(f"{place}{LOCK_SUFFIX}")
    with contextlib.suppress(OSError):
        lock.take(fcntl.LOCK_SH)
    try:
        yield
    finally:
        lock.close()


def _states(place: Path) -> list[tuple[int, int, int]]:
    """Return a value that changes whenever the file or its WAL is written."""
    states = []
    for end in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            status = Path(f"{place}{end}").stat()
            states.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return states
