"""The meaning of PostgreSQL's errors: one class of exceptions for each kind of answer."""

from __future__ import annotations

import errno
from typing import Final

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

_GONE: Final = frozenset({"57P01", "57P02", "57P03", "57P05"})
"""The server stops or restarts, and ended the connection."""

_MISSING: Final = frozenset({"42P01", "3F000"})
"""The tables do not exist."""

_FULL: Final = {"53100": errno.ENOSPC, "53200": errno.ENOMEM, "53300": errno.EMFILE}

_UNUSABLE: Final = {
    "3D000": "the database does not exist; create it first (`createdb NAME`)",
    "28P01": "the password is wrong",
    "28000": "the server does not let this user in",
    "0A000": "the server lacks a feature",
}

_REMEDY: Final = {
    errno.ENOSPC: "free some space on the server's disk, then repeat the command",
    errno.ENOMEM: "the server is short of memory; repeat the command later",
    errno.EMFILE: "the server has no connection left; close some, or raise its max_connections",
}


def is_again(error: psycopg.Error) -> bool:
    """Return True if the transaction was undone because of others, and may be repeated as it is."""
    return error.sqlstate in _AGAIN


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
    if state in _FULL:
        number = _FULL[state]
        what = {errno.ENOSPC: "its disk is full", errno.ENOMEM: "it is short of memory"}
        why = what.get(number, "it accepts no more connections")
        return BackendEnvironment(f"{where} refused: {why}", number=number, hint=_REMEDY[number])
    if is_lost(error):
        return BackendEnvironment(
            f"{where} cannot be reached: {_first_line(error)}",
            number=errno.ECONNRESET,
            hint="check that the server runs and that the address is right, then repeat the command",
        )
    if state == "57014":
        return BackendEnvironment(
            f"{where} took too long and gave up",
            number=errno.ETIMEDOUT,
            hint="repeat the command, or raise the server's statement_timeout",
        )
    if state == "25006":
        return BackendEnvironment(
            f"{where} accepts no writes: it is a standby, or set to read-only",
            number=errno.EROFS,
            hint="connect to the primary (`?target_session_attrs=read-write`)",
        )
    if state == "42501":
        return BackendEnvironment(
            f"{where} denies access to the tables of memroot",
            number=errno.EACCES,
            hint="grant the role SELECT, INSERT, UPDATE and DELETE on memroot_memories, memroot_locks and "
            "memroot_rows",
        )
    if state.startswith("XX"):
        return BackendCorrupt(f"{where} is damaged: {_first_line(error)}")
    why = _UNUSABLE.get(state, _first_line(error))
    return BackendUnusable(f"{where} cannot be used: {why}")


def _first_line(error: psycopg.Error) -> str:
    told = error.diag.message_primary or str(error)
    return (told.strip().splitlines() or [type(error).__name__])[0][:200]
