"""The tables of a SQLite file: one for the store without a name, one for each named memory.

Each row has a checksum (`backends.checksum`). The row with the empty key belongs to the backend
(`backends.sqlite_own`); callers cannot write this row. The rows of a memory are in a table `memory_N`, where
N is a number; the table `memories` maps names to numbers. A name is always passed to SQLite as a bound value
and is never part of a statement. Numbers are not reused (AUTOINCREMENT), so a handle cannot read another
memory's rows.
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from backends.errors import BackendUnusable
from backends.sqlite_own import Own, read_own, write_own

LAYOUT = 2
"""The version of the table layout, stored as SQLite's user_version.

Files of layout 1 are migrated (`backends.sqlite_migration`).
"""

EARLIEST_LAYOUT = 1

KEYS_PER_QUERY = 100

NAME_CHARS_MAX = 32

_NAME = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,31}")
_RESERVED = frozenset({"db", "lock"})
_RESERVED_ENDS = ("-lock", "-wal", "-shm", "-journal", "-wal-mark")

_LIST = """
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE
)
"""
_ROWS = (
    "CREATE TABLE {table} (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL, "
    "sum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID"
)


def memory_name(value: object) -> str:
    """Return `value` if it is a valid memory name.

    A valid name has 1 to 32 of the characters `a-z0-9._-` and does not begin with a dot. The names `db` and
    `lock` are not allowed, because a LevelDB store has a folder and a file of these names. A name may not end
    like a file that is kept next to a SQLite store (`-wal`, `-shm`, `-journal`, `-lock`, `-wal-mark`).

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
    """The SQL statements that read and write one table of rows.

    A statement that reads returns the columns key, value and sum. There are two exceptions: `get` returns
    value and sum, and `scan` returns key and value.
    """

    get: str
    get_many: str
    up: str
    """All rows from a key on, upwards."""
    down: str
    """All rows before a key, downwards."""
    all_down: str
    around: str
    """The two rows next to a key: at most one before it and at most one after it."""
    scan: str
    """All rows from a key on, without checksums. Used by programs that read damaged stores."""
    keys: str
    """A limited number of keys, from a key on, upwards."""
    put: str
    swap: str
    """Replaces the value of the backend's own row if it has an expected value."""
    delete: str
    table: str
    number: int
    """The number of the memory; 0 is the store without a name."""
    summed: bool
    """False if the rows have no checksums, because they were written in layout 1."""


def statements_for(number: int, *, summed: bool = True) -> Statements:
    """Return the SQL statements on the rows of the memory `number`; 0 is the store without a name.

    Args:
        number: The number of the memory.
        summed: False for a table of layout 1. Such a table can only be read.
    """
    table = f"memory_{number:d}" if number else "rows"
    marks = ",".join("?" * KEYS_PER_QUERY)
    # The names never come from a caller.
    columns = f"key, value, {'sum' if summed else 'NULL'} FROM {table}"
    return Statements(
        get=f"SELECT value, {'sum' if summed else 'NULL'} FROM {table} WHERE key = ?",  # noqa: S608
        get_many=f"SELECT {columns} WHERE key IN ({marks})",
        up=f"SELECT {columns} WHERE key >= ? ORDER BY key",
        down=f"SELECT {columns} WHERE key < ? ORDER BY key DESC",
        all_down=f"SELECT {columns} ORDER BY key DESC",
        around=f"SELECT * FROM (SELECT {columns} WHERE key < ?1 ORDER BY key DESC LIMIT 1) "  # noqa: S608
        f"UNION ALL SELECT * FROM (SELECT {columns} WHERE key > ?1 ORDER BY key LIMIT 1)",
        scan=f"SELECT key, value FROM {table} WHERE key >= ? ORDER BY key",  # noqa: S608
        keys=f"SELECT key FROM {table} WHERE key >= ? ORDER BY key LIMIT ?",  # noqa: S608
        put=f"INSERT INTO {table} (key, value, sum) VALUES (?, ?, ?) "  # noqa: S608
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum",
        swap=f"UPDATE {table} SET value = ?, sum = ? WHERE key = x'' AND value = ?",  # noqa: S608
        delete=f"DELETE FROM {table} WHERE key = ?",  # noqa: S608
        table=table,
        number=number,
        summed=summed,
    )


UNNAMED = statements_for(0)
"""The SQL statements that read and write the store without a name."""


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


def make(connection: sqlite3.Connection, name: str, where: str) -> int:
    """Return the number of the memory `name`; create a missing memory. The caller has begun a transaction.

    Raises:
        BackendCorrupt: the backend's own row in the file `where` is damaged.
    """
    connection.execute(_LIST)
    number = number_of(connection, name)
    if number is None:
        number = int(connection.execute("INSERT INTO memories (name) VALUES (?)", (name,)).lastrowid or 0)
        create_rows(connection, statements_for(number), read_own(connection, UNNAMED, where).file)
    return number


def create_rows(connection: sqlite3.Connection, sql: Statements, file: bytes) -> None:
    """Create the table of a store, with the row of the backend; the caller has begun a transaction."""
    connection.execute(_ROWS.format(table=sql.table))
    write_own(connection, sql, Own(file, 0, 0))


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
    """Return the total number of bytes of all keys and values that callers wrote to a table."""
    table = statements_for(number).table
    total = f"SELECT coalesce(sum(length(key) + length(value)), 0) FROM {table} WHERE key > x''"  # noqa: S608
    return int(connection.execute(total).fetchone()[0])
