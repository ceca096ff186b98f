"""The ways of reading a damaged SQLite store."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from backends.base import Row
from backends.salvage import Way
from backends.sqlite_files import SQLiteFiles
from backends.sqlite_place import address
from backends.sqlite_tables import memory_numbers, statements_for

_UNNAMED = "rows"
_ROWS = "SELECT key, value FROM {} ORDER BY key"
_TABLES = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"


def sqlite_ways(place: Path, memory: str | None, scratch: Path) -> Iterator[Way]:
    """Yield the ways of reading the store `memory` in the file `place`; `scratch` is a folder for copies."""
    copy = scratch / "copy"
    for end in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f"{place}{end}", f"{copy}{end}")
    way = Way("SQLite on a copy of the files", own=True, rows=iter(()))
    way.rows = _own_rows(copy, memory, way.problems)
    yield way
    way = Way("every page of the database and its WAL, without SQLite", own=False, rows=iter(()))
    way.rows = _page_rows(place, memory, copy)
    yield way


def _own_rows(copy: Path, memory: str | None, problems: list[str]) -> Iterator[Row]:
    """Yield the rows that SQLite finds in the copy. After damage, read from the end back to the damage."""
    table = ""
    wal = Path(f"{copy}-wal")
    with contextlib.closing(SQLiteFiles(copy, wal)) as files:
        frames = files.frames
    with contextlib.closing(sqlite3.connect(address(copy), uri=True, isolation_level=None)) as connection:
        try:
            table = _table(connection, memory)
            used = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
            if 0 <= used < frames:
                problems.append(f"SQLite uses {used} of the {frames} pages in the WAL")
            yield from connection.execute(_ROWS.format(table))
        except sqlite3.Error as error:
            problems.append(f"SQLite cannot read every row: {error}")
            if table:
                with contextlib.suppress(sqlite3.Error):
                    yield from connection.execute(_ROWS.format(table) + " DESC")
            return
        for (problem,) in connection.execute("PRAGMA integrity_check(1)"):
            if problem != "ok":
                problems.append(f"SQLite finds damage: {problem}")


def _table(connection: sqlite3.Connection, memory: str | None) -> str:
    """Return the name of the table of a memory."""
    if memory is None:
        return _UNNAMED
    number = memory_numbers(connection).get(memory)
    if number is None:
        raise sqlite3.DatabaseError(f"there is no memory {memory!r} in the file")
    return statements_for(number).table


def _page_rows(place: Path, memory: str | None, copy: Path) -> Iterator[Row]:
    with contextlib.closing(SQLiteFiles(place, Path(f"{place}-wal"))) as files:
        yield from files.rows(without=_pages_of_others(files, memory, copy))


def _pages_of_others(files: SQLiteFiles, memory: str | None, copy: Path) -> set[int]:
    """Return the pages that belong to other memories, as far as the tables of the file can be read."""
    try:
        with contextlib.closing(sqlite3.connect(address(copy), uri=True)) as connection:
            own = _table(connection, memory)
            tables = connection.execute(_TABLES).fetchall()
    except sqlite3.Error:
        return set()
    waiting = [root for name, root in tables if name == _UNNAMED or name.startswith("memory_")]
    waiting = [root for name, root in tables if root in waiting and name != own]
    pages: set[int] = set()
    while waiting:
        page = waiting.pop()
        if page not in pages:
            pages.add(page)
            waiting += files.children(page)
    return pages
