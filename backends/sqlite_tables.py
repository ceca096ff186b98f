"""The tables of a SQLite file: one for the store without a name, one for each named memory.

A memory's rows are in a table `memory_N`; the table `memories` says which number stands for which name.
A name is only ever a value that SQLite is given beside the statement, never part of one. Numbers are not
used again (AUTOINCREMENT), so a handle cannot come upon another memory's rows.
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from backends.errors import BackendUnusable

KEYS_PER_QUERY = 100

NAME_CHARS_MAX = 32

_NAME = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,31}")
_TAKEN = frozenset({"db", "lock"})
_TAKEN_ENDS = ("-lock", "-wal", "-shm", "-journal")

_LIST = """
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE
)
"""
_ROWS = "CREATE TABLE {table} (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


def memory_name(value: object) -> str:
    """A name that a memory may have: 1 to 32 of a-z 0-9 . _ - that do not begin with a dot.

    Neither `db` nor `lock`, which are files of a LevelDB store, nor one that ends as SQLite's own
    files beside a store do (`-wal`, `-shm`, `-journal`, `-lock`).

    Raises:
        BackendUnusable: anything else.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        shown = ascii(value)[:80] if isinstance(value, (str, bytes)) else type(value).__name__
        raise BackendUnusable(
            f"memory name {shown} is not 1 to {NAME_CHARS_MAX} of a-z 0-9 . _ - without a dot in front"
        )
    if value in _TAKEN or value.endswith(_TAKEN_ENDS):
        raise BackendUnusable(
            f"memory name {value!r} is one of a store's own files; choose one that is neither db nor lock "
            f"and does not end in {', '.join(_TAKEN_ENDS)}"
        )
    return value


class Statements(NamedTuple):
    """What is asked of one table of rows."""

    get: str
    get_many: str
    scan: str
    scan_to: str
    put: str
    delete: str
    table: str


def _statements(table: str) -> Statements:
    """The statements on `table`, a name of ours: `rows`, or `memory_` and a number."""
    marks = ",".join("?" * KEYS_PER_QUERY)
    return Statements(
        get=f"SELECT value FROM {table} WHERE key = ?",  # noqa: S608  the table's name is ours
        get_many=f"SELECT key, value FROM {table} WHERE key IN ({marks})",  # noqa: S608  as above
        scan=f"SELECT key, value FROM {table} WHERE key >= ? ORDER BY key",  # noqa: S608  as above
        scan_to=f"SELECT key, value FROM {table} WHERE key >= ? AND key < ? ORDER BY key",  # noqa: S608
        put=f"INSERT INTO {table} VALUES (?, ?) "  # noqa: S608  as above
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        delete=f"DELETE FROM {table} WHERE key = ?",  # noqa: S608  as above
        table=table,
    )


UNNAMED = _statements("rows")
"""The store without a name."""


def numbered(number: int) -> Statements:
    """The statements on the rows of the memory with this number."""
    return _statements(f"memory_{number:d}")


def _has_list(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'memories'")
    return found.fetchone() is not None


def named(connection: sqlite3.Connection) -> dict[str, int]:
    """All memories in the file, by name, with their numbers."""
    if not _has_list(connection):
        return {}
    return dict(connection.execute("SELECT name, number FROM memories ORDER BY name"))


def number_of(connection: sqlite3.Connection, name: str) -> int | None:
    """The number of the memory `name`; None where there is none."""
    if not _has_list(connection):
        return None
    row = connection.execute("SELECT number FROM memories WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def make(connection: sqlite3.Connection, name: str) -> int:
    """The number of the memory `name`, made where it is missing; inside a transaction of the caller's."""
    connection.execute(_LIST)
    number = number_of(connection, name)
    if number is None:
        number = int(connection.execute("INSERT INTO memories (name) VALUES (?)", (name,)).lastrowid or 0)
        connection.execute(_ROWS.format(table=numbered(number).table))
    return number


def drop(connection: sqlite3.Connection, name: str) -> None:
    """Take the memory `name` out, with its rows; inside a transaction of the caller's."""
    number = number_of(connection, name)
    if number is not None:
        connection.execute(f"DROP TABLE {numbered(number).table}")
        connection.execute("DELETE FROM memories WHERE number = ?", (number,))


def rename(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Give the memory `old` the name `new`; inside a transaction of the caller's.

    Raises:
        sqlite3.IntegrityError: there is one of that name.
    """
    connection.execute("UPDATE memories SET name = ? WHERE name = ?", (new, old))


def row_bytes(connection: sqlite3.Connection, number: int) -> int:
    """The bytes of all keys and values of a memory."""
    table = numbered(number).table
    total = f"SELECT coalesce(sum(length(key) + length(value)), 0) FROM {table}"  # noqa: S608  as above
    return int(connection.execute(total).fetchone()[0])
