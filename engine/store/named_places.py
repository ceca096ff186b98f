"""The location of a named memory.

A root, which is a folder, one SQLite file or one PostgreSQL database, contains named memories. In a folder,
the memory `NAME` is the LevelDB folder or SQLite file `ROOT/NAME`. In a SQLite file, it is a table of that
file and has the URL `sqlite+NAME:PATH`; in a database, it has the URL `postgresql+NAME://…`. Each memory is a
separate store with its own store id, journal and overall root, and a query on one memory never reads another
memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from backends import locate
from backends.databases import memory_name
from backends.errors import BackendUnusable
from backends.files import resolve_path
from backends.leveldb.leveldb_place import is_leveldb_store
from backends.sqlite.sqlite_place import is_sqlite
from engine.base.errors import InvalidInputError, translated

_TOKENS_SUFFIX: Final = ".memroot-tokens"
"""The name of the file with a service's tokens in a folder, and the end of its name beside a SQLite file."""


class MemoriesRoot(NamedTuple):
    """The folder, SQLite file or PostgreSQL database that contains named memories."""

    url: str
    """The URL of the root, as the caller passed it."""
    kind: str
    """`folder`, `sqlite` for one SQLite file, or `postgresql` for one database."""
    path: Path
    """The folder or the SQLite file, with symbolic links resolved; unused for a database."""

    def url_of(self, name: str) -> str:
        """Return the URL of the memory `name`. The memory need not exist.

        Raises:
            InvalidInputError: `name` is not a valid name, or its path is a symbolic link.
        """
        with translated():
            memory_name(name)
            if self.kind != "folder":
                return f"{self.kind}+{name}:{locate(self.url).path}"
            entry = self.path / name
            if entry.is_symlink():
                raise BackendUnusable(f"{entry} is a symbolic link; a memory must be a real folder or file")
            return f"{self.url.rstrip('/')}/{name}"


def root_of(url: str) -> MemoriesRoot:
    """Return the root that a URL names: a folder, one SQLite file, or one PostgreSQL database.

    Raises:
        InvalidInputError: The URL names a store in main memory, a single memory, the folder of a single
            store, or a file that is not a SQLite file.
    """
    with translated():
        location = scheme, path = locate(url)
        if scheme == "memory":
            raise BackendUnusable("a store in main memory has no named memories; use a folder or sqlite:PATH")
        if location.memory is not None:
            raise BackendUnusable(f"{url} already names a memory; remove +NAME from the URL")
        if scheme == "postgresql":
            return MemoriesRoot(url, scheme, Path())
        place = resolve_path(path)
        if scheme == "sqlite":
            if place.is_dir():
                raise BackendUnusable(
                    f"{place} is a folder; to keep memories in it, remove sqlite: from the URL"
                )
            return MemoriesRoot(url, scheme, place)
        if place.exists() and not place.is_dir():
            raise BackendUnusable(f"{place} is a file; memories are kept in a folder or in sqlite:PATH")
        if is_leveldb_store(place):
            raise InvalidInputError(
                f"{place} is a store itself and cannot contain named memories",
                hint="give a folder for named memories (--store FOLDER), or do not give the name of a memory",
            )
        return MemoriesRoot(url, "folder", place)


def memory_url(url: str, name: str) -> str:
    """Return the URL of the memory `name` in the root that `url` names.

    Raises:
        InvalidInputError: `url` cannot hold named memories, or `name` is not a valid name.
    """
    return root_of(url).url_of(name)


def is_memory(entry: Path) -> bool:
    """Return True if an entry of a root folder is a memory: a store, not a link, with a valid name."""
    try:
        memory_name(entry.name)
    except BackendUnusable:
        return False
    return not entry.is_symlink() and (is_leveldb_store(entry) or is_sqlite(entry))


def tokens_file(place: Path) -> Path:
    """Return the path of the file with a service's tokens for the folder or the SQLite file `place`.

    The name begins with a dot, so the file can never be taken for a memory.
    """
    return place / _TOKENS_SUFFIX if place.is_dir() else place.with_name(f".{place.name}{_TOKENS_SUFFIX}")


def tokens_files(place: Path) -> list[Path]:
    """Return the paths of the file with the tokens, and of the journal that an interrupted write leaves."""
    file = tokens_file(place)
    return [file, file.with_name(file.name + "-journal")]
