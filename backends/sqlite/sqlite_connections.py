"""Connections to SQLite files: their addresses, transactions, and the translation of SQLite's exceptions.

SQLite hides the errno, so some functions here try an operation to find the cause.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    environment_error,
    in_doubt,
)

DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The exceptions of SQLite. The second one is raised if a message quotes damaged bytes that are not UTF-8."""

_ERRNOS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
}
"""Result code → the errno that causes it most often."""

_MAPPED_BYTES = 1 << 15
"""The size of the part of the WAL's index that SQLite maps into memory. If it cannot, it reports an
input/output error."""

_UNSURE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR}
"""The result codes that have several causes."""


def convert_error(where: str, error: sqlite3.Error | UnicodeDecodeError) -> BackendError:
    """Return the backend exception for an exception of SQLite; `where` is the path of the store."""
    if isinstance(error, UnicodeDecodeError) or "decode to UTF-8" in str(error):
        return BackendCorrupt(f"{where} is damaged: SQLite returned bytes that are not a text")
    code = _code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BackendBusy(where, "another process")
    # All statements are constant, so a table or column that does not exist is damage, too.
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        return BackendCorrupt(f"{where} is damaged: {error}")
    if code in _ERRNOS or code in _UNSURE:
        return _environment(f"{where} cannot be used", where, code, str(error))
    return BackendError(f"{where} cannot be used: {error}")


@contextlib.contextmanager
def converted(where: str) -> Iterator[None]:
    """Raise the exceptions of SQLite in the block as backend exceptions; `where` is the path of the store."""
    try:
        yield
    except DATABASE_ERRORS as error:
        raise convert_error(where, error) from error


def convert_doubt(what: str, where: str, error: BaseException) -> BackendInDoubt:
    """Return the exception for a transaction that may have taken effect; `what` begins the message."""
    code = _code(error)
    if code in _ERRNOS or code in _UNSURE:
        return in_doubt(what, _errno(where, code), str(error))
    return in_doubt(what, getattr(error, "errno", None) or 0, str(error))


def creation_error(folder: Path, error: sqlite3.Error) -> BackendEnvironment:
    """Return the exception for a store that SQLite cannot create in `folder`."""
    return _environment(f"no store can be created in {folder}", str(folder), _code(error), str(error))


def _environment(what: str, where: str, code: int, text: str) -> BackendEnvironment:
    return environment_error(what, _errno(where, code), text)


def _code(error: BaseException) -> int:
    """Return the primary result code, or 0."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _errno(where: str, code: int) -> int:
    """Return the errno behind a result code, or 0 if it is unknown.

    The database itself is not opened: closing it would release the locks of SQLite (`backends.locks`).
    """
    return (_probed(where) if code in _UNSURE else 0) or _ERRNOS.get(code, 0)


def _probed(where: str) -> int:
    """Return the errno with which the system would refuse to write the file `where` now, or 0."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
        mmap.mmap(-1, _MAPPED_BYTES).close()
        disk = os.statvfs(where)
    except OSError as error:
        return error.errno or 0
    if disk.f_flag & os.ST_RDONLY:
        return errno.EROFS
    if not disk.f_bavail:
        return errno.ENOSPC
    folder = Path(where).parent
    allowed = os.access(where, os.R_OK | os.W_OK) and os.access(folder, os.W_OK | os.X_OK)
    return 0 if allowed else errno.EACCES


def address(path: Path, mode: str = "rw") -> str:
    """Return a URI with which SQLite opens exactly this file and never creates it.

    All bytes of the path are percent-encoded. `mode` is `rw`, or `ro` for reading only.
    """
    return "file:" + "".join(f"%{byte:02x}" for byte in os.fsencode(path)) + f"?mode={mode}"


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block writes, or undo all of it if the block or the commit fails.

    Raises:
        sqlite3.Error: SQLite fails.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
