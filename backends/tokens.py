"""The tables of tokens: who may use a service, and for what. They are not part of any memory.

Next to a folder's stores and next to a SQLite file, the table is a small SQLite file of its own
(`backends.sqlite_tokens`). In PostgreSQL, it is a table of the same database (`backends.postgresql_tokens`).
Nothing that reads, copies or lists memories reads these tables.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, Protocol

from backends import locate
from backends.checksum import checksum
from backends.errors import BackendUnusable

_VISIBLE: Final = re.compile("[!-~]{1,80}")


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
        """Release what the table holds. It must not be used afterwards."""


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
