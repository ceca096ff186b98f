"""The memories of one PostgreSQL database: opening, listing, renaming and deleting them.

The functions have the names and results of those for a SQLite file (`sqlite_memories`). `path` is the text
after `postgresql:` in a URL.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import psycopg

from backends.databases import memory_name
from backends.errors import BackendBusy, BackendEnvironment, BackendMissing, BackendUnusable
from backends.postgresql import postgresql_sql as sql
from backends.postgresql.postgresql_connections import (
    TRIES_MAX,
    Address,
    Connection,
    Pool,
    join,
    leave,
    parse,
    pause,
)
from backends.postgresql.postgresql_errors import is_again, is_collision, is_lost, is_missing


class OpenedMemory(NamedTuple):
    """The facts about a memory that a new handle starts with."""

    number: int
    """The number of the memory in the tables."""
    fence: int
    """The fence of the memory."""
    synchronous: str
    """The `synchronous_commit` of durable writes."""
    read_only: bool
    """True if the server is a standby, or is set to read-only."""


def open_memory(pool: Pool, address: Address, *, create: bool) -> OpenedMemory:
    """Find a memory, or create it.

    Raises:
        BackendMissing: there is no such memory, and `create` is false.
        BackendUnusable: the memory has another layout, or the server does not write to the disk durably.
        BackendBusy: another process keeps making or deleting the memory.
    """
    try:
        return _opened(pool, address, create=create)
    except BackendEnvironment as error:
        if not (isinstance(error.__cause__, psycopg.Error) and is_lost(error.__cause__)):
            raise
        # A pooled connection may have been lost while it was idle. To find or make can be repeated.
        pool.drop_idle()
        return _opened(pool, address, create=create)


def _opened(pool: Pool, address: Address, *, create: bool) -> OpenedMemory:
    where = address.shown
    with pool.connected(where) as connection:
        level, fsync, read_only = map(str, connection.execute(sql.SETTINGS).fetchone() or ("on", "on", "off"))
        if fsync == "off":
            raise BackendUnusable(
                f"{where} runs with fsync = off, so a power failure could damage memories; set fsync = on"
            )
        number, layout, fence = _found(connection, address, create=create)
    if layout != sql.LAYOUT:
        raise BackendUnusable(f"{where} has layout {layout}, and this version of memroot reads {sql.LAYOUT}")
    return OpenedMemory(number, fence, "on" if level in ("off", "local") else level, read_only == "on")


def _found(connection: Connection, address: Address, *, create: bool) -> tuple[int, int, int]:
    """Find or create the memory; return its number, layout and fence.

    Other processes may create the tables and the memory at the same time.
    """
    for attempt in range(TRIES_MAX):
        row: Any = None
        try:
            row = connection.execute(sql.FIND, [address.memory]).fetchone()
        except psycopg.Error as error:
            if not is_missing(error):
                raise
            if create:
                with _undone(connection, is_collision):
                    connection.execute(sql.BEGIN)
                    for statement in sql.TABLES:
                        connection.execute(statement)
                    connection.execute(sql.COMMIT)
                time.sleep(pause(attempt))
                continue
        if row is not None:
            return row[0], row[1], row[2]
        if not create:
            raise BackendMissing(f"there is no store at {address.shown}")
        number = secrets.randbits(63)
        with _undone(connection, _has_just_made), connection.pipeline():
            connection.execute(sql.BEGIN)
            connection.execute(sql.MAKE, [number, address.memory, sql.LAYOUT])
            connection.execute(sql.MAKE_LOCK, [number])
            connection.execute(sql.COMMIT)
    raise BackendBusy(address.shown, "processes that make or delete this memory")


@contextlib.contextmanager
def _undone(connection: Connection, expected: Callable[[psycopg.Error], bool]) -> Iterator[None]:
    """Undo the transaction of a block that fails; suppress an expected error."""
    try:
        yield
    except psycopg.Error as error:
        if connection.closed:
            raise
        connection.execute(sql.ROLLBACK)
        if not expected(error):
            raise


def _has_just_made(error: psycopg.Error) -> bool:
    """Return True if another process has just created the same memory."""
    return is_again(error) or error.sqlstate == "23505"


@contextlib.contextmanager
def connected_to(path: str) -> Iterator[tuple[str, Pool]]:
    """Keep the connections to a database during the block. Otherwise each call of this module makes one."""
    address = parse(path, None)
    pool = join(address)
    try:
        yield address.shown, pool
    finally:
        leave(address)


@contextlib.contextmanager
def _connected(path: str) -> Iterator[tuple[str, Connection]]:
    with connected_to(path) as (where, pool), pool.connected(where) as connection:
        yield where, connection


def memories_in(path: str) -> list[str]:
    """Return the names of the memories in a database, sorted; empty if it has no tables of memroot."""
    with _connected(path) as (_, connection):
        try:
            rows: Any = connection.execute(sql.LIST).fetchall()
        except psycopg.Error as error:
            if is_missing(error):
                return []
            raise
        return sorted(name for (name,) in rows if name)


def _number(connection: Connection, where: str, name: str) -> int:
    memory_name(name)
    row: Any = connection.execute(sql.FIND, [name]).fetchone()
    if row is None:
        raise BackendMissing(f"there is no memory {name!r} in {where}")
    number: int = row[0]
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
        row: Any = counted.fetchone()
        return int(row[0])


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


def rewrite_rows(connection: Connection, where: str, busy_seconds: float) -> bool:
    """Rewrite the table of all rows without deleted bytes. Return False if the role does not own the table.

    Raises:
        BackendBusy: a snapshot or scan stayed open for `busy_seconds`.
    """
    owned: Any = connection.execute(sql.PURGE["owned"]).fetchone()
    if not owned[0]:
        return False
    mark: Any = connection.execute(sql.PURGE["mark"]).fetchone()
    until = time.monotonic() + busy_seconds
    attempt = 0
    while _has_older(connection, mark[0]):
        if time.monotonic() > until:
            raise BackendBusy(where, "an open snapshot or scan")
        time.sleep(pause(attempt))
        attempt += 1
    connection.execute(sql.PURGE["timeout"], [lock_timeout(busy_seconds)])
    try:
        connection.execute(sql.PURGE["rewrite"])
    finally:
        if not connection.closed:
            connection.execute(sql.PURGE["timeout"], ["0"])
    return True


def _has_older(connection: Connection, mark: str) -> bool:
    """Return True if a transaction is open that may still see rows deleted before `mark`."""
    row: Any = connection.execute(sql.PURGE["older"], [mark]).fetchone()
    return bool(row[0])


def lock_timeout(seconds: float) -> str:
    """Return the value of PostgreSQL's `lock_timeout` for a time in seconds."""
    return f"{int(seconds * 1000)}ms"
