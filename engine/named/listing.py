"""Which memories there are, and what is in each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from backends import open_backend
from backends.sqlite_named import memories_in, memory_bytes
from engine.base.error_translation import translated
from engine.base.errors import EngineError, InvalidInputError
from engine.ledger.journal import read_log
from engine.named.folder import beside
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
