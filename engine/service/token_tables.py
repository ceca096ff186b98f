"""The tables of tokens: who may use a service, and for what. They are not part of any memory.

Next to a folder's stores and next to a SQLite file, the table is a small SQLite file of its own. In
PostgreSQL, it is a table of the same database. Nothing that reads, copies or lists memories reads these
tables.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, LiteralString, NamedTuple, Protocol

from backends import locate
from backends.databases import checksum
from backends.errors import BackendMissing, BackendUnusable, installing, system_error
from backends.files import fsync_path
from backends.sqlite.sqlite_connections import DATABASE_ERRORS, address, convert_error, transaction
from engine.store.named_places import tokens_file

_VISIBLE: Final = re.compile("[!-~]{1,80}")

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


IN_POSTGRESQL: Final[dict[str, LiteralString]] = {
    "make": """
        CREATE TABLE IF NOT EXISTS memroot_tokens (
            name text PRIMARY KEY,
            hash bytea NOT NULL UNIQUE,
            scope text NOT NULL,
            memories text NOT NULL,
            created bigint NOT NULL,
            expires bigint NOT NULL,
            sum bigint NOT NULL
        )
    """,
    "find": """
        SELECT name, hash, scope, memories, created, expires, sum FROM memroot_tokens WHERE hash = %s
    """,
    "list": "SELECT name, hash, scope, memories, created, expires, sum FROM memroot_tokens",
    "add": """
        INSERT INTO memroot_tokens (name, hash, scope, memories, created, expires, sum)
        VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (name) DO NOTHING
    """,
    "remove": "DELETE FROM memroot_tokens WHERE name = %s RETURNING name",
}
"""The statements on the table in PostgreSQL. Like those of memories, they are common SQL."""


class TokenRow(NamedTuple):
    """One token. The token itself is not stored, only its hash."""

    name: str
    hash: bytes
    """The SHA-256 of the token."""
    scope: str
    memories: str
    """The patterns of the memories, separated by spaces."""
    created: int
    """The time at which the token was made, in µs since 1970 UTC."""
    expires: int
    """The time from which the token is refused, in µs since 1970 UTC; 0 for never."""

    def sum(self) -> int:
        """Return the checksum that is stored with the row, so that a damaged row grants nothing."""
        facts = (self.name, self.scope, self.memories, self.created, self.expires)
        # A damaged text may be invalid UTF-8, which the tables read with `surrogateescape`.
        return checksum(self.hash, "\n".join(map(str, facts)).encode(errors="surrogateescape"))


class DamagedRow(NamedTuple):
    """A row that does not match its checksum. It grants nothing, so nothing else of it is returned."""

    name: str
    """The name of the token as it is shown and as `remove` takes it: the stored name if it has 1 to 80
    visible ASCII characters; otherwise its beginning in quotes and with escapes."""


class TokenTable(Protocol):
    """The tokens of one place. Every method may be called by several threads at once.

    All methods raise BackendBusy, BackendEnvironment, BackendUnusable or BackendCorrupt if the table cannot
    be used. A table that was never written is empty.
    """

    def find(self, digest: bytes) -> TokenRow | DamagedRow | None:
        """Return the token with this hash, or None. The table is searched by an index."""

    def rows(self) -> list[TokenRow | DamagedRow]:
        """Return all tokens in the order of their names."""

    def add(self, row: TokenRow) -> bool:
        """Store a token durably. Return False, and change nothing, if there is a token of this name.

        Raises:
            BackendMissing: the folder or the file that the tokens are for does not exist.
        """

    def remove(self, name: str) -> bool:
        """Remove a token, or the damaged rows that `rows` shows under this name, durably.

        Return False if no row has the name.
        """

    def close(self) -> None:
        """Release the table's file or connections. The table must not be used afterwards."""


def checked_row(found: tuple[object, ...]) -> TokenRow | DamagedRow:
    """Return the row that was read from a table: the fields of TokenRow, then the checksum.

    A damaged table may return values of any type.
    """
    *fields, stored = found
    kinds = (str, bytes, str, str, int, int)
    if all(type(value) is kind for value, kind in zip(fields, kinds, strict=True)):
        row = TokenRow(*fields)  # type: ignore[arg-type]
        if row.sum() == stored:
            return row
    return DamagedRow(_shown(fields[0]))


