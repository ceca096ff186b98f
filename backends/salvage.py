"""Reading the rows of a damaged store, without changing a byte of the store.

A store is read in several ways, one after the other. First the library of the backend reads a copy of the
files. Then the files are read without the library, so that a damaged place hides only the rows in that place.
The rows from all of these readings are collected. They are not trusted: a key may have several values, and a
value may be damaged. The caller decides which values are right, for example by their hashes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backends import locate
from backends.base import HEADERS, Row
from backends.errors import BackendBusy, BackendCorrupt, BackendMissing, BackendUnusable
from backends.files import resolve_path, scratch_folder
from backends.leveldb.leveldb_place import LOCK
from backends.locks import REGISTRY, Flock, identity_of
from backends.salvaged_rows import FoundRows, Way
from backends.sqlite.sqlite_locks import LOCK_SUFFIX

if TYPE_CHECKING:
    from backends.sealed.seal import Seal


class Salvage:
    """A damaged store whose rows are being collected.

    Args:
        backend: The kind of the store: `leveldb` or `sqlite`.
        ways: The ways of reading the store, the most trusted first.
        found: The place where the rows are collected.
        prefixes: The prefixes of the keys that are collected.
    """

    def __init__(
        self, backend: str, ways: Iterator[Way], found: FoundRows, prefixes: Sequence[bytes]
    ) -> None:
        self.backend = backend
        self.found = found
        self.ways: list[Way] = []
        self.seal: Seal | None = None
        """The key, if the store is sealed."""
        self._remaining = ways
        self._prefixes = (*prefixes, *HEADERS)

    def read_on(self) -> Way | None:
        """Read the store in the next way and return this way; return None if no way is left.

        Raises:
            BackendLocked: the store is sealed, and there is no key, or it is wrong.
        """
        way = next(self._remaining, None)
        if way is not None:
            way.count = self.found.add(filter(self._is_asked, way.read(way.problems)))
            self.ways.append(way)
            self._unlock()
        return way

    def _unlock(self) -> None:
        """Find the key of a sealed store, as soon as its header was found."""
        for raw in [raw for key in HEADERS for raw in self.found.values(key)] if self.seal is None else ():
            from backends.sealed.key_sources import unlocked
            from backends.sealed.seal import decode_header

            with contextlib.suppress(BackendCorrupt):
                self.seal = unlocked(decode_header(raw), None)
                self.found.open_value = self.seal.open
                return

    def _is_asked(self, row: Row) -> bool:
        """Return True for a row to collect. Damage can change the type of a key or a value."""
        return all(isinstance(part, bytes) for part in row) and row[0].startswith(self._prefixes)


@contextlib.contextmanager
def salvaged(url: str, prefixes: Sequence[bytes]) -> Iterator[Salvage]:
    """Collect the rows of the store at `url` whose keys have one of `prefixes`. The store is only read.

    Copies of the store's files and the collected rows are kept in a folder under TMPDIR until the block ends.

    Raises:
        BackendMissing: there is nothing at the path.
        BackendBusy: a process has the store open for writing.
        BackendUnusable: the URL is invalid, or the system denies access.
    """
    scheme, path = location = locate(url)
    if scheme == "memory":
        raise BackendUnusable("a store in main memory leaves nothing to read; name another store")
    place = resolve_path(path)
    if not place.exists():
        raise BackendMissing(f"there is no store at {place}")
    leveldb = place.is_dir()
    if leveldb and scheme.startswith("sqlite"):
        raise BackendUnusable(f"{place} is a folder, and a SQLite store is a file")
    with (
        scratch_folder() as folder,
        _unwritten(place, leveldb=leveldb),
        contextlib.closing(FoundRows(folder / "found")) as rows,
    ):
        if leveldb:
            from backends.leveldb.leveldb_salvage import leveldb_ways

            yield Salvage("leveldb", leveldb_ways(place, folder), rows, prefixes)
        else:
            from backends.sqlite.sqlite_salvage import sqlite_ways

            yield Salvage("sqlite", sqlite_ways(place, location.memory, folder), rows, prefixes)


@contextlib.contextmanager
def _unwritten(place: Path, *, leveldb: bool) -> Iterator[None]:
    """Hold the store's lock, if there is a lock file, without changing the file."""
    data = place / "db" if leveldb else place
    if data.exists() and REGISTRY.is_open(identity_of(data.stat())):
        raise BackendBusy(str(place), f"pid {os.getpid()} (this process)")
    lock = Flock(place / LOCK if leveldb else f"{place}{LOCK_SUFFIX}")
    try:
        # Without a lock file, or without permission to read it, nothing can be locked.
        with contextlib.suppress(OSError):
            if not lock.take(fcntl.LOCK_EX | fcntl.LOCK_NB):
                raise BackendBusy(str(place), "another process")
        yield
    finally:
        lock.close()
