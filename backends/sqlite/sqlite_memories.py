"""The named memories of a SQLite file: opening, listing, renaming and deleting them.

Each change is one transaction. If the process is killed before the transaction ends, nothing has changed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from backends.databases import memory_name
from backends.errors import BackendBusy, BackendMissing, BackendUnusable
from backends.files import resolve_path, why_unwritable
from backends.locks import REGISTRY, identity_of
from backends.sqlite.sqlite_connections import address, converted, transaction
from backends.sqlite.sqlite_locks import UseLock, WriterLock
from backends.sqlite.sqlite_place import files_to_write, private_copy, register_store
from backends.sqlite.sqlite_tables import (
    Statements,
    drop,
    make,
    memory_numbers,
    number_of,
    rename,
    row_bytes,
    statements_for,
)

BUSY_SECONDS = 10.0
"""The time, in seconds, that a change waits for writers in other processes."""


def open_table(
    connection: sqlite3.Connection,
    path: Path,
    memory: str | None,
    lock: WriterLock,
    *,
    create: bool,
) -> tuple[Statements, UseLock | None]:
    """Return the SQL statements on the table of a memory, and the lock to hold while the memory is used.

    With `create`, a missing table is created.

    Raises:
        BackendMissing: there is no memory of this name, and `create` is false.
        BackendBusy: another process is renaming or deleting the memory.
        sqlite3.Error: SQLite fails.
    """
    if memory is None:
        others = [] if create else list(memory_numbers(connection))
        if others and connection.execute("SELECT 1 FROM rows WHERE key > x'' LIMIT 1").fetchone() is None:
            raise BackendMissing(f"{path} contains no unnamed store; its memories are {', '.join(others)}")
        return statements_for(0), None
    if not create:
        _number(connection, memory, path)
    use = UseLock(path, memory)
    try:
        # Check again under the lock: from here on, no other process can rename or delete the memory.
        if create and number_of(connection, memory) is None:
            with lock, transaction(connection):
                make(connection, memory, str(path))
        number = _number(connection, memory, path)
    except BaseException:
        use.close()
        raise
    return statements_for(number), use


def _number(connection: sqlite3.Connection, name: str, place: Path) -> int:
    number = number_of(connection, memory_name(name))
    if number is None:
        raise BackendMissing(f"there is no memory {name!r} in {place}")
    return number


@contextlib.contextmanager
def _connected(path: str, *, alone: bool = False) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """Connect to a file; with `alone`, raise BackendBusy instead of waiting for other users of the file."""
    place = resolve_path(path)
    with REGISTRY.lock:
        if alone and REGISTRY.is_open(identity_of(place.stat())):
            raise BackendBusy(str(place), f"pid {os.getpid()} (this process)")
        identity = register_store(place, create=False)
    seconds = 0 if alone else BUSY_SECONDS
    try:
        with (
            converted(str(place)),
            contextlib.closing(
                sqlite3.connect(address(place), uri=True, timeout=seconds, isolation_level=None)
            ) as connection,
        ):
            yield place, connection
    finally:
        with REGISTRY.lock:
            REGISTRY.leave(identity)


@contextlib.contextmanager
def locked_file(path: str) -> Iterator[None]:
    """Prevent every process from opening a file during the block. Its WAL is written into it before that.

    Raises:
        BackendBusy: a handle has the file open.
        BackendUnusable: the file contains named memories.
    """
    with _connected(path, alone=True) as (place, connection):
        # In WAL mode, SQLite grants this lock only while no other connection is open.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        if others := memory_numbers(connection):
            raise BackendUnusable(
                f"{place} contains named memories itself ({', '.join(others)}); delete or rename them "
                f"first (--store sqlite:{place})"
            )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield


@contextlib.contextmanager
def _readable(path: str) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """Like `_connected`, but for reading only. A file that cannot be written is copied first."""
    place = resolve_path(path)
    with contextlib.ExitStack() as stack:
        if why_unwritable(place, files_to_write(place)):
            path = str(stack.enter_context(private_copy(place)))
        _, connection = stack.enter_context(_connected(path))
        connection.execute("PRAGMA query_only = ON")
        yield place, connection


def memories_in(path: str) -> list[str]:
    """Return the names of the memories in a SQLite file, sorted. The result is empty if there is no file.

    Raises:
        BackendUnusable: the file is not a store.
        BackendCorrupt: SQLite reports that the file is damaged.
    """
    if not resolve_path(path).exists():
        return []
    with _readable(path) as (_, connection):
        return list(memory_numbers(connection))


def memory_bytes(path: str, name: str) -> int:
    """Return the number of bytes of all keys and values of a memory.

    Raises:
        BackendMissing: there is no memory of this name.
    """
    with _readable(path) as (place, connection):
        return row_bytes(connection, _number(connection, name, place))


def rename_memory(path: str, old: str, new: str) -> None:
    """Rename a memory that no handle has open.

    Raises:
        BackendMissing: there is no memory named `old`.
        BackendUnusable: there is already a memory named `new`, or a name is invalid.
        BackendBusy: a handle has the memory open.
    """
    memory_name(old)
    memory_name(new)
    with _connected(path) as (place, connection):
        _number(connection, old, place)
        with _exclusive_use(place, old) as use, _exclusive_use(place, new), _writing(place):
            with transaction(connection):
                if number_of(connection, new) is not None:
                    raise BackendUnusable(f"there is already a memory {new!r} in {place}")
                _number(connection, old, place)
                rename(connection, old, new)
            use.remove()


def delete_memory(path: str, name: str) -> bool:
    """Delete a memory that no handle has open, and overwrite the bytes of the memory in the file.

    Returns:
        True if the write-ahead log was cleared, too. False if other handles have the file open; the bytes in
            the write-ahead log are then removed by the next checkpoint of SQLite.

    Raises:
        BackendMissing: there is no memory of this name.
        BackendBusy: a handle has the memory open.
    """
    memory_name(name)
    with _connected(path) as (place, connection):
        _number(connection, name, place)
        connection.execute("PRAGMA secure_delete = ON")
        with _exclusive_use(place, name) as use, _writing(place):
            with transaction(connection):
                drop(connection, name)
            use.remove()
            connection.execute("PRAGMA busy_timeout = 1000")
            left: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return left == 0


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    """Keep other writers out, and close the lock file at the end: leaving a WriterLock only unlocks it."""
    with contextlib.closing(WriterLock(place, BUSY_SECONDS)) as lock, lock:
        yield


def _exclusive_use(place: Path, name: str) -> contextlib.closing[UseLock]:
    return contextlib.closing(UseLock(place, name, exclusive=True))


def in_use(path: str, name: str) -> bool:
    """Return True if any handle has the memory `name` open."""
    try:
        with _exclusive_use(resolve_path(path), name):
            return False
    except BackendBusy:
        return True
