"""The tokens of a PostgreSQL database: a table of its own beside the tables of the memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import psycopg

from backends import postgresql_sql as sql
from backends.postgresql_address import Connection, join, leave, parse
from backends.postgresql_errors import convert, is_collision, is_lost, is_missing
from backends.tokens import DamagedRow, TokenRow, checked_row

_TRIES: Final = 3
"""The number of times that a statement is sent if connections are lost or if others interfere."""

Rows = list[tuple[object, ...]]


class PostgreSQLTokens:
    """The tokens for all memories of a database. They use the connections that the memories share.

    The table is created when the first token is added, by the role that adds it.

    Args:
        path: The text after `postgresql:` in a URL.

    Raises:
        BackendUnusable: the text is not an address of a PostgreSQL database.
    """

    def __init__(self, path: str) -> None:
        self._address = parse(path, None)
        self._pool = join(self._address)

    def find(self, digest: bytes) -> TokenRow | DamagedRow | None:
        """Return the token with this hash, or None."""
        return next(iter(self._read(sql.FIND_IN_TOKENS, [digest])), None)

    def rows(self) -> list[TokenRow | DamagedRow]:
        """Return all tokens in the order of their names."""
        return sorted(self._read(sql.LIST_TOKENS, []), key=lambda row: row.name)

    def _read(self, statement: str, values: Sequence[object]) -> list[TokenRow | DamagedRow]:
        found = self._run(statement, values, durable=False)
        return [checked_row(row) for row in found or ()]

    def add(self, row: TokenRow) -> bool:
        """Store a token durably. Return False, and change nothing, if there is a token of this name."""
        if self._run(sql.ADD_TO_TOKENS, [*row, row.sum()]) is None:
            self._run(sql.MAKE_TOKENS)
            self._run(sql.ADD_TO_TOKENS, [*row, row.sum()])
        # The statement may have been sent twice, if a connection was lost; the hash says whose row it is.
        return self.find(row.hash) == row

    def remove(self, name: str) -> bool:
        """Remove a token, or the damaged rows with this name, durably. Return False if no row has it."""
        found = self._run(sql.LIST_TOKENS, [], durable=False) or ()
        damaged = {row[0] for row in found if checked_row(row) == DamagedRow(name)}
        removed = [self._run(sql.REMOVE_FROM_TOKENS, [one]) for one in damaged or {name}]
        return any(removed)

    def _run(self, statement: str, values: Sequence[object] = (), *, durable: bool = True) -> Rows | None:
        """Execute a statement, and return its rows; None if there is no table of tokens."""
        for attempt in range(1, _TRIES + 1):
            connection = self._pool.take()
            try:
                if not durable:
                    return _rows(connection, statement, values)
                with connection.transaction():
                    _wait_for_disk(connection)
                    found = _rows(connection, statement, values)
            except psycopg.Error as error:
                if is_missing(error):
                    return None
                if attempt == _TRIES or not (is_collision(error) or is_lost(error)):
                    raise convert(self._address.shown, error) from error
                if is_lost(error):
                    self._pool.drop_idle()  # the server has probably restarted
            else:
                return found
            finally:
                self._pool.give_back(connection)
        raise AssertionError

    def close(self) -> None:
        """Release the connections, unless memories use them."""
        leave(self._address)


def _rows(connection: Connection, statement: str, values: Sequence[object]) -> Rows:
    cursor = connection.execute(statement, values)
    return cursor.fetchall() if cursor.description else []


def _wait_for_disk(connection: Connection) -> None:
    """Make the commit of this transaction wait until it is durable, if the server would not wait."""
    settings: Any = connection.execute(sql.SETTINGS).fetchone()
    if settings[0] in ("off", "local"):
        connection.execute(sql.COMMIT_DURABLY)
