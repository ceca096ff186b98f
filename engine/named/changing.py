"""Named memories: which there are and what is in each; making, renaming and deleting them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from backends import open_backend, store_exists
from backends.sqlite_named import delete_memory, in_use, memories_in, memory_bytes, rename_memory
from engine.base.error_translation import translated
from engine.base.errors import BusyError, ConflictError, EngineError, InvalidInputError, NotFoundError
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.named.folder import beside, delete_in, foreign_in, rename_in
from engine.store.named_places import Root, is_memory, root_of
from engine.store.status import status
from engine.store.store import Store


@dataclass(frozen=True, slots=True)
class Memory:
    """A named memory as it is found; what only an open store can tell is None where it is not `usable`."""

    name: str
    url: str
    state: str
    """`usable`, `empty` where it never began, or the code of the error that kept it from being read."""
    bytes: int
    """Of its files; in a SQLite file of several, of its keys and values."""
    store_id: str | None = None
    live_atoms: int | None = None
    events: int | None = None
    root: str | None = None
    """The overall root."""


def memories(url: str) -> list[str]:
    """The names of the memories in what `url` names, in order; none where nothing is.

    Raises:
        InvalidInputError: `url` is no place for named memories.
        CorruptionError: the SQLite file is damaged.
    """
    return names_in(root_of(url))


def names_in(root: Root) -> list[str]:
    """As `memories`."""
    with translated():
        if root.is_file:
            return memories_in(str(root.path))
        try:
            return sorted(entry.name for entry in root.path.iterdir() if is_memory(entry))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InvalidInputError(f"{root.path} cannot be read: {error.strerror or error}") from error


def described(root: Root, name: str) -> Memory:
    """A memory that is there, as it is; only followers that are behind come to its head.

    A LevelDB memory has to be opened for itself, so that of one in use only the size is told.
    """
    url = root.url_of(name)
    size = size_of(root, name)
    try:
        with translated(), open_backend(url, create=False) as backend:
            if not read_log(backend).size:
                return Memory(name, url, "empty", size, live_atoms=0, events=0)
            store = Store(backend, None)
            with store.view(*store.followers) as rows:
                found, shown = status(rows, store), store.roots(rows).overall.hex()
    except EngineError as error:
        return Memory(name, url, error.code, size)
    return Memory(name, url, "usable", size, found.store_id, found.live_atoms, found.events, shown)


def size_of(root: Root, name: str) -> int:
    """The bytes of a memory on the disk; in a SQLite file of several, of its keys and values."""
    with translated():
        if root.is_file:
            return memory_bytes(str(root.path), name)
    entry = root.path / name
    if entry.is_dir():
        return sum(
            Path(folder, file).lstat().st_size for folder, _, files in os.walk(entry) for file in files
        )
    return sum(file.lstat().st_size for file in (entry, *beside(entry)) if file.is_file())


@dataclass(frozen=True, slots=True)
class Removal:
    """What deleting a memory did, or with `dry_run` would do."""

    memory: Memory
    """As it was."""
    kept: tuple[str, ...]
    """Files in its folder that are not of it: they stay, with their folder."""
    cleared: bool
    """Nothing of it is left in the store's own files. False: others have the SQLite file open, and its
    write-ahead log holds some until they are done."""


def create(url: str, name: str, *, actor: str = "user") -> bool:
    """Make a memory of this name unless there is one; returns whether it was made just now.

    Raises:
        InvalidInputError: it is no name, or `url` can hold none.
        BusyError: somebody else has it open.
    """
    place = root_of(url).url_of(name)
    with translated():
        there = store_exists(place)
    Engine.open(place, actor=actor).close()
    return not there


def rename(url: str, old: str, new: str, *, dry_run: bool = False) -> None:
    """Give a memory another name, in one step: nobody ever finds both, or neither.

    With `dry_run`, only look whether that would go.

    Raises:
        NotFoundError: there is none of the name `old`.
        ConflictError: something of the name `new` is there.
        BusyError: somebody has it open.
    """
    root = root_of(url)
    root.url_of(old)
    root.url_of(new)
    known = names_in(root)
    _needed(old, known, url)
    if new in known:
        raise ConflictError(f"there is a memory {new!r} already", hint="choose another name")
    if dry_run:
        return
    with translated():
        if root.is_file:
            rename_memory(str(root.path), old, new)
        else:
            rename_in(root.path, old, new)


def delete(url: str, name: str, *, dry_run: bool = False) -> Removal:
    """Delete a memory and everything in it; backups and copies are not reached.

    Raises:
        NotFoundError: there is none of this name.
        BusyError: somebody has it open.
    """
    root = root_of(url)
    root.url_of(name)
    _needed(name, names_in(root), url)
    found = described(root, name)
    with translated():
        if found.state == "busy" or (root.is_file and in_use(str(root.path), name)):
            raise BusyError(f"memory {name!r} is in use", hint="close it there first")
        if dry_run:
            kept = [] if root.is_file else foreign_in(root.path / name)
            return Removal(found, tuple(map(str, kept)), cleared=False)
        if root.is_file:
            return Removal(found, (), cleared=delete_memory(str(root.path), name))
        return Removal(found, tuple(map(str, delete_in(root.path, name))), cleared=True)


def _needed(name: str, known: list[str], url: str) -> None:
    if name not in known:
        said = f"there are: {', '.join(known)}" if known else "there are none"
        raise NotFoundError(f"there is no memory {name!r} in {url}", hint=said)
