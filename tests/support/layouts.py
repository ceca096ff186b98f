"""SQLite files of layout 1, as earlier versions of memroot wrote them."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from backends.base import Row
from backends.sqlite.sqlite_backend import SQLiteBackend
from backends.sqlite.sqlite_memories import memories_in
from backends.sqlite.sqlite_tables import memory_numbers


def to_layout_1(path: Path) -> None:
    """Change a closed file to layout 1, which has no checksums, no rows of its own, and a table `turns`."""
    tables: dict[str, list[Row]] = {}
    with contextlib.closing(sqlite3.connect(path)) as database:
        numbers = memory_numbers(database)
    for name in (None, *memories_in(str(path))):
        number = 0 if name is None else numbers[name]
        with SQLiteBackend(path, create=False, memory=name) as backend:
            tables[f"memory_{number}" if number else "rows"] = list(backend.scan())
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for table, rows in tables.items():
            database.execute(f"DROP TABLE {table}")
            database.execute(
                f"CREATE TABLE {table} (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
            )
            database.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)  # noqa: S608  names of ours
        database.execute("CREATE TABLE turns (n INTEGER NOT NULL)")
        database.execute("INSERT INTO turns VALUES (7)")
        database.execute("PRAGMA user_version = 1")
    path.with_name(f"{path.name}-wal-mark").unlink(missing_ok=True)
