"""The named memories of a SQLite file: finding one's table, listing, renaming and deleting them.

Each change is one transaction: killed in the middle, nothing has happened.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from backends.errors import BackendBusy, BackendMissing, BackendUnusable
from backends.files import real
from backends.registry import REGISTRY
from backends.sqlite_lock import WriterLock
from backends.sqlite_place import address, settle
from backends.sqlite_snapshot import translated
from backends.sqlite_tables import (
    UNNAMED,
    Statements,
    drop,
    make,
    memory_name,
    named,
    number_of,
    numbered,
    rename,
    row_bytes,
)
from backends.sqlite_use import UseLock

BUSY_SECONDS = 10.0
"""How long a change waits for writers in other processes."""


def table_of(
    connection: sqlite3.Connection, path: Path, memory: str | None, lock: WriterLock, *, create: bool
) -> tuple[Statements, UseLock | None]:
    """The table of a memory, made where it is missing if `create`; and the lock to hold while it is used.

    Raises:
        BackendMissing: there is none, and `create` is false.
        BackendBusy: somebody renames or deletes it.
        sqlite3.Error: SQLite cannot.
    """
    if memory is None:
        others = [] if create else list(named(connection))
        if others and connection.execute("SELECT 1 FROM rows LIMIT 1").fetchone() is None:
            raise BackendMissing(f"{path} holds no store without a name; its memories: {', '.join(others)}")
        return UNNAMED, None
    missing = BackendMissing(f"there is no memory {memory!r} in {path}")
    if not create and number_of(connection, memory) is None:
        raise missing
    use = UseLock(path, memory)
    try:
        # The last look is under the lock: from here on, nobody takes the memory away.
        number = number_of(connection, memory)
        if number is None and create:
            with lock, _transaction(connection):
                number = make(connection, memory)
        if number is None:
            raise missing
    except BaseException:
        use.close()
        raise
    return numbered(number), use


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def _connected(path: str) -> Iterator[tuple[Path, sqlite3.Connection]]:
    place = real(path)
    identity = settle(place, create=False)
    try:
        with contextlib.closing(
            sqlite3.connect(address(place), uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        ) as connection:
            yield place, connection
    except sqlite3.Error as error:
        raise translated(str(place), error) from error
    finally:
        with REGISTRY.lock:
            REGISTRY.leave(identity)


def memories_in(path: str) -> list[str]:
    """The names of the memories in a SQLite file, in order; none where there is no file.

    Raises:
        BackendUnusable: the file is something else's.
        BackendCorrupt: SQLite finds it damaged.
    """
    if not real(path).exists():
        return []
    with _connected(path) as (_, connection):
        connection.execute("PRAGMA query_only = ON")
        return list(named(connection))


def memory_bytes(path: str, name: str) -> int:
    """The bytes of all keys and values of a memory.

    Raises:
        BackendMissing: there is none of this name.
    """
    with _connected(path) as (place, connection):
        number = number_of(connection, memory_name(name))
        if number is None:
            raise BackendMissing(f"there is no memory {name!r} in {place}")
        return row_bytes(connection, number)


def rename_memory(path: str, old: str, new: str) -> None:
    """Give a memory that nobody uses another name.

    Raises:
        BackendMissing: there is none of the name `old`.
        BackendUnusable: there is one of the name `new`, or that is no name.
        BackendBusy: somebody uses it.
    """
    memory_name(old)
    memory_name(new)
    with _connected(path) as (place, connection):
        if number_of(connection, old) is None:
            raise BackendMissing(f"there is no memory {old!r} in {place}")
        with _alone(place, old) as use, _alone(place, new), WriterLock(place, BUSY_SECONDS):
            with _transaction(connection):
                if number_of(connection, new) is not None:
                    raise BackendUnusable(f"there is a memory {new!r} in {place} already")
                if number_of(connection, old) is None:
                    raise BackendMissing(f"there is no memory {old!r} in {place}")
                rename(connection, old, new)
            use.remove()


def delete_memory(path: str, name: str) -> bool:
    """Delete a memory that nobody uses, and overwrite what it held in the file.

    Returns:
        Whether the write-ahead log could be cleared, too; where others have the file open, what it still
        holds goes with their next checkpoint.

    Raises:
        BackendMissing: there is none of this name.
        BackendBusy: somebody uses it.
    """
    memory_name(name)
    with _connected(path) as (place, connection):
        if number_of(connection, name) is None:
            raise BackendMissing(f"there is no memory {name!r} in {place}")
        connection.execute("PRAGMA secure_delete = ON")
        with _alone(place, name) as use, WriterLock(place, BUSY_SECONDS):
            with _transaction(connection):
                drop(connection, name)
            use.remove()
            connection.execute("PRAGMA busy_timeout = 1000")
            left: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return left == 0


@contextlib.contextmanager
def _alone(place: Path, name: str) -> Iterator[UseLock]:
    use = UseLock(place, name, alone=True)
    try:
        yield use
    finally:
        use.close()


def in_use(path: str, name: str) -> bool:
    """Whether somebody has the memory open."""
    try:
        with _alone(real(path), name):
            return False
    except BackendBusy:
        return True
