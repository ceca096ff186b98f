"""The migration of a SQLite file from an earlier layout to the present layout, in one transaction.

Layout 1 had no checksums, and a table `turns` instead of the backend's own rows. After a crash, the file has
either layout completely. The checksums are computed from the rows as they are now, so they do not detect
earlier damage; `engine verify-root` does.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3

from backends.checksum import checksum
from backends.errors import BackendCorrupt, BackendUnusable
from backends.sqlite_own import FILE_BYTES, Own, write_own
from backends.sqlite_tables import EARLIEST_LAYOUT, LAYOUT, memory_numbers, statements_for

_CANNOT_WRITE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)


def bring_up_to_date(connection: sqlite3.Connection, where: str) -> bool:
    """Migrate the file to the present layout, if it has an earlier one.

    Returns:
        False if the file has the earlier layout and cannot be changed, because the disk is full or the file
            is write-protected. Such a file can still be read.

    Raises:
        BackendUnusable: the file has a layout that this version does not know.
        BackendCorrupt: a row does not consist of bytes.
        sqlite3.Error: SQLite fails.
    """
    if _layout(connection, where) == LAYOUT:
        return True
    connection.create_function("row_sum", 2, checksum, deterministic=True)
    try:
        connection.execute("BEGIN IMMEDIATE")
        if _layout(connection, where) != LAYOUT:
            _migrate(connection)
        connection.execute("COMMIT")
        # Earlier versions of memroot read the layout in the header of the database, not in the WAL.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException as error:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _CANNOT_WRITE:
            return False
        if "user-defined function raised exception" in str(error):
            raise BackendCorrupt(f"{where} is damaged: a row does not consist of bytes") from error
        raise
    return True


def _layout(connection: sqlite3.Connection, where: str) -> int:
    """Return the layout of the file. It may be recorded only in the WAL."""
    layout: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if layout not in (EARLIEST_LAYOUT, LAYOUT):
        raise BackendUnusable(
            f"{where} has table layout {layout}, but this version supports only layouts up to {LAYOUT}"
        )
    return layout


def _migrate(connection: sqlite3.Connection) -> None:
    """Add the checksums and the backend's own rows. A transaction has begun."""
    own = Own(os.urandom(FILE_BYTES), 0, 0)
    for number in (0, *memory_numbers(connection).values()):
        sql = statements_for(number)
        connection.execute(f"ALTER TABLE {sql.table} ADD COLUMN sum INTEGER NOT NULL DEFAULT 0")
        connection.execute(f"UPDATE {sql.table} SET sum = row_sum(key, value)")  # noqa: S608
        write_own(connection, sql, own)
    connection.execute("DROP TABLE turns")
    connection.execute(f"PRAGMA user_version = {LAYOUT}")
