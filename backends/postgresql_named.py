"""The memories of one PostgreSQL database: listing, renaming and deleting them.

The functions have the names and results of those for a SQLite file (`sqlite_named`). `path` is the text after
`postgresql:` in a URL.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg

from backends import postgresql_sql as sql
from backends.errors import BackendMissing, BackendUnusable
from backends.postgresql_address import Connection, join, leave, parse
from backends.postgresql_errors import convert, is_missing
from backends.sqlite_tables import memory_name


@contextlib.contextmanager
def connected_to(path: str) -> Iterator[None]:
    """Keep the connections to a database during the block. Otherwise each call of this module makes one."""
    address = parse(path, None)
    join(address)
    try:
        yield
    finally:
        leave(address)


@contextlib.contextmanager
def _connected(path: str) -> Iterator[tuple[str, Connection]]:
    address = parse(path, None)
    pool = join(address)
    try:
        connection = pool.take(checked=True)
        try:
            yield address.shown, connection
        except psycopg.Error as error:
            raise convert(address.shown, error) from error
        finally:
            pool.give_back(connection)
    finally:
        leave(address)


def memories_in(path: str) -> list[str]:
    """Return the names of the memories in a database, sorted; empty if it has no tables of memroot."""
    with _connected(path) as (_, connection):
        try:
            found: Any = connection.execute(sql.LIST).fetchall()
        except psycopg.Error as error:
            if is_missing(error):
                return []
            raise
        return sorted(name for (name,) in found if name)


def _number(connection: Connection, where: str, name: str) -> int:
    memory_name(name)
    found: Any = connection.execute(sql.FIND, [name]).fetchone()
    if found is None:
        raise BackendMissing(f"there is no memory {name!r} in {where}")
    number: int = found[0]
    return number


def memory_bytes(path: str, name: str) -> int:
    """Return the number of bytes of all keys and values of a memory.

    Raises:
        BackendMissing: there is no memory of this name.
    """
    with _connected(path) as (where, connection):
        number = _number(connection, where, name)
        with connection.pipeline():
            connection.execute(sql.BEGIN_READING)
            connection.execute(sql.CHOOSE_MEMORY, [str(number)])
            counted = connection.execute(sql.BYTES, [number])
        found: Any = counted.fetchone()
        return int(found[0])


def rename_memory(path: str, old: str, new: str) -> None:
    """Rename a memory. Handles that have it open go on with the same memory.

    Raises:
        BackendMissing: there is no memory named `old`.
        BackendUnusable: there is already a memory named `new`, or a name is invalid.
    """
    memory_name(new)
    with _connected(path) as (where, connection):
        _number(connection, where, old)
        try:
            connection.execute(sql.RENAME, [new, old])
        except psycopg.errors.UniqueViolation:
            raise BackendUnusable(f"there is already a memory {new!r} in {where}") from None


def delete_memory(path: str, name: str) -> bool:
    """Delete a memory. Handles that have it open raise BackendMissing from then on.

    Returns:
        False: the files of the server keep the deleted rows until the server has vacuumed the table, and its
            write-ahead log, replicas and backups keep them longer.

    Raises:
        BackendMissing: there is no memory of this name.
    """
    with _connected(path) as (where, connection):
        number = _number(connection, where, name)
        with connection.transaction():
            connection.execute(sql.CHOOSE_MEMORY, [str(number)])
            connection.execute(sql.DROP_MEMORY, [number])
            connection.execute(sql.DROP_LOCK, [number])
            connection.execute(sql.DROP_ROWS, [number])
    return False


def in_use(path: str, name: str) -> bool:
    """Return False: handles are not registered in the database, and deleting does not harm them."""
    return False
