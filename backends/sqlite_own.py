"""The backend's own row in a SQLite store. It has the empty key, which callers cannot use."""

from __future__ import annotations

import sqlite3
import struct
from typing import TYPE_CHECKING, NamedTuple

from backends.checksum import check_row, checksum
from backends.errors import BackendCorrupt

if TYPE_CHECKING:
    from backends.sqlite_tables import Statements

FILE_BYTES = 8

_FORM = struct.Struct(">8sQQ")
_KEY = b""


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


def read_own(connection: sqlite3.Connection, sql: Statements, where: str) -> Own:
    """Return the row of a store. `where` is the store's name in messages.

    Raises:
        BackendCorrupt: the row is missing or damaged.
    """
    row = connection.execute(sql.get, (_KEY,)).fetchone()
    if row is None:
        raise BackendCorrupt(f"{where} is damaged: the backend's own row of the table {sql.table} is missing")
    value, found = row
    check_row(where, _KEY, value, found)
    if len(value) != _FORM.size:
        raise BackendCorrupt(f"{where} is damaged: the backend's own row has {len(value)} bytes")
    return Own(*_FORM.unpack(value))


def swap_own(connection: sqlite3.Connection, sql: Statements, expected: Own, own: Own) -> bool:
    """Replace the row if it is `expected`; return True if it was replaced.

    The caller has begun a transaction. This takes half the time of reading the row first.
    """
    value = _FORM.pack(*own)
    values = (value, checksum(_KEY, value), _FORM.pack(*expected))
    return connection.execute(sql.swap, values).rowcount == 1


def write_own(connection: sqlite3.Connection, sql: Statements, own: Own) -> None:
    """Replace the row. The caller has begun a transaction."""
    value = _FORM.pack(*own)
    connection.execute(sql.put, (_KEY, value, checksum(_KEY, value)))
