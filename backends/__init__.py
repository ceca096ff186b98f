"""The storage backends: ordered maps from bytes to bytes that hold a store and are opened by URL.

A URL is `memory:`, `leveldb:PATH`, `sqlite:PATH`, `sqlite+NAME:PATH`, `postgresql://USER@HOST/DATABASE`,
`postgresql+NAME://USER@HOST/DATABASE` or a plain `PATH`. With `+NAME`, it is the memory NAME in a SQLite file
or in a PostgreSQL database, which may contain several memories. The text after `leveldb:` and `sqlite:` is
only a path: it has no host, no options and no percent-encoding. A `postgresql:` URL has the form that libpq
defines.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from backends.base import (
    HEADERS,
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
    FULL,
    BackendBusy,
    BackendClosed,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendLocked,
    BackendLost,
    BackendMissing,
    BackendUnusable,
    GuardFailed,
    installing,
    system_error,
)
from backends.files import Location, remove_scratch, resolve_path, why_unwritable
from backends.sealed import held

if TYPE_CHECKING:
    from backends.sealed.seal import Seal

__all__ = [
    "KEY_BYTES_MAX",
    "SCHEMES",
    "Backend",
    "BackendBusy",
    "BackendClosed",
    "BackendCorrupt",
    "BackendEnvironment",
    "BackendError",
    "BackendInDoubt",
    "BackendLocked",
    "BackendLost",
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

SCHEMES = ("leveldb", "memory", "postgresql", "sqlite")
"""The schemes of the available backends."""


_NAMED = ("sqlite", "postgresql")
"""The schemes whose URLs may have the name of a memory."""


def locate(url: str) -> Location:
    """Parse a URL into a scheme and a path.

    If a URL has no scheme and a store exists at the path, the result has the scheme of the existing store. If
    no store exists there, the scheme is `leveldb`, or `sqlite` if plyvel is not installed. The text before
    the first colon of a URL is its scheme if this text consists of two or more letters, digits, `+`, `-` or
    `.`. Write `./a:b` for a path that would otherwise be read as a scheme and a path.

    Raises:
        BackendUnusable: the scheme is unknown, the path is missing, or `memory:` is followed by a path.
    """
    head, colon, rest = url.partition(":")
    kind, plus, memory = head.partition("+")
    if colon and plus and kind in _NAMED:
        return Location(f"{kind}+{_memory_name(memory)}", _path(url, head, rest))
    if (
        colon
        and len(head) > 1
        and head.isascii()
        and head.replace("+", "").replace("-", "").replace(".", "").isalnum()
    ):
        if head not in SCHEMES:
            raise BackendUnusable(
                f"unknown scheme {head!r} in {url!r}; use one of "
                f"{', '.join(f'{scheme}:' for scheme in SCHEMES)} or a plain path"
            )
        if head == "memory" and rest:
            raise BackendUnusable(f"{url!r}: a memory store has no path")
        return Location(head, rest if head == "memory" else _path(url, head, rest))
    return Location(_kind_of(url), url)


def _path(url: str, head: str, rest: str) -> str:
    if not rest:
        raise BackendUnusable(f"{url!r} lacks the path; write {head}:PATH")
    if head.startswith("postgresql") and not rest.startswith("//"):
        # The URL is not shown: it may contain a password.
        raise BackendUnusable(f"a {head}: URL lacks the address; write {head}://USER@HOST:PORT/DATABASE")
    return rest


def _memory_name(name: str) -> str:
    from backends.databases import memory_name

    return memory_name(name)


def _kind_of(path: str) -> str:
    """Return the scheme of the store at a path, or the default scheme if the path contains no store."""
    place = resolve_path(path)
    if place.is_file() and _is_sqlite(place):
        return "sqlite"
    if place.exists() or find_spec("plyvel") is not None:
        return "leveldb"
    return "sqlite"


def _is_sqlite(path: Path) -> bool:
    from backends.sqlite.sqlite_place import is_sqlite

    try:
        return is_sqlite(path)
    except OSError as error:
        raise system_error(f"{path} cannot be read", error) from error


def open_backend(
    url: str, *, create: bool = True, temporary: bool = False, key: str | Seal | None = None
) -> Backend:
    """Open the store at `url`. A missing store is created, unless `create` is false.

    `temporary` means that the caller will delete the store after use. Such a store takes less memory. If this
    process has had the key of a sealed store, it is encrypted under a random key, which is only in memory.

    `key` is a secret of a sealed store, or its seal; None means that a secret is looked for if the store is
    sealed (`backends.sealed.key_sources`). An empty store is sealed under `key`.

    If this process cannot write the store, or if the disk is full, the store is opened for reading only
    (`backends.read_only`).

    Raises:
        BackendMissing: there is no store, and `create` is false (never for `memory:`).
        BackendBusy: another handle has the store open, and this kind of store allows only one handle.
        BackendCorrupt: the store is damaged; a damaged store is never repaired.
        BackendLocked: the store is sealed, and there is no key, or it is wrong.
        BackendUnusable: the URL is invalid, the path is occupied by something that is not a store, a library
            is not installed, or `key` is given for a store that is not sealed and has rows.
        BackendEnvironment: the system fails or refuses an operation.
    """
    location = locate(url)
    if location.kind != "memory" and not temporary:
        remove_scratch()
    backend = _opened(location, create=create, temporary=temporary)
    if location.file is not None:
        # The resolved path, because the process may go to another folder.
        backend.location = location._replace(path=str(location.file))
    try:
        return _unsealed(backend, key, temporary=temporary)
    except BaseException:
        backend.close()
        raise


def _unsealed(backend: Backend, key: str | Seal | None, *, temporary: bool) -> Backend:
    """Return a backend that reads and writes the plain values of the store in `backend`."""
    if temporary:
        if not held:
            return backend
        from backends.sealed.seal import Seal as Ephemeral

        key = Ephemeral.new({})
    elif key is None and not _has_header(backend):
        return backend
    from backends.sealed.sealed_backend import opened

    return opened(backend, key)


def _has_header(backend: Backend) -> bool:
    """Return True if the store is sealed, or if damage hides whether it is."""
    try:
        return any(value is not None for value in backend.multi_get(sorted(HEADERS)))
    except BackendCorrupt:
        return True


def _opened(location: Location, *, create: bool, temporary: bool) -> Backend:
    if location.kind == "memory":
        from backends.memory import MemoryBackend

        return MemoryBackend()
    if location.kind == "postgresql":
        return _postgresql(location, create=create)
    number = _why_unwritable(location)
    if not number:
        try:
            return _writable(location, create=create, temporary=temporary)
        except BackendEnvironment as error:
            # LevelDB and SQLite write even when they open a store, for instance to read their logs.
            place = location.file
            if error.number not in FULL or not (place and (place.is_file() or (place / "lock").is_file())):
                raise
            number = error.number
    from backends.read_only import ReadOnlyBackend

    return ReadOnlyBackend(location, number)


def _writable(location: Location, *, create: bool, temporary: bool) -> Backend:
    if location.kind == "leveldb":
        from backends.leveldb.leveldb_backend import LevelDBBackend

        return LevelDBBackend(location.path, create=create, temporary=temporary)
    from backends.sqlite.sqlite_backend import SQLiteBackend

    return SQLiteBackend(location.path, create=create, memory=location.memory)


def _postgresql(location: Location, *, create: bool) -> Backend:
    try:
        from backends.postgresql.postgresql_backend import PostgreSQLBackend
    except ImportError as error:
        raise BackendUnusable(
            f"a memory in PostgreSQL needs the package psycopg: {installing('postgresql')}"
        ) from error
    return PostgreSQLBackend(location.path, create=create, memory=location.memory)


def _why_unwritable(location: Location) -> int:
    """Return the errno that says why this process cannot write an existing store, or 0."""
    kind, place = location.kind, location.file
    if place is None or not place.exists() or (kind == "sqlite") is not place.is_file():
        return 0
    if kind == "leveldb":
        from backends.leveldb.leveldb_place import files_to_write
    else:
        from backends.sqlite.sqlite_place import files_to_write

    return why_unwritable(place, files_to_write(place))


def store_exists(url: str) -> bool:
    """Return True if there is a store at `url`, even if the store is damaged or in use.

    Raises:
        BackendUnusable: the URL is invalid, or the path cannot be inspected.
    """
    location = locate(url)
    place = location.file
    if place is None:
        return location.kind == "postgresql" and _has_memory(url)
    if location.memory is not None:
        return _is_sqlite(place) and _has_memory(url)
    if location.kind == "sqlite":
        return _is_sqlite(place)
    from backends.leveldb.leveldb_place import is_leveldb_store

    return is_leveldb_store(place)


def _has_memory(url: str) -> bool:
    try:
        _opened(locate(url), create=False, temporary=False).close()
    except BackendMissing:
        return False
    except (BackendBusy, BackendCorrupt):
        return True
    return True
