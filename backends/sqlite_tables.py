"""The tables of a SQLite file: one for the store without a name, one for each named memory.

The rows of a memory are in a table `memory_N`, where N is a number; the table `memories` maps names to
numbers. A name is always passed to SQLite as a bound value and is never part of a statement. Numbers are not
reused (AUTOINCREMENT), so a handle cannot read another memory's rows.
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from backends.errors import BackendUnusable

KEYS_PER_QUERY = 100

NAME_CHARS_MAX = 32

_NAME = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,31}")
_RESERVED = frozenset({"db", "lock"})
_RESERVED_ENDS = ("-lock", "-wal", "-shm", "-journal")

_LIST = """
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE
)
"""
_ROWS = "CREATE TABLE {table} (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


def memory_name(value: object) -> str:
    """Return `value` if it is a valid memory name.

    A valid name has 1 to 32 of the characters `a-z0-9._-` and does not begin with a dot. The names `db` and
    `lock`, which are files of a LevelDB store, are not allowed. A name may not end like a file that is
    kept next to a SQLite store (`-wal`, `-shm`, `-journal`, `-lock`).

    Raises:
        BackendUnusable: `value` is not a valid name.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        shown = ascii(value)[:80] if isinstance(value, (str, bytes)) else type(value).__name__
        raise BackendUnusable(
            f"invalid memory name {shown}: use 1 to {NAME_CHARS_MAX} of `a-z0-9._-`, the first not a dot"
        )
    if value in _RESERVED or value.endswith(_RESERVED_ENDS):
        raise BackendUnusable(
            f"memory name {value!r} is reserved for files of a store; choose a name that is not db "
            f"or lock and does not end in {', '.join(_RESERVED_ENDS)}"
        )
    return value


class Statements(NamedTuple):
    """The SQL statements that read and write one table of rows."""

    get: str
    get_many: str
    scan: str
    scan_to: str
    put: str
    delete: str
    table: str


def _statements(table: str) -> Statements:
    """Return the SQL statements on `table`, which is `rows`, or `memory_` and a number."""
    marks = ",".join("?" * KEYS_PER_QUERY)
    return Statements(
        get=f"SELECT value FROM {table} WHERE key = ?",  # noqa: S608  the table's name never comes from a caller
        get_many=f"SELECT key, value FROM {table} WHERE key IN ({marks})",  # noqa: S608  as above
        scan=f"SELECT key, value FROM {table} WHERE key >= ? ORDER BY key",  # noqa: S608  as above
        scan_to=f"SELECT key, value FROM {table} WHERE key >= ? AND key < ? ORDER BY key",  # noqa: S608
        put=f"INSERT INTO {table} VALUES (?, ?) "  # noqa: S608  as above
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        delete=f"DELETE FROM {table} WHERE key = ?",  # noqa: S608  as above
        table=table,
    )


UNNAMED = _statements("rows")
"""The SQL statements that read and write the store without a name."""


def statements_for(number: int) -> Statements:
    """Return the SQL statements on the rows of the memory with the number `number`."""
    return _statements(f"memory_{number:d}")


def _has_list(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'memories'")
    return tables.fetchone() is not None


def memory_numbers(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the names of all memories in the file with their numbers, in the order of the names."""
    if not _has_list(connection):
        return {}
    return dict(connection.execute("SELECT name, number FROM memories ORDER BY name"))


def number_of(connection: sqlite3.Connection, name: str) -> int | None:
    """Return the number of the memory `name`, or None if there is no such memory."""
    if not _has_list(connection):
        return None
    row = connection.execute("SELECT number FROM memories WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def make(connection: sqlite3.Connection, name: str) -> int:
    """Return the number of the memory `name`; create a missing memory. The caller has begun a transaction."""
    connection.execute(_LIST)
    number = number_of(connection, name)
    if number is None:
        number = int(connection.execute("INSERT INTO memories (name) VALUES (?)", (name,)).lastrowid or 0)
        connection.execute(_ROWS.format(table=statements_for(number).table))
    return number


def drop(connection: sqlite3.Connection, name: str) -> None:
    """Delete the memory `name` and its rows; the caller has begun a transaction."""
    number = number_of(connection, name)
    if number is not None:
        connection.execute(f"DROP TABLE {statements_for(number).table}")
        connection.execute("DELETE FROM memories WHERE number = ?", (number,))


def rename(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Rename the memory `old` to `new`; the caller has begun a transaction.

    Raises:
        sqlite3.IntegrityError: there is already a memory named `new`.
    """
    connection.execute("UPDATE memories SET name = ? WHERE name = ?", (new, old))


def row_bytes(connection: sqlite3.Connection, number: int) -> int:
    """Return the total number of bytes of all keys and values in a table."""
    table = statements_for(number).table
    total = f"SELECT coalesce(sum(length(key) + length(value)), 0) FROM {table}"  # noqa: S608  as above
    return int(connection.execute(total).fetchone()[0])