def _shown(name: object) -> str:
    visible = isinstance(name, str) and _VISIBLE.fullmatch(name)
    return str(name) if visible else ascii(str(name))[:80]


class SQLiteTokens:
    """The tokens for the stores in a folder or a SQLite file, in a SQLite file of their own.

    The stores' own files are never opened, so reading a token neither waits for a store nor changes one. The
    file uses a rollback journal, so a process that may only read can read it without writing to the folder.
    It is opened for each call (measured: 0.1 ms), so a file that was restored or replaced is noticed at once.

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
            rows = connection.execute(_KEYED).fetchall()
            damaged = [key for *row, key in rows if checked_row(tuple(row)) == DamagedRow(name)]
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
    """Return a text of the file. A damaged text must not hide the other rows from the reader."""
    return stored.decode(errors="surrogateescape")


def _layout(connection: sqlite3.Connection, file: Path) -> int:
    """Return the layout of the file, or 0 if it has no table yet.

    Raises:
        BackendUnusable: it is a file of another program, or of a later version.
    """
    version: Any = connection.execute("PRAGMA user_version").fetchone()[0]
    program: Any = connection.execute("PRAGMA application_id").fetchone()[0]
    if (version, program) == (0, 0):
        return 0
    if program != APPLICATION_ID:
        raise BackendUnusable(f"{file} is a file of another program, but the tokens need the path; rename it")
    if version != LAYOUT:
        raise BackendUnusable(f"{file} has layout {version}, but this version supports only layout {LAYOUT}")
    return LAYOUT


class PostgreSQLTokens:
    """The tokens for all memories of a PostgreSQL database: a table beside those of the memories.

    The table is created when the first token is added, by the role that adds it.

    Args:
        path: The text after `postgresql:` in a URL.

    Raises:
        BackendUnusable: the text is not an address of a PostgreSQL database, or psycopg is not installed.
    """

    def __init__(self, path: str) -> None:
        try:
            from backends.postgresql.postgresql_connections import Database
        except ImportError as error:
            raise BackendUnusable(
                f"a memory in PostgreSQL needs the package psycopg: {installing('postgresql')}"
            ) from error
        self._database = Database(path)

    def find(self, digest: bytes) -> TokenRow | DamagedRow | None:
        """Return the token with this hash, or None."""
        return next(iter(self._read(IN_POSTGRESQL["find"], [digest])), None)

    def rows(self) -> list[TokenRow | DamagedRow]:
        """Return all tokens in the order of their names."""
        return sorted(self._read(IN_POSTGRESQL["list"], []), key=lambda row: row.name)

    def _read(self, statement: LiteralString, values: Sequence[object]) -> list[TokenRow | DamagedRow]:
        rows = self._database.run(statement, values, durable=False)
        return [checked_row(row) for row in rows or ()]

    def add(self, row: TokenRow) -> bool:
        """Store a token durably. Return False, and change nothing, if there is a token of this name."""
        if self._database.run(IN_POSTGRESQL["add"], [*row, row.sum()]) is None:
            self._database.run(IN_POSTGRESQL["make"])
            self._database.run(IN_POSTGRESQL["add"], [*row, row.sum()])
        # The statement may have been sent twice, if a connection was lost; the hash says whose row it is.
        return self.find(row.hash) == row

    def remove(self, name: str) -> bool:
        """Remove a token, or the damaged rows with this name, durably. Return False if no row has it."""
        rows = self._database.run(IN_POSTGRESQL["list"], durable=False) or ()
        damaged = {row[0] for row in rows if checked_row(row) == DamagedRow(name)}
        removed = [self._database.run(IN_POSTGRESQL["remove"], [one]) for one in damaged or {name}]
        return any(removed)

    def close(self) -> None:
        """Release the connections, unless memories use them."""
        self._database.close()


def open_tokens(url: str) -> TokenTable:
    """Return the table of tokens for the stores at `url`: a store, or a folder, file or database of memories.

    A name of a memory in the URL is ignored: all memories of a file or a database have the same tokens.

    Raises:
        BackendUnusable: the URL is invalid, or names a store in main memory.
    """
    location = locate(url)
    place = location.file
    if place is not None:
        return SQLiteTokens(place)
    if location.kind == "memory":
        raise BackendUnusable("a store in main memory has no tokens, because it ends with the process")
    return PostgreSQLTokens(location.path)
