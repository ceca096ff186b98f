"""The tables of a SQLite file: one for the store without a name, one for each named memory.

Each row has a checksum (`backends.databases`). The row with the empty key is the backend's own row; callers
cannot write it. The rows of a memory are in a table `memory_N`, where N is a number; the table `memories`
maps names to numbers. A name is always passed to SQLite as a bound value and is never part of a statement.
Numbers are not reused (AUTOINCREMENT), so a handle cannot read another memory's rows.
"""

from __future__ import annotations

import sqlite3
import struct
from typing import NamedTuple

from backends.databases import check_row, checksum
from backends.errors import BackendCorrupt, BackendUnusable

LAYOUT = 2
"""The version of the table layout, stored as SQLite's user_version."""

KEYS_PER_QUERY = 100

FILE_BYTES = 8

_OWN_FORM = struct.Struct(">8sQQ")
_OWN_KEY = b""

_LIST = """
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE
)
"""
_ROWS = (
    "CREATE TABLE {table} (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL, "
    "sum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID"
)


class Own(NamedTuple):
    """The content of the row."""

    file: bytes
    """A random name of the file, the same for all memories in it."""
    writes: int
    """The number of durable writes to this store so far."""
    reach: int
    """The `Batch.reaches` of the last durable write for which it was not None, or 0."""

    def after_write(self, reaches: int | None) -> Own:
        """Return the row after one more durable write, whose batch has the given `Batch.reaches`."""
        return Own(self.file, self.writes + 1, self.reach if reaches is None else reaches)


class Statements(NamedTuple):
    """The SQL statements that read and write one table of rows.

    A statement that reads returns the columns key, value and sum; `get` returns value and sum.
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
    keys: str
    """A limited number of keys, from a key on, upwards."""
    put: str
    swap: str
    """Replaces the value of the backend's own row if it has an expected value."""
    delete: str
    table: str
    number: int
    """The number of the memory; 0 is the store without a name."""


def statements_for(number: int) -> Statements:
    """Return the SQL statements on the rows of the memory `number`; 0 is the store without a name."""
    table = f"memory_{number:d}" if number else "rows"
    marks = ",".join("?" * KEYS_PER_QUERY)
    # The names never come from a caller.
    columns = f"key, value, sum FROM {table}"
    return Statements(
        get=f"SELECT value, sum FROM {table} WHERE key = ?",  # noqa: S608
        get_many=f"SELECT {columns} WHERE key IN ({marks})",
        up=f"SELECT {columns} WHERE key >= ? ORDER BY key",
        down=f"SELECT {columns} WHERE key < ? ORDER BY key DESC",
        all_down=f"SELECT {columns} ORDER BY key DESC",
        around=f"SELECT * FROM (SELECT {columns} WHERE key < ?1 ORDER BY key DESC LIMIT 1) "  # noqa: S608
        f"UNION ALL SELECT * FROM (SELECT {columns} WHERE key > ?1 ORDER BY key LIMIT 1)",
        keys=f"SELECT key FROM {table} WHERE key >= ? ORDER BY key LIMIT ?",  # noqa: S608
        put=f"INSERT INTO {table} (key, value, sum) VALUES (?, ?, ?) "  # noqa: S608
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum",
        swap=f"UPDATE {table} SET value = ?, sum = ? WHERE key = x'' AND value = ?",  # noqa: S608
        delete=f"DELETE FROM {table} WHERE key = ?",  # noqa: S608
        table=table,
        number=number,
    )


UNNAMED = statements_for(0)
"""The SQL statements that read and write the store without a name."""


def read_own(connection: sqlite3.Connection, sql: Statements, where: str) -> Own:
    """Return the row of a store. `where` is the store's name in messages.

    Raises:
        BackendCorrupt: the row is missing or damaged.
    """
    row = connection.execute(sql.get, (_OWN_KEY,)).fetchone()
    if row is None:
        raise BackendCorrupt(f"{where} is damaged: the backend's own row of the table {sql.table} is missing")
    value, checksum = row
    check_row(where, _OWN_KEY, value, checksum)
    if len(value) != _OWN_FORM.size:
        raise BackendCorrupt(f"{where} is damaged: the backend's own row has {len(value)} bytes")
    return Own(*_OWN_FORM.unpack(value))


def swap_own(connection: sqlite3.Connection, sql: Statements, expected: Own, own: Own) -> bool:
    """Replace the row if it is `expected`; return True if it was replaced.

    The caller has begun a transaction. This takes half the time of reading the row first.
    """
    value = _OWN_FORM.pack(*own)
    values = (value, checksum(_OWN_KEY, value), _OWN_FORM.pack(*expected))
    return connection.execute(sql.swap, values).rowcount == 1


def write_own(connection: sqlite3.Connection, sql: Statements, own: Own) -> None:
    """Replace the row. The caller has begun a transaction."""
    value = _OWN_FORM.pack(*own)
    connection.execute(sql.put, (_OWN_KEY, value, checksum(_OWN_KEY, value)))


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


def check_layout(layout: int, where: object) -> None:
    """Check that this version can use a file with the given layout.

    Raises:
        BackendUnusable: it cannot.
    """
    if layout != LAYOUT:
        raise BackendUnusable(
            f"{where} has table layout {layout}, but this version supports only layout {LAYOUT}"
        )
