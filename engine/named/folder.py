"""Renaming and deleting a memory that is a folder or a file in a root folder.

The step that counts is one rename, under the memory's own lock; killed before it, nothing has happened,
and after it, only rubbish is left, which the next change in the root clears away. Links are not followed,
and files that are not the memory's stay where they are.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from backends.errors import BackendBusy, BackendMissing, BackendUnusable
from backends.files import fsync_path, staging
from backends.leveldb_place import DATA, LOCK, Claim, is_leveldb_store
from backends.registry import REGISTRY, identity_of
from backends.sqlite_place import address, register_store
from backends.sqlite_snapshot import convert_error
from backends.sqlite_tables import memory_numbers
from engine.base.errors import ConflictError
from engine.store.named_places import is_memory

KEPT = "kept"
"""The folder that foreign files out of a deleted memory's LevelDB are kept in, inside the memory's own."""

_LEVELDB = re.compile(r"CURRENT|LOCK|LOG|LOG\.old|MANIFEST-[0-9]+|[0-9]+\.(log|ldb|sst|dbtmp)")
_LEFT_OVER = re.compile(r"\.(.+)\.new-[0-9a-f]{16}")


@contextlib.contextmanager
def alone_in(root: Path) -> Iterator[None]:
    """Keep others from renaming and deleting in the root; and clear away what a killed one left there."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackendBusy(str(root), "a process that renames or deletes a memory there") from None
        for name in sorted(
            {found[1] for entry in root.iterdir() if (found := _LEFT_OVER.fullmatch(entry.name))}
        ):
            with staging(root / name):
                pass
        yield
    finally:
        os.close(descriptor)


def foreign_in(entry: Path) -> list[Path]:
    """The files in a memory's folder that are not of it, in order."""
    if not entry.is_dir():
        return []
    others = [found for found in entry.iterdir() if found.name not in (LOCK, DATA)]
    return sorted([*others, *_foreign_data(entry)])


def _foreign_data(entry: Path) -> list[Path]:
    return [
        found
        for found in (entry / DATA).iterdir()
        if not _LEVELDB.fullmatch(found.name) or found.is_symlink() or not found.is_file()
    ]


def rename_in(root: Path, old: str, new: str) -> None:
    """Give a memory that nobody uses another name.

    Raises:
        BackendMissing: there is none of the name `old`.
        ConflictError: something of the name `new` is there.
        BackendBusy: somebody uses it.
    """
    entry, target = root / old, root / new
    with alone_in(root), _held(entry):
        for taken in (target, *beside(target)):
            if os.path.lexists(taken):
                raise ConflictError(f"{taken} is there already", hint="choose another name")
        entry.rename(target)
        fsync_path(root)
        for left in beside(entry):
            left.unlink(missing_ok=True)


def delete_in(root: Path, name: str) -> list[Path]:
    """Delete a memory that nobody uses; returns the foreign files that were kept, where they are now.

    Raises:
        BackendMissing: there is none of this name.
        BackendBusy: somebody uses it.
        BackendUnusable: it could not be removed to its end.
    """
    entry = root / name
    with alone_in(root), _held(entry):
        kept = _set_aside(entry) if entry.is_dir() else []
        with staging(entry) as rubbish:
            if kept:
                (entry / DATA).rename(rubbish / DATA)
                (entry / LOCK).unlink()
            else:
                entry.rename(rubbish / name)
            fsync_path(root)
        for left in beside(entry):
            left.unlink(missing_ok=True)
        if rubbish.exists():
            raise BackendUnusable(f"{name!r} is deleted, but not all of {rubbish} could be removed")
    return kept


def _set_aside(entry: Path) -> list[Path]:
    """Move foreign files out of the LevelDB, before it goes."""
    for found in _foreign_data(entry):
        aside = entry / KEPT
        aside.mkdir(exist_ok=True)
        if os.path.lexists(aside / found.name):
            raise ConflictError(f"{aside / found.name} is there already", hint="move it away first")
        found.rename(aside / found.name)
    return sorted(found for found in entry.iterdir() if found.name not in (LOCK, DATA))


def beside(entry: Path) -> list[Path]:
    """Where SQLite, and this program, keep files of the file `entry`."""
    return [entry.with_name(entry.name + end) for end in ("-wal", "-shm", "-lock")]


@contextlib.contextmanager
def _held(entry: Path) -> Iterator[None]:
    """The memory, for nobody else to open."""
    if not is_memory(entry):
        raise BackendMissing(f"there is no memory {entry.name!r} in {entry.parent}")
    if is_leveldb_store(entry):
        claim = Claim(entry)
        try:
            yield
        finally:
            claim.release()
        return
    with REGISTRY.lock:
        if REGISTRY.is_open(identity_of(entry.stat())):
            raise BackendBusy(str(entry), f"pid {os.getpid()} (this process)")
        identity = register_store(entry, create=False)
    try:
        with _exclusive(entry):
            yield
    finally:
        with REGISTRY.lock:
            REGISTRY.leave(identity)


@contextlib.contextmanager
def _exclusive(entry: Path) -> Iterator[None]:
    """Hold a SQLite file alone, its write-ahead log emptied into it."""
    try:
        with contextlib.closing(
            sqlite3.connect(address(entry), uri=True, timeout=0, isolation_level=None)
        ) as connection:
            # Of a file in WAL mode, this lock is only to be had while no other connection is open.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            if others := memory_numbers(connection):
                raise BackendUnusable(
                    f"{entry} holds memories of its own ({', '.join(others)}): delete or rename them first, "
                    f"with --store sqlite:{entry}"
                )
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield
    except sqlite3.Error as error:
        raise convert_error(str(entry), error) from error
