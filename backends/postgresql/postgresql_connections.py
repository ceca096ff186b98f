"""The addresses of memories in PostgreSQL, and the connections that the handles of a process share."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from backends.databases import memory_name
from backends.errors import BackendBusy, BackendUnusable
from backends.postgresql import postgresql_sql as sql
from backends.postgresql.postgresql_errors import convert, is_collision, is_lost, is_missing

Connection = psycopg.Connection[tuple[object, ...]]

CONNECTIONS_MAX: Final = 20
"""The largest number of connections of one process to one database, whatever the number of open memories."""

WAIT_SECONDS: Final = 10.0
"""The time, in seconds, that a call waits for a connection that another call returns."""

CONNECT_SECONDS: Final = 10
"""The time, in seconds, after which an attempt to connect to a server fails."""


TRIES_MAX: Final = 20
"""The number of times that a statement is sent again because the server undid it in favour of others."""

_STATEMENT_TRIES: Final = 3
"""The number of times that `Database` sends a statement."""

_PAUSES: Final = (0.01, 0.05, 0.2, 0.5, 1.0)
"""The pauses, in seconds, between two attempts to reach the server; the last one is repeated."""

_pools: dict[str, Pool] = {}

_lock = threading.Lock()

_inherited: list[Pool] = []
"""The pools of the parent process. They are kept, because freeing them would close its connections."""


@dataclass(frozen=True, slots=True)
class Address:
    """The place of a memory: a database, and the name of the memory in it."""

    conninfo: str
    """The URL for libpq."""
    shown: str
    """The URL without its options, for messages."""
    memory: str
    """The name of the memory; empty for the memory without a name."""


def parse(path: str, memory: str | None) -> Address:
    """Return the address for the text after `postgresql:` or `postgresql+NAME:` in a URL.

    Raises:
        BackendUnusable: the text is not an address of a PostgreSQL database, or the name is invalid.
    """
    conninfo = f"postgresql:{path}"
    name = "" if memory is None else memory_name(memory)
    try:
        parts = conninfo_to_dict(conninfo)
    except psycopg.Error:
        raise BackendUnusable(
            "this is not the address of a PostgreSQL database; write postgresql://USER@HOST:PORT/DATABASE"
        ) from None
    if parts.get("password"):
        raise BackendUnusable(
            "the URL of a store must not contain a password, because messages show the URL; put it into "
            "PGPASSWORD, a password file (~/.pgpass) or a service file"
        )
    user = f"{parts['user']}@" if parts.get("user") else ""
    port = f":{parts['port']}" if parts.get("port") else ""
    scheme = f"postgresql+{name}" if name else "postgresql"
    shown = f"{scheme}://{user}{parts.get('host') or ''}{port}/{parts.get('dbname') or ''}"
    return Address(conninfo, shown, name)


def _end(connection: Connection) -> bool:
    """Undo the transaction of a connection without waiting for the server's answer.

    Waiting would cost every read a round trip. The answer is read by `_await_end`.

    Returns:
        False if the connection is lost or busy, and must be closed.
    """
    status = connection.info.transaction_status
    if status is TransactionStatus.IDLE:
        return True
    if status not in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        return False
    try:
        connection.pgconn.send_query(sql.ROLLBACK.encode())
        return connection.pgconn.flush() == 0
    except psycopg.Error:
        return False


def _await_end(connection: Connection) -> None:
    """Read the server's answer to the `ROLLBACK` that `_end` sent.

    If the connection is lost, the next call reports it.
    """
    if connection.info.transaction_status is not TransactionStatus.ACTIVE:
        return
    server = connection.pgconn
    answered = select.poll()
    with contextlib.suppress(psycopg.Error):
        answered.register(server.socket, select.POLLIN)
        server.consume_input()
        # PQgetResult would wait, too, but without releasing the interpreter's lock.
        while server.is_busy():
            answered.poll()
            server.consume_input()
        while server.get_result() is not None:
            continue


def _has_ended(connection: Connection) -> bool:
    """Return True if the server has said, or the network has told, that an idle connection is over."""
    told = select.poll()
    try:
        told.register(connection.pgconn.socket, select.POLLIN)
        while told.poll(0):
            connection.pgconn.consume_input()
    except psycopg.Error:
        return True
    return connection.closed


class Pool:
    """Connections to one database, which the handles of this process share. It is thread-safe.

    A connection is made when it is needed, by the thread that needs it, so that this thread gets the server's
    answer. (The package psycopg_pool connects in threads of its own: a caller only learns that it took too
    long, and after a restart of the server the pool waits up to minutes between its attempts.)
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._free = threading.Semaphore(CONNECTIONS_MAX)
        self._idle: list[Connection] = []
        self._closed = False
        self.users = 0
        """The number of handles that use the pool."""

    def take(self, *, checked: bool = False) -> Connection:
        """Return an idle or a new connection, outside of a transaction.

        An idle connection may turn out to be lost. With `checked`, that happens only if the network has not
        reported the loss yet.

        Raises:
            BackendBusy: all connections of this process stayed in use.
            BackendEnvironment: the server cannot be reached.
            BackendUnusable: the server refuses the user or the database.
        """
        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise BackendBusy(self._address.shown, "all connections of this process")
        try:
            while True:
                try:
                    connection = self._idle.pop()
                except IndexError:
                    return psycopg.connect(
                        self._address.conninfo,
                        autocommit=True,
                        connect_timeout=CONNECT_SECONDS,
                        application_name="memroot",
                    )
                _await_end(connection)
                if not (checked and _has_ended(connection)):
                    return connection
                connection.close()
        except psycopg.Error as error:
            self._free.release()
            raise convert(self._address.shown, error) from None
        except BaseException:
            self._free.release()
            raise

    @contextlib.contextmanager
    def connected(self, where: str) -> Iterator[Connection]:
        """Lend a connection to the block, and convert the exceptions of psycopg; `where` is for messages."""
        connection = self.take(checked=True)
        try:
            yield connection
        except psycopg.Error as error:
            raise convert(where, error) from error
        finally:
            self.give_back(connection)

    def give_back(self, connection: Connection) -> None:
        """Return a connection. Its transaction, if it has one, is undone; a lost connection is closed."""
        if not self._closed and _end(connection):
            self._idle.append(connection)
        else:
            connection.close()
        self._free.release()

    def drop_idle(self) -> None:
        """Close the idle connections, for instance because one of them was lost."""
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        """Close the idle connections, and the others when they are returned."""
        self._closed = True
        self.drop_idle()

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The idle connections."""
        return tuple(self._idle)


class Database:
    """A database with a table that belongs to no memory. It uses the connections that the memories share.

    Args:
        path: The text after `postgresql:` in a URL.

    Raises:
        BackendUnusable: the text is not an address of a PostgreSQL database.
    """

    def __init__(self, path: str) -> None:
        self._address = parse(path, None)
        self._pool = join(self._address)

    def run(
        self, statement: LiteralString, values: Sequence[object] = (), *, durable: bool = True
    ) -> list[tuple[object, ...]] | None:
        """Execute a statement, and return its rows; None if its table does not exist.

        The statement is sent again if connections are lost or if others interfere, so it may be executed
        twice.

        Args:
            statement: The statement.
            values: Its parameters.
            durable: Wait until the disk has what the statement writes, even if the server would not wait.
        """
        for attempt in range(1, _STATEMENT_TRIES + 1):
            connection = self._pool.take()
            try:
                if not durable:
                    return _rows(connection, statement, values)
                with connection.transaction():
                    wait_for_disk(connection)
                    rows = _rows(connection, statement, values)
            except psycopg.Error as error:
                if is_missing(error):
                    return None
                if attempt == _STATEMENT_TRIES or not (is_collision(error) or is_lost(error)):
                    raise convert(self._address.shown, error) from error
                if is_lost(error):
                    self._pool.drop_idle()  # the server has probably restarted
            else:
                return rows
            finally:
                self._pool.give_back(connection)
        raise AssertionError

    def close(self) -> None:
        """Release the connections, unless memories use them."""
        leave(self._address)


def _rows(
    connection: Connection, statement: LiteralString, values: Sequence[object]
) -> list[tuple[object, ...]]:
    cursor = connection.execute(statement, values)
    return cursor.fetchall() if cursor.description else []


def wait_for_disk(connection: Connection) -> None:
    """Make the commit of this transaction wait until it is durable, if the server would not wait."""
    settings = connection.execute(sql.SETTINGS).fetchone()
    if settings is not None and settings[0] in ("off", "local"):
        connection.execute(sql.COMMIT_DURABLY)


def join(address: Address) -> Pool:
    """Return the pool of the address's database. Call `leave` when it is not needed any more."""
    with _lock:
        pool = _pools.setdefault(address.conninfo, Pool(address))
        pool.users += 1
        return pool


def leave(address: Address) -> None:
    """Close the pool of the address's database if this was its last user."""
    with _lock:
        pool = _pools.get(address.conninfo)
        if pool is None:
            return
        pool.users -= 1
        if not pool.users:
            del _pools[address.conninfo]
            pool.close()


def _forget_pools() -> None:
    """In a forked process, forget the pools of the parent; its connections must not be used."""
    global _lock  # noqa: PLW0603  a fork may copy a held lock
    _lock = threading.Lock()
    _inherited.extend(_pools.values())
    _pools.clear()


os.register_at_fork(after_in_child=_forget_pools)


def pause(attempt: int) -> float:
    """Return the pause, in seconds, before the next attempt; pauses differ between processes."""
    most = _PAUSES[min(attempt, len(_PAUSES) - 1)]
    return most * (0.5 + secrets.randbelow(1000) / 2000)
