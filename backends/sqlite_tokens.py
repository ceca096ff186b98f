"""The tokens of a folder or a SQLite file, in a SQLite file of their own.

The name of the file begins with a dot, so the file can never be taken for a memory. In a folder, its path is
`FOLDER/.memroot-tokens`; for the SQLite file `NAME`, it is `.NAME.memroot-tokens` in the same folder. The
stores' own files are never opened, so reading a token neither waits for a store nor changes one.

The file uses a rollback journal, so a process that may only read can read it without writing to the folder.
It is opened for each call (measured: 0.1 ms), so a file that was restored or replaced is noticed at once.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from backends.environment import system_error
from backends.errors import BackendMissing, BackendUnusable
from backends.files import fsync_path
from backends.sqlite_errors import DATABASE_ERRORS, convert_error
from backends.sqlite_place import address
from backends.sqlite_transaction import transaction
from backends.tokens import DamagedRow, TokenRow, checked_row

SUFFIX: Final = ".memroot-tokens"
"""The name of the file in a folder, and the end of its name beside a SQLite file."""

APPLICATION_ID: Final = 0x6D656D74
"""The application id of the file: the bytes `memt`. No store has it."""

LAYOUT: Final = 1

BUSY_SECONDS: Final = 10.0
"""The time, in seconds, that a call waits for other processes that write the file."""

_TABLE = """
CREATE TABLE IF NOT EXISTS tokens (
    name TEXT NOT NULL PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scope TEXT NOT NULL, memories TEXT NOT NULL,
    created INTEGER NOT NULL, expires INTEGER NOT NULL, sum INTEGER NOT NULL
) WITHOUT ROWID
"""
_COLUMNS = "SELECT name, hash, scope, memories, created, expires, sum FROM tokens "
_FIND = _COLUMNS + "WHERE hash = ?"
_ALL = _COLUMNS + "ORDER BY name"
_ADD = "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
_REMOVE = "DELETE FROM tokens WHERE name = ?"
# A damaged name may have any type and any bytes, and may be out of order, so that an index does not find it.
_KEYED = "SELECT name, hash, scope, memories, created, expires, sum, typeof(name) || hex(name) FROM tokens"
_REMOVE_KEYED = "DELETE FROM tokens WHERE typeof(name) || hex(name) = ?"


def tokens_file(place: Path) -> Path:
    """Return the path of the file with the tokens for the folder or the SQLite file `place`."""
    return place / SUFFIX if place.is_dir() else place.with_name(f".{place.name}{SUFFIX}")


def tokens_files(place: Path) -> list[Path]:
    """Return the paths of the file with the tokens, and of the journal that an interrupted write leaves."""
    file = tokens_file(place)
    return [file, file.with_name(file.name + "-journal")]


class SQLiteTokens:
    """The tokens for the stores in a folder or a SQLite file.

    Args:
        place: The folder or the file, a result of `backends.files.resolve_path`. It need not exist.
    """

    def __init__(self, place: Path) -> None:
        self._place = place

    def find(self, digest: bytes) -> TokenRow | DamagedRow | None:
        """Return the token with this hash, or None."""
        return next(iter(self._read(_FIND, digest)), None)

    def rows(self) -> list[TokenRow | DamagedRow]:
        """Return all tokens in the order of their names."""
        return self._read(_ALL)

    def _read(self, statement: str, *values: object) -> list[TokenRow | DamagedRow]:
        file = tokens_file(self._place)
        if not _exists(file):
            return []
        with _opened(file) as connection:
            if not _layout(connection, file):
                return []
            return [checked_row(row) for row in connection.execute(statement, values)]

    def add(self, row: TokenRow) -> bool:
        """Store a token durably. Return False, and change nothing, if there is a token of this name.

        Raises:
            BackendMissing: the folder or the file that the tokens are for does not exist.
        """
        if not self._place.exists():
            raise BackendMissing(f"there is no store at {self._place}")
        file = tokens_file(self._place)
        if not _exists(file):
            _make(file, self._place)
        with _opened(file) as connection, transaction(connection):
            if not _layout(connection, file):
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {LAYOUT}")
            return connection.execute(_ADD, (*row, row.sum())).rowcount == 1

    def remove(self, name: str) -> bool:
        """Remove a token, or the damaged rows with this name, durably. Return False if no row has it."""
        file = tokens_file(self._place)
        if not _exists(file):
            return False
        with _opened(file) as connection, transaction(connection):
            if not _layout(connection, file):
                return False
            found = connection.execute(_KEYED).fetchall()
            damaged = [key for *row, key in found if checked_row(tuple(row)) == DamagedRow(name)]
            if not damaged:
                return connection.execute(_REMOVE, (name,)).rowcount == 1
            connection.execute("REINDEX")  # SQLite refuses to remove a row that is not in the index as it is
            return sum(connection.execute(_REMOVE_KEYED, (key,)).rowcount for key in damaged) > 0

    def close(self) -> None:
        """Do nothing: no file is kept open between two calls."""


def _exists(file: Path) -> bool:
    """Return True if there is a file of tokens.

    Raises:
        BackendUnusable: the path is a link, or something else that is not a file.
    """
    try:
        status = file.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise system_error(f"{file} cannot be read", error) from error
    if not stat.S_ISREG(status.st_mode):
        raise BackendUnusable(f"{file} is not a file, but the tokens need the path; rename it")
    return True


def _make(file: Path, place: Path) -> None:
    """Create the file, empty. It belongs to the owner of the stores, and others cannot read it."""
    try:
        status = place.stat()
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(file, flags, 0o600)
        try:
            with contextlib.suppress(OSError):
                os.fchown(descriptor, status.st_uid, status.st_gid)
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o660)
        finally:
            os.close(descriptor)
        fsync_path(file.parent)
    except OSError as error:
        raise system_error(f"{file} cannot be created", error) from error


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open the file, and convert the exceptions of SQLite."""
    try:
        with contextlib.closing(
            sqlite3.connect(address(file), uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        ) as connection:
            connection.text_factory = _text
            # The end of a transaction is the removal of its journal; EXTRA makes the removal durable, too.
            connection.execute("PRAGMA synchronous = EXTRA")
            yield connection
    except DATABASE_ERRORS as error:
        raise convert_error(str(file), error) from error


def _text(stored: bytes) -> str:
    """Return a text of the file. A damaged one must not hide the other rows from the reader."""
    return stored.decode(errors="surrogateescape")


def _layout(connection: sqlite3.Connection, file: Path) -> int:
    """Return the layout of the file, or 0 if it has no table yet.

    Raises:
        BackendUnusable: it is a file of another program, or of a later version.
    """
    found: Any = connection.execute("PRAGMA user_version").fetchone()[0]
    program: Any = connection.execute("PRAGMA application_id").fetchone()[0]
    if (found, program) == (0, 0):
        return 0
    if program != APPLICATION_ID:
        raise BackendUnusable(f"{file} is a file of another program, but the tokens need the path; rename it")
    if found != LAYOUT:
        raise BackendUnusable(f"{file} has layout {found}, but this version supports only layout {LAYOUT}")
    return LAYOUT
