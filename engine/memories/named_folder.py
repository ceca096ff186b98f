"""Renaming and deleting a memory that is a folder or a file in a root folder.

The decisive step is a single rename, during which the memory is locked. If the process is killed before this
step, nothing has changed. If it is killed after this step, only temporary files are left. The next rename or
deletion in the same root folder removes them. Symbolic links are not followed. Foreign files, which are not
part of the memory, are not deleted.
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
from backends.leveldb.leveldb_place import DATA, LOCK, Claim, is_leveldb_store
from backends.locks import REGISTRY, identity_of
from backends.sqlite.sqlite_connections import address, convert_error
from backends.sqlite.sqlite_place import register_store
from backends.sqlite.sqlite_tables import memory_numbers
from engine.base.errors import ConflictError
from engine.store.named_places import is_memory

KEPT = "kept"
"""The name of the subfolder to which a deletion moves foreign files that it finds among LevelDB files."""

TOKENS_SUFFIX = ".memroot-tokens"
"""The name of the file with a service's tokens in a folder, and the end of its name beside a SQLite file."""

_LEVELDB = re.compile(r"CURRENT|LOCK|LOG|LOG\.old|MANIFEST-[0-9]+|[0-9]+\.(log|ldb|sst|dbtmp)")
_LEFT_OVER = re.compile(r"\.(.+)\.new-[0-9a-f]{16}")


@contextlib.contextmanager
def lock_root(root: Path) -> Iterator[None]:
    """Lock the root folder against other renames and deletions; remove files left by killed processes."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackendBusy(
                str(root), "a process that renames or deletes a memory in this folder"
            ) from None
        for name in sorted(
            {match[1] for entry in root.iterdir() if (match := _LEFT_OVER.fullmatch(entry.name))}
        ):
            with staging(root / name):
                pass
        yield
    finally:
        os.close(descriptor)


def foreign_in(entry: Path) -> list[Path]:
    """Return the sorted paths of the foreign files in a memory's folder."""
    if not entry.is_dir():
        return []
    return sorted([*_foreign_beside_data(entry), *_foreign_data(entry)])


def _foreign_beside_data(entry: Path) -> list[Path]:
    own = {entry / LOCK, entry / DATA, *tokens_files(entry)}
    return sorted(path for path in entry.iterdir() if path not in own)


def _foreign_data(entry: Path) -> list[Path]:
    return [
        path
        for path in (entry / DATA).iterdir()
        if not _LEVELDB.fullmatch(path.name) or path.is_symlink() or not path.is_file()
    ]


def rename_in(root: Path, old: str, new: str) -> None:
    """Rename the memory `old` to `new`. The memory must not be open.

    Raises:
        BackendMissing: There is no memory named `old`.
        ConflictError: A memory or file named `new` already exists.
        BackendBusy: The memory is open.
    """
    entry, target = root / old, root / new
    with lock_root(root), _lock_memory(entry):
        for path in (target, *beside(target)):
            if os.path.lexists(path):
                raise ConflictError(f"{path} already exists", hint="choose another name")
        entry.rename(target)
        for tokens, moved in zip(tokens_files(entry), tokens_files(target), strict=True):
            if tokens.exists():
                tokens.rename(moved)
        fsync_path(root)
        for left in beside(entry):
            left.unlink(missing_ok=True)


def delete_in(root: Path, name: str) -> list[Path]:
    """Delete a memory, which must not be open. Return the paths of the foreign files, which are not deleted.

    Raises:
        BackendMissing: There is no memory named `name`.
        BackendBusy: The memory is open.
        BackendUnusable: The memory was deleted, but some of its files could not be removed.
    """
    entry = root / name
    with lock_root(root), _lock_memory(entry):
        foreign = _set_aside(entry) if entry.is_dir() else []
        with staging(entry) as leftovers:
            if foreign:
                (entry / DATA).rename(leftovers / DATA)
                (entry / LOCK).unlink()
            else:
                entry.rename(leftovers / name)
            fsync_path(root)
        for path in beside(entry):
            path.unlink(missing_ok=True)
        if leftovers.exists():
            raise BackendUnusable(
                f"memory {name!r} is deleted, but some files in {leftovers} could not be removed"
            )
    return foreign


def _set_aside(entry: Path) -> list[Path]:
    """Move foreign files out of the LevelDB folder that is about to be deleted."""
    for path in _foreign_data(entry):
        aside = entry / KEPT
        aside.mkdir(exist_ok=True)
        if os.path.lexists(aside / path.name):
            raise ConflictError(f"{aside / path.name} already exists", hint="move that file away first")
        path.rename(aside / path.name)
    return _foreign_beside_data(entry)


def beside(entry: Path) -> list[Path]:
    """Return the paths of the files that SQLite and memroot create next to the SQLite file `entry`."""
    names = [entry.name + end for end in ("-wal", "-shm", "-lock", "-wal-mark")]
    return [*map(entry.with_name, names), *tokens_files(entry)]


@contextlib.contextmanager
def _lock_memory(entry: Path) -> Iterator[None]:
    """Lock a memory, so that no other process can open it during the block."""
    if not is_memory(entry):
        raise BackendMissing(f"there is no memory named {entry.name!r} in {entry.parent}")
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
    """Write the changes from the write-ahead log into the SQLite file, then lock the file exclusively."""
    try:
        with contextlib.closing(
            sqlite3.connect(address(entry), uri=True, timeout=0, isolation_level=None)
        ) as connection:
            # In WAL mode, SQLite grants this lock only while no other connection is open.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            if others := memory_numbers(connection):
                raise BackendUnusable(
                    f"{entry} contains named memories itself ({', '.join(others)}); delete or rename them "
                    f"first (--store sqlite:{entry})"
                )
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield
    except sqlite3.Error as error:
        raise convert_error(str(entry), error) from error


def tokens_file(place: Path) -> Path:
    """Return the path of the file with a service's tokens for the folder or the SQLite file `place`.

    The name begins with a dot, so the file can never be taken for a memory.
    """
    return place / TOKENS_SUFFIX if place.is_dir() else place.with_name(f".{place.name}{TOKENS_SUFFIX}")


def tokens_files(place: Path) -> list[Path]:
    """Return the paths of the file with the tokens, and of the journal that an interrupted write leaves."""
    file = tokens_file(place)
    return [file, file.with_name(file.name + "-journal")]
