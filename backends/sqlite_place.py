"""Where a SQLite store lives: one file, created whole, recognised without opening it as a database."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from backends.errors import BackendCorrupt, BackendMissing, BackendUnusable
from backends.files import building, fsync_path, make_parents
from backends.registry import REGISTRY, Identity, identity_of

APPLICATION_ID = 0x6D656D72
"""`memr`: what SQLite stores at offset 68 of the file; tells our files from other people's."""

LAYOUT = 1
"""SQLite's user_version: the tables below. `turns` counts durable writes (see backends.sqlite)."""

HEADER = b"SQLite format 3\0"

_APPLICATION_ID_AT = 68
_LAYOUT_AT = 60
_HEADER_BYTES = 100

_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA secure_delete = ON;
CREATE TABLE rows (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE turns (n INTEGER NOT NULL);
INSERT INTO turns VALUES (0);
"""


def is_sqlite(path: Path) -> bool:
    """Whether `path` is a SQLite file, ours or not.

    A file that this process has open already is not touched: closing it again would drop the locks
    SQLite holds on it.
    """
    if not path.is_file():
        return False
    with REGISTRY.lock:
        return REGISTRY.is_open(identity_of(path.stat())) or _header(path).startswith(HEADER)


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEADER_BYTES)


def address(path: Path) -> str:
    """The URI that opens exactly this file and never creates it; every byte is quoted."""
    return "file:" + "".join(f"%{byte:02x}" for byte in os.fsencode(path)) + "?mode=rw"


def settle(path: Path, *, create: bool) -> Identity:
    """Make sure that `path` is a store of ours, creating it where it is missing, and register it.

    The caller leaves the registry when it closes.

    Raises:
        BackendMissing: there is nothing, and `create` is false.
        BackendCorrupt: the file is cut off inside its header.
        BackendUnusable: something else is there, or the system does not let us.
    """
    try:
        if not path.exists():
            if not create:
                raise BackendMissing(f"there is no store at {path}")
            _create(path)
        with REGISTRY.lock:
            identity = identity_of(path.stat())
            if REGISTRY.is_parents(identity):
                raise BackendUnusable(
                    f"{path} was open in the process that this one was forked from; "
                    f"start processes with multiprocessing's 'spawn' instead"
                )
            if not REGISTRY.is_open(identity):
                _refuse_foreign(path)
            REGISTRY.enter(identity)
        return identity
    except OSError as error:
        raise BackendUnusable(f"{path} cannot be used: {error}") from error


def _refuse_foreign(path: Path) -> None:
    """Raise unless `path` is a file that `_create` made; read by hand, so that nothing is changed."""
    if path.is_dir():
        raise BackendUnusable(f"{path} is a folder; a SQLite store is a file")
    header = _header(path)
    if not header.startswith(HEADER):
        raise BackendUnusable(f"{path} is a file of something else, not of SQLite")
    if len(header) < _HEADER_BYTES:
        raise BackendCorrupt(f"{path} is damaged: it ends inside its header")
    found = int.from_bytes(header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4], "big")
    if found != APPLICATION_ID:
        raise BackendUnusable(f"{path} is a SQLite file of something else (application id {found:#010x})")
    layout = int.from_bytes(header[_LAYOUT_AT : _LAYOUT_AT + 4], "big")
    if layout != LAYOUT:
        raise BackendUnusable(f"{path} has table layout {layout}; this version reads layout {LAYOUT}")


def _create(path: Path) -> None:
    """Make the store so that it is there whole or not at all, whoever else is doing the same.

    A crash before the link leaves a folder `.NAME.new-…`, which the next creation removes; after
    it, the whole store, whose name may still be lost until the parent folder is synced.
    """
    make_parents(path)
    with building(path) as folder:
        new = folder / "store"
        new.touch(mode=0o600)
        try:
            made = sqlite3.connect(address(new), uri=True, isolation_level=None)
            try:
                made.executescript(_SCHEMA)
                made.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                made.execute(f"PRAGMA user_version = {LAYOUT}")
            finally:
                made.close()
        except sqlite3.Error as error:
            raise BackendUnusable(f"no SQLite store can be created in {folder.parent}: {error}") from error
        fsync_path(new)
        # Unlike a rename, a link never replaces what somebody else created meanwhile.
        if not path.exists():
            _link(new, path)
        fsync_path(path.parent)


def _link(new: Path, path: Path) -> None:
    try:
        os.link(new, path)
    except FileExistsError:
        return
