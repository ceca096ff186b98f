"""Named memories: listing, describing, creating, renaming and deleting them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from backends import locate, open_backend, store_exists
from engine.base.error_translation import translated
from engine.base.errors import BusyError, ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.memories.named_folder import beside, delete_in, foreign_in, rename_in
from engine.store.named_places import MemoriesRoot, is_memory, root_of
from engine.store.status import status
from engine.store.store import Store


@dataclass(frozen=True, slots=True)
class Memory:
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


def described(root: MemoriesRoot, name: str) -> Memory:
    """Return the description of an existing memory. Followers that lack events are updated first.

    Only one process at a time can open a LevelDB memory. If another process has it open, only the size is
    known.
    """
    url = root.url_of(name)
    size = size_of(root, name)
    try:
        with translated(), open_backend(url, create=False) as backend:
            if not read_log(backend).size:
                return Memory(name, url, "empty", size, live_atoms=0, events=0)
            store = Store(backend, None)
            with store.view(*store.followers) as rows:
                counts, root_hex = status(rows, store), store.roots(rows).overall.hex()
    except EngineError as error:
        return Memory(name, url, error.code, size)
    return Memory(name, url, "usable", size, counts.store_id, counts.live_atoms, counts.events, root_hex)


def all_described(root: MemoriesRoot) -> Iterator[Memory]:
    """Yield the description of each memory in `root`, sorted by name. See `described`."""
    names = names_in(root)
    with contextlib.ExitStack() as stack:
        if root.kind == "postgresql":
            from backends.postgresql_named import connected_to

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

    memory: Memory
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


def rename(url: str, old: str, new: str, *, dry_run: bool = False) -> None:
    """Rename a memory in one step: at every moment exactly one of the two names exists.

    With `dry_run`, only check that the rename is possible.

    Raises:
        NotFoundError: There is no memory named `old`.
        ConflictError: A memory or file named `new` already exists.
        BusyError: The memory is open.
    """
    root = root_of(url)
    root.url_of(old)
    root.url_of(new)
    known = names_in(root)
    _require_memory(old, known, url)
    if new in known:
        raise ConflictError(f"a memory named {new!r} already exists", hint="choose another name")
    if dry_run:
        return
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
        from backends import postgresql_named

        return postgresql_named, locate(root.url).path
    from backends import sqlite_named

    return sqlite_named, str(root.path)


def _require_memory(name: str, known: list[str], url: str) -> None:
    if name not in known:
        hint = (
            f"the existing memories are: {', '.join(known)}"
            if known
            else "there are no memories at this location"
        )
        raise NotFoundError(f"there is no memory named {name!r} in {url}", hint=hint)
