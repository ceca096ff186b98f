"""Where a named memory is.

What a URL names is then the root. In a folder, the memory is `ROOT/NAME`, a LevelDB folder or a SQLite
file; in one SQLite file, it is a table of that file (`sqlite+NAME:PATH`). Each is a store by itself, with
its own store id, journal and root, and nothing that is asked of one can reach another.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from backends import locate
from backends.errors import BackendUnusable
from backends.files import resolve_path
from backends.leveldb_place import is_leveldb_store
from backends.sqlite_place import is_sqlite
from backends.sqlite_tables import memory_name
from engine.base.error_translation import translated
from engine.base.errors import InvalidInputError


class Root(NamedTuple):
    """What holds memories."""

    url: str
    """As it was given."""
    path: Path
    """The folder or the SQLite file, links followed."""
    is_file: bool
    """One SQLite file that holds them all."""

    def url_of(self, name: str) -> str:
        """The URL of the memory `name`, which need not exist.

        Raises:
            InvalidInputError: it is no name, or a symbolic link is there.
        """
        with translated():
            memory_name(name)
            if self.is_file:
                return f"sqlite+{name}:{locate(self.url).path}"
            entry = self.path / name
            if entry.is_symlink():
                raise BackendUnusable(f"{entry} is a symbolic link; a memory is never one")
            return f"{self.url.rstrip('/')}/{name}"


def root_of(url: str) -> Root:
    """The root that a URL names: a folder, or for `sqlite:PATH` one file.

    Raises:
        InvalidInputError: it names a store in memory, one memory, a single store's folder or a file of
            something else.
    """
    with translated():
        scheme, path = locate(url)
        if scheme == "memory":
            raise BackendUnusable("memory: is one store; named memories need a folder or sqlite:PATH")
        if "+" in scheme:
            raise BackendUnusable(f"{url} names one memory already; leave out its name")
        place = resolve_path(path)
        if scheme == "sqlite":
            if place.is_dir():
                raise BackendUnusable(f"{place} is a folder; name it without sqlite: to keep memories in it")
            return Root(url, place, is_file=True)
        if place.exists() and not place.is_dir():
            raise BackendUnusable(f"{place} is a file; memories are kept in a folder or in sqlite:PATH")
        if is_leveldb_store(place):
            raise InvalidInputError(
                f"{place} is a store itself and holds no named memories",
                hint="name a folder for them, as in --store memories, or leave out the memory's name",
            )
        return Root(url, place, is_file=False)


def memory_url(url: str, name: str) -> str:
    """The URL of the memory `name` in what `url` names.

    Raises:
        InvalidInputError: `url` can hold none, or it is no name.
    """
    return root_of(url).url_of(name)


def is_memory(entry: Path) -> bool:
    """Whether a folder or file in a root is a memory: well named, no link, and a store of ours."""
    try:
        memory_name(entry.name)
    except BackendUnusable:
        return False
    return not entry.is_symlink() and (is_leveldb_store(entry) or is_sqlite(entry))
