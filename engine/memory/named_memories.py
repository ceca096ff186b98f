"""Named memories: listing, describing, creating, renaming and deleting them.

A memory that is renamed or deleted may be a folder or a file in a root folder. The decisive step is then a
single rename, during which the memory is locked. If the process is killed before this step, nothing has
changed. If it is killed after this step, only temporary files are left. The next rename or deletion in the
same root folder removes them. Symbolic links are not followed. Foreign files, which are not part of the
memory, are not deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from backends import locate, open_backend, store_exists
from backends.errors import BackendBusy, BackendMissing, BackendUnusable
from backends.files import fsync_path, staging
from backends.leveldb.leveldb_place import DATA, LOCK, Claim, is_leveldb_store
from engine.base.errors import (
    BusyError,
    ConflictError,
    EngineError,
    InvalidInputError,
    NotFoundError,
    translated,
)
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.store.named_places import MemoriesRoot, is_memory, root_of, tokens_files
from engine.store.status import status
from engine.store.store import Store

KEPT = "kept"
"""The name of the subfolder to which a deletion moves foreign files that it finds among LevelDB files."""

_LEVELDB = re.compile(r"CURRENT|LOCK|LOG|LOG\.old|MANIFEST-[0-9]+|[0-9]+\.(log|ldb|sst|dbtmp)")
_LEFT_OVER = re.compile(r"\.(.+)\.new-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class NamedMemory:
    """The description of a named memory.

    The fields after `bytes` are None if the memory has no such values, or if it cannot be read.
    """

    name: str
    url: str
    state: str
    """`usable`; `empty` if there are no events; or an error code, if opening the memory raised an error."""
    bytes: int
    """The size of the memory's files. If one SQLite file contains all memories, the size of the memory's keys
    and values."""
    store_id: str | None = None
    live_atoms: int | None = None
    events: int | None = None
    root: str | None = None
    """The overall root, as hex digits."""


def memories(url: str) -> list[str]:
    """Return the sorted names of the memories at `url`, or an empty list if `url` does not exist.

    Raises:
        InvalidInputError: `url` cannot contain named memories.
        CorruptionError: The SQLite file is damaged.
    """
    return names_in(root_of(url))


def names_in(root: MemoriesRoot) -> list[str]:
    """Return the sorted names of the memories in `root`, as `memories` does."""
    with translated():
        if root.kind != "folder":
            shared, place = _shared(root)
            return shared.memories_in(place)
        try:
            return sorted(entry.name for entry in root.path.iterdir() if is_memory(entry))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InvalidInputError(f"{root.path} cannot be read: {error.strerror or error}") from error


def described(root: MemoriesRoot, name: str) -> NamedMemory:
    """Return the description of an existing memory. Followers that lack events are updated first.

    If another process has a LevelDB memory open, only its size is known.
    """
    url = root.url_of(name)
    size = size_of(root, name)
    try:
        with translated(), open_backend(url, create=False) as backend:
            if not read_log(backend).size:
                return NamedMemory(name, url, "empty", size, live_atoms=0, events=0)
            store = Store(backend, None)
            with store.view(*store.followers) as rows:
                counts, root_hex = status(rows, store), store.roots(rows).overall.hex()
    except EngineError as error:
        return NamedMemory(name, url, error.code, size)
    return NamedMemory(name, url, "usable", size, counts.store_id, counts.live_atoms, counts.events, root_hex)


def all_described(root: MemoriesRoot) -> Iterator[NamedMemory]:
    """Yield the description of each memory in `root`, sorted by name. See `described`."""
    names = names_in(root)
    with contextlib.ExitStack() as stack:
        if root.kind == "postgresql":
            from backends.postgresql.postgresql_memories import connected_to

            # A connection for each memory would take as long as the rest.
            stack.enter_context(connected_to(locate(root.url).path))
        for name in names:
            yield described(root, name)


def size_of(root: MemoriesRoot, name: str) -> int:
    """Return the size in bytes of a memory's files, or of the memory's keys and values in a shared file."""
    with translated():
        if root.kind != "folder":
            shared, place = _shared(root)
            return shared.memory_bytes(place, name)
    entry = root.path / name
    if entry.is_dir():
        return sum(
            Path(folder, file).lstat().st_size for folder, _, files in os.walk(entry) for file in files
        )
    return sum(file.lstat().st_size for file in (entry, *beside(entry)) if file.is_file())


@dataclass(frozen=True, slots=True)
class Removal:
    """The result of deleting a memory. For a dry run, the result that the deletion would have."""

    memory: NamedMemory
    """The description of the memory before it was deleted."""
    kept: tuple[str, ...]
    """The paths of foreign files: the memory's folder contains them, but they are not part of the memory.
    Neither these files nor the folder is deleted."""
    cleared: bool
    """True if the files of the store no longer contain any data of the memory.

    False if other processes have the SQLite file open: until these processes close the file, its write-ahead
    log contains parts of the memory. Also False for a memory in PostgreSQL, whose files keep deleted rows for
    some time.
    """


def create(url: str, name: str, *, actor: str = "user") -> bool:
    """Create a memory named `name` unless it exists; return True if it was created.

    Raises:
        InvalidInputError: `name` is not a valid name, or `url` cannot contain named memories.
        BusyError: Another process keeps the memory locked.
    """
    place = root_of(url).url_of(name)
    with translated():
        existed = store_exists(place)
    Engine.open(place, actor=actor).close()
    return not existed


def rename(url: str, old: str, new: str) -> None:
    """Rename a memory in one step: at every moment exactly one of the two names exists.

    Raises:
        NotFoundError: There is no memory named `old`.
        ConflictError: A memory or file named `new` already exists.
        BusyError: The memory is open.
    """
    root = root_of(url)
    root.url_of(old)
    root.url_of(new)
    names = names_in(root)
    _require_memory(old, names, url)
    if new in names:
        raise ConflictError(f"a memory named {new!r} already exists", hint="choose another name")
    with translated():
        if root.kind != "folder":
            shared, place = _shared(root)
            shared.rename_memory(place, old, new)
        else:
            rename_in(root.path, old, new)


def delete(url: str, name: str, *, dry_run: bool = False) -> Removal:
    """Delete a memory with all of its data. Backups and copies of the memory are not deleted.

    Raises:
        NotFoundError: There is no memory named `name`.
        BusyError: The memory is open.
    """
    root = root_of(url)
    root.url_of(name)
    _require_memory(name, names_in(root), url)
    memory = described(root, name)
    with translated():
        if memory.state == "busy":
            raise _in_use(name)
        if root.kind != "folder":
            shared, place = _shared(root)
            if shared.in_use(place, name):
                raise _in_use(name)
            return Removal(memory, (), cleared=not dry_run and shared.delete_memory(place, name))
        if dry_run:
            return Removal(memory, tuple(map(str, foreign_in(root.path / name))), cleared=False)
        return Removal(memory, tuple(map(str, delete_in(root.path, name))), cleared=True)


def _in_use(name: str) -> BusyError:
    return BusyError(f"memory {name!r} is in use", hint="end the process that uses the memory")


class _Shared(Protocol):
    """A module that manages the memories of one file or database."""

    def memories_in(self, path: str) -> list[str]: ...
    def memory_bytes(self, path: str, name: str) -> int: ...
    def rename_memory(self, path: str, old: str, new: str) -> None: ...
    def delete_memory(self, path: str, name: str) -> bool: ...
    def in_use(self, path: str, name: str) -> bool: ...


def _shared(root: MemoriesRoot) -> tuple[_Shared, str]:
    """Return the module for the memories of one file or database, and its address for that module."""
    if root.kind == "postgresql":
        from backends.postgresql import postgresql_memories

        return postgresql_memories, locate(root.url).path
    from backends.sqlite import sqlite_memories

    return sqlite_memories, str(root.path)


def _require_memory(name: str, known: list[str], url: str) -> None:
    if name not in known:
        shown = f"the existing memories are: {', '.join(known)}"
        hint = shown if known else "there are no memories at this location"
        raise NotFoundError(f"there is no memory named {name!r} in {url}", hint=hint)


@contextlib.contextmanager
def lock_root(root: Path) -> Iterator[None]:
    """Lock the root folder against other renames and deletions; remove files left by killed processes."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = "a process that renames or deletes a memory in this folder"
            raise BackendBusy(str(root), holder) from None
        left_over = map(_LEFT_OVER.fullmatch, (entry.name for entry in root.iterdir()))
        for name in sorted({match[1] for match in left_over if match}):
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
    return sorted({*entry.iterdir()} - {entry / LOCK, entry / DATA, *tokens_files(entry)})


def _foreign_data(entry: Path) -> list[Path]:
    files = (entry / DATA).iterdir()
    return [
        file for file in files if not _LEVELDB.fullmatch(file.name) or file.is_symlink() or not file.is_file()
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
            reason = f"some files in {leftovers} could not be removed"
            raise BackendUnusable(f"memory {name!r} is deleted, but {reason}")
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
    from backends.sqlite.sqlite_memories import locked_file

    with locked_file(str(entry)):
        yield
