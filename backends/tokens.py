"""The tables of tokens: who may use a service, and for what. They are not part of any memory.

Next to a folder's stores and next to a SQLite file, the table is a small SQLite file of its own
(`backends.sqlite_tokens`). In PostgreSQL, it is a table of the same database (`backends.postgresql_tokens`).
Nothing that reads, copies or lists memories reads these tables.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from backends import locate
from backends.checksum import checksum
from backends.errors import BackendCorrupt, BackendUnusable


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
        return checksum(self.hash, "\n".join(map(str, facts)).encode())


class TokenTable(Protocol):
    """The tokens of one place. Every method may be called by several threads at once.

    All methods raise BackendBusy, BackendEnvironment, BackendUnusable or BackendCorrupt if the table cannot
    be used. A table that was never written is empty.
    """

    def find(self, digest: bytes) -> TokenRow | None:
        """Return the token with this hash, or None. The table is searched by an index."""

    def rows(self) -> list[TokenRow]:
        """Return all tokens in the order of their names."""

    def add(self, row: TokenRow) -> bool:
        """Store a token durably. Return False, and change nothing, if there is a token of this name.

        Raises:
            BackendMissing: the folder or the file that the tokens are for does not exist.
        """

    def remove(self, name: str) -> bool:
        """Remove a token durably; return False if no token has this name."""

    def close(self) -> None:
        """Release what the table holds. It must not be used afterwards."""


def checked_row(where: str, found: tuple[object, ...]) -> TokenRow:
    """Return the row that was read from a table: the fields of TokenRow, then the checksum.

    Raises:
        BackendCorrupt: the row does not match its checksum.
    """
    name, digest, *facts, stored = found
    row = TokenRow(name, bytes(digest) if isinstance(digest, bytes) else b"", *facts)  # type: ignore[arg-type]
    if row.sum() != stored:
        raise BackendCorrupt(f"{where} is damaged: the token {ascii(name)[:80]} does not match its checksum")
    return row


def open_tokens(url: str) -> TokenTable:
    """Return the table of tokens for the stores at `url`: a store, or a folder, file or database of memories.

    A name of a memory in the URL is ignored: all memories of a file or a database have the same tokens.

    Raises:
        BackendUnusable: the URL is invalid, or names a store in main memory.
    """
    location = locate(url)
    place = location.file
    if place is not None:
        from backends.sqlite_tokens import SQLiteTokens

        return SQLiteTokens(place)
    if location.kind == "memory":
        raise BackendUnusable("a store in main memory has no tokens, because it ends with the process")
    try:
        from backends.postgresql_tokens import PostgreSQLTokens
    except ImportError as error:
        raise BackendUnusable(
            "a memory in PostgreSQL needs the package psycopg; install memroot[postgresql]"
        ) from error
    return PostgreSQLTokens(location.path)
