"""The meaning of PostgreSQL's errors: one class of exceptions for each kind of answer."""

from __future__ import annotations

import errno
from typing import Final, NamedTuple

import psycopg

from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendUnusable,
)

_BUSY: Final = frozenset({"55P03"})
"""A lock was not granted in time."""

_AGAIN: Final = frozenset({"40001", "40P01", "CR000"})
"""The server undid the transaction because of other transactions; the same transaction may succeed."""

_COLLIDED: Final = frozenset({"23505", "42P07", "42710", "XX000"})
"""Two connections that create the same table at the same time collide in the catalogue."""

_GONE: Final = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
"""The server stops or restarts, or an idle connection or transaction took too long: the connection ended."""

_DAMAGED: Final = frozenset({"XX001", "XX002"})
"""The server found a damaged page of a table or an index."""

_SYSTEM_CLASSES: Final = ("53", "58", "XX")
"""The classes of SQLSTATE for a lack of resources, failed calls of the system, and internal errors. The
server reports a used-up disk quota, for instance, as an internal error."""

_MISSING: Final = frozenset({"42P01", "3F000"})
"""The tables do not exist."""

_UNUSABLE: Final = {
    "3D000": "the database does not exist; create it first (`createdb NAME`)",
    "28P01": "the password is wrong",
    "28000": "the server does not let this user in",
    "0A000": "the server lacks a feature",
}


class _Refusal(NamedTuple):
    """The meaning of an SQLSTATE with which the server, or the system it runs on, refuses the work."""

    what: str
    """The behaviour of the server, as the end of a sentence that begins with its address."""
    number: int
    """The errno with the same meaning."""
    hint: str


_REFUSALS: Final = {
    "53100": _Refusal(
        "refused: its disk is full",
        errno.ENOSPC,
        "free some space on the server's disk, then repeat the command",
    ),
    "53200": _Refusal(
        "refused: it is short of memory",
        errno.ENOMEM,
        "the server is short of memory; repeat the command later",
    ),
    "53300": _Refusal(
        "refused: it accepts no more connections",
        errno.EMFILE,
        "the server has no connection left; close some, or raise its max_connections",
    ),
    "57014": _Refusal(
        "took too long and gave up",
        errno.ETIMEDOUT,
        "repeat the command, or raise the server's statement_timeout",
    ),
    "25006": _Refusal(
        "accepts no writes: it is a standby, or set to read-only",
        errno.EROFS,
        "connect to the primary (`?target_session_attrs=read-write`)",
    ),
    "42501": _Refusal(
        "denies access to the tables of memroot",
        errno.EACCES,
        "grant the role SELECT, INSERT, UPDATE and DELETE on memroot_memories, memroot_locks and "
        "memroot_rows, and SELECT on memroot_tokens; make and revoke tokens as the owner of the tables",
    ),
}


def is_again(error: psycopg.Error) -> bool:
    """Return True if the transaction was undone because of others, and may be repeated as it is."""
    return error.sqlstate in _AGAIN


def is_collision(error: psycopg.Error) -> bool:
    """Return True if a statement that creates a table failed because others created the table meanwhile."""
    return is_again(error) or error.sqlstate in _COLLIDED


def is_missing(error: psycopg.Error) -> bool:
    """Return True if the tables of memroot do not exist in the database."""
    return error.sqlstate in _MISSING


def is_lost(error: psycopg.Error) -> bool:
    """Return True if there is no connection any more, so that it is unknown what the server did last."""
    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError)
    return state in _GONE or state.startswith("08")


def convert(where: str, error: psycopg.Error) -> BackendError:
    """Return the exception of a backend for an error of the server or of the connection.

    The text of the server's error is not shown if it could quote a value.
    """
    state = error.sqlstate or ""
    if state in _BUSY or is_again(error):
        return BackendBusy(where, "another connection")
    refusal = _REFUSALS.get(state)
    if refusal is not None:
        return BackendEnvironment(f"{where} {refusal.what}", number=refusal.number, hint=refusal.hint)
    if state in _UNUSABLE:
        return BackendUnusable(f"{where} cannot be used: {_UNUSABLE[state]}")
    if is_lost(error):
        return BackendEnvironment(
            f"{where} cannot be reached: {_first_line(error)}",
            number=errno.ECONNRESET,
            hint=_hint_to_reach(error),
        )
    if state in _DAMAGED:
        return BackendCorrupt(f"{where} is damaged: {_first_line(error)}")
    if state.startswith(_SYSTEM_CLASSES):
        return BackendEnvironment(
            f"{where} failed: {_first_line(error)}",
            number=errno.EIO,
            hint="check the server's log and disk, then repeat the command",
        )
    return BackendUnusable(f"{where} cannot be used: {_first_line(error)}")


def _hint_to_reach(error: psycopg.Error) -> str:
    """Return the hint for a connection that was not made or was lost."""
    if error.pgconn is not None and error.pgconn.needs_password:
        return (
            "give the password in PGPASSWORD, or in the file that PGPASSFILE names; the file is ignored if "
            "this user cannot read it, or if other users can"
        )
    return "check that the server runs and that the address and the password are right, then try again"


def _first_line(error: psycopg.Error) -> str:
    told = error.diag.message_primary or str(error)
    return (told.strip().splitlines() or [type(error).__name__])[0][:200]
