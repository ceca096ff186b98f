"""Ordered byte maps that a store can live in, opened by URL.

`memory:` · `leveldb:PATH` · `sqlite:PATH` · `sqlite+NAME:PATH`, the memory NAME among several in one SQLite
file · `PATH`. What follows the scheme is a path and nothing
else: no host, no options, no percent signs to decode.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from backends.base import (
    KEY_BYTES_MAX,
    Backend,
    Batch,
    Capabilities,
    Guard,
    Guards,
    Reader,
    Row,
    Snapshot,
    prefix_end,
)
from backends.errors import (
    BackendBusy,
    BackendClosed,
    BackendCorrupt,
    BackendError,
    BackendInDoubt,
    BackendMissing,
    BackendUnusable,
    GuardFailed,
)

__all__ = [
    "KEY_BYTES_MAX",
    "SCHEMES",
    "Backend",
    "BackendBusy",
    "BackendClosed",
    "BackendCorrupt",
    "BackendError",
    "BackendInDoubt",
    "BackendMissing",
    "BackendUnusable",
    "Batch",
    "Capabilities",
    "Guard",
    "GuardFailed",
    "Guards",
    "Location",
    "Reader",
    "Row",
    "Snapshot",
    "locate",
    "open_backend",
    "prefix_end",
    "store_exists",
]

SCHEMES = ("leveldb", "memory", "sqlite")
"""The kinds of store there are."""


class Location(NamedTuple):
    """A URL taken apart."""

    scheme: str
    """One of SCHEMES, or `sqlite+` and the name of a memory."""
    path: str
    """As written; empty for memory."""

    @property
    def memory(self) -> str | None:
        """The name of the memory in a SQLite file; None for a store without a name."""
        return self.scheme.partition("+")[2] or None


def locate(url: str) -> Location:
    """The kind of store and the path that `url` names.

    A bare path that exists is what it is; a new one becomes LevelDB, or SQLite where plyvel is not
    installed. A scheme is two or more letters, digits, `+`, `-` or `.` before the first colon, and no slash
    before it; write `./a:b` for a path that looks like one.

    Raises:
        BackendUnusable: the scheme is unknown, or the path is missing or superfluous.
    """
    head, colon, rest = url.partition(":")
    if colon and head.startswith("sqlite+"):
        return Location(f"sqlite+{_memory_name(head.removeprefix('sqlite+'))}", _path(url, head, rest))
    if (
        colon
        and len(head) > 1
        and head.isascii()
        and head.replace("+", "").replace("-", "").replace(".", "").isalnum()
    ):
        if head not in SCHEMES:
            raise BackendUnusable(
                f"unknown kind of store {head!r} in {url!r}; known are "
                f"{', '.join(f'{scheme}:' for scheme in SCHEMES)} and plain paths"
            )
        if head == "memory" and rest:
            raise BackendUnusable(f"{url!r}: a memory store has no path")
        return Location(head, rest if head == "memory" else _path(url, head, rest))
    return Location(_kind_of(url), url)


def _path(url: str, head: str, rest: str) -> str:
    if not rest:
        raise BackendUnusable(f"{url!r} lacks the path, as in {head}:PATH")
    return rest


def _memory_name(name: str) -> str:
    from backends.sqlite_tables import memory_name

    return memory_name(name)


def _kind_of(path: str) -> str:
    """What is at a bare path, or should be made there."""
    from backends.files import real

    found = real(path)
    if found.is_file() and _is_sqlite(found):
        return "sqlite"
    if found.exists() or find_spec("plyvel") is not None:
        return "leveldb"
    return "sqlite"


def _is_sqlite(path: Path) -> bool:
    from backends.sqlite_place import is_sqlite

    try:
        return is_sqlite(path)
    except OSError as error:
        raise BackendUnusable(f"{path} cannot be read: {error}") from error


def open_backend(url: str, *, create: bool = True) -> Backend:
    """The store at `url`, made where nothing is unless `create` is false.

    Raises:
        BackendMissing: nothing is there, and `create` is false (never for `memory:`).
        BackendBusy: another handle holds it, and this kind allows one only.
        BackendCorrupt: it is damaged; nothing is ever repaired.
        BackendUnusable: the URL is wrong, something else is there, or its library is not installed.
    """
    location = locate(url)
    scheme, path = location
    if scheme == "memory":
        from backends.memory import MemoryBackend

        return MemoryBackend()
    if scheme == "leveldb":
        from backends.leveldb import LevelDBBackend

        return LevelDBBackend(path, create=create)
    from backends.sqlite import SQLiteBackend

    return SQLiteBackend(path, create=create, memory=location.memory)


def store_exists(url: str) -> bool:
    """Whether `open_backend(url, create=False)` would find a store; damaged or busy ones count.

    Raises:
        BackendUnusable: the URL is wrong, or the place cannot be looked at.
    """
    location = locate(url)
    scheme, path = location
    if scheme == "memory":
        return False
    from backends.files import real

    found = real(path)
    if location.memory is not None:
        return _is_sqlite(found) and _has_memory(url)
    if scheme == "sqlite":
        return _is_sqlite(found)
    from backends.leveldb_place import is_place

    return is_place(found)


def _has_memory(url: str) -> bool:
    try:
        open_backend(url, create=False).close()
    except BackendMissing:
        return False
    except (BackendBusy, BackendCorrupt):
        return True
    return True
