"""A backend on PostgreSQL, for teams that have many memories, several servers, and a database already.

One database holds any number of memories; all of them are in the same three tables (`postgresql_sql`). The
handles of a process share a bounded number of connections. A snapshot is a transaction of isolation level
REPEATABLE READ. A write is one round trip: it takes the turn of the memory by updating the memory's row, and
then checks the guards and applies the batch in one statement.

If the connection is lost during a write, the handle connects again, raises the memory's *fence*, and reads
the tokens of the last writes. A write that was sent under the old fence cannot take effect any more, so the
tokens tell whether it has. Only if the server stays away does the write raise BackendInDoubt.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import psycopg

from backends.base import Backend, Batch, Capabilities, Guard, Guards, Row, check_batch, guards_of
from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendMissing,
    GuardFailed,
)
from backends.handle_state import HandleState
from backends.postgresql import postgresql_sql as sql
from backends.postgresql.postgresql_connections import TRIES_MAX, Connection, join, leave, parse, pause
from backends.postgresql.postgresql_errors import convert, is_again, is_lost
from backends.postgresql.postgresql_memories import lock_timeout, open_memory, rewrite_rows
from backends.postgresql.postgresql_reads import Begun, PostgreSQLSnapshot, RowCache, Rows, State

BUSY_SECONDS: Final = 10.0
"""The time, in seconds, that a write waits for other writers before it raises BackendBusy."""

SETTLE_SECONDS: Final = 30.0
"""The time, in seconds, that a write tries to find out its result after its connection was lost."""

_WARNING: Final = "01000"
"""The SQLSTATE of the warning with which a server ends its wait for a synchronous standby."""


class PostgreSQLBackend(Backend):
    """An open memory in a PostgreSQL database; any number of handles may be open, in any number of processes.

    Args:
        path: The text after `postgresql:` or `postgresql+NAME:` in the URL.
        create: Create the tables and the memory if they are missing.
        memory: The name of the memory; None means the memory without a name.
        busy_seconds: The time, in seconds, that a write waits for other writers.
        settle_seconds: The time, in seconds, that a write tries to find out its result after its connection
            was lost.

    Raises:
        BackendMissing: there is no such memory, and `create` is false.
        BackendEnvironment: the server cannot be reached, or refuses an operation.
        BackendUnusable: the address is invalid, or the database cannot hold memories.
    """

    name = "postgresql"
    beyond_purge = (
        "the write-ahead log of the PostgreSQL server, its archives, replicas and backups",
        "the files of memroot_rows, until its owner runs VACUUM FULL, if another role erased",
    )
    capabilities = Capabilities(durable=True, multi_process=True, persistent=True)
    clock_of = "the database server"

    def __init__(
        self,
        path: str,
        *,
        create: bool = True,
        memory: str | None = None,
        busy_seconds: float = BUSY_SECONDS,
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        self._address = parse(path, memory)
        self._busy_seconds = busy_seconds
        self._lock_timeout = lock_timeout(busy_seconds)
        self._settle_seconds = settle_seconds
        self._lent: set[Connection] = set()
        self._writing = threading.RLock()
        self._excluding: Connection | None = None
        self._unsettled = False
        self._handle_state = HandleState(self._address.shown, self._fork_unsafe)
        self._pool = join(self._address)
        try:
            opened = open_memory(self._pool, self._address, create=create)
        except BaseException:
            leave(self._address)
            raise
        self._fence, self._synchronous = opened.fence, opened.synchronous
        if opened.read_only:
            self.unwritable = "the server is a standby, or is set to read-only"
        self._rows = Rows(self._address.shown, opened.number)
        self._cache = RowCache()
        self._writes = 0

    def _fork_unsafe(self) -> Iterable[object]:
        """Return the objects that a forked process must not free, because they close connections."""
        return (*self._pool.connections, *self._lent)

    def _begun(self, keys: Sequence[bytes] = ()) -> Begun:
        """Return an open transaction that reads, and the values of `keys` in it.

        A pooled connection may have been lost while it was idle. No write was sent on it, so the method tries
        the next connection.
        """
        for attempt in range(TRIES_MAX):
            connection = self._pool.take()
            try:
                begun = self._rows.begin(connection, keys)
            except psycopg.Error as error:
                self._pool.give_back(connection)
                self._pool.drop_idle()  # the server has probably restarted
                if not is_lost(error) or attempt == TRIES_MAX - 1:
                    raise convert(self._address.shown, error) from error
            except BaseException:
                self._pool.give_back(connection)
                raise
            else:
                if begun is None:
                    self._pool.give_back(connection)
                    raise self._deleted()
                self._writes = begun.state.writes
                self._cache.enter(begun.state)
                return begun
        raise AssertionError

    def _deleted(self) -> BackendMissing:
        return BackendMissing(f"{self._address.shown} was deleted")

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None."""
        return self.multi_get((key,))[0]

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys` at one moment, in the same order."""
        with self._handle_state.inside():
            begun = self._begun(keys)
            self._pool.give_back(begun.connection)
            return begun.values

    def read_ahead(self, keys: Sequence[bytes]) -> None:
        """Fetch rows in one round trip, and cache them until the next write to the memory."""
        with self._handle_state.inside(), contextlib.suppress(BackendCorrupt):
            # A damaged row is reported when it is read.
            begun = self._begun(keys)
            self._pool.give_back(begun.connection)
            self._cache.keep(begun.state, dict(zip(keys, begun.values, strict=True)))

    def keys(self, prefix: bytes, limit: int) -> list[bytes]:
        """Return the first `limit` keys that begin with `prefix`, including the keys of damaged values."""
        with self.snapshot() as rows:
            return rows.keys(prefix, limit)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Return an iterator over the rows with start <= key < end, as they are at the time of the call."""
        return self.snapshot().scan_and_close(start, end, reverse=reverse)

    def snapshot(self) -> PostgreSQLSnapshot:
        """Return a snapshot of the current rows. It keeps a connection until it is closed."""
        with self._handle_state.inside():
            begun = self._begun()
            self._lent.add(begun.connection)
            return PostgreSQLSnapshot(self._handle_state, self._rows, begun, self._cache, self._returned)

    def _returned(self, connection: Connection) -> None:
        """Return the connection of a snapshot to the pool."""
        self._lent.discard(connection)
        self._pool.give_back(connection)

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Apply `batch` atomically; with `durable`, this and all earlier writes survive a power failure.

        Raises:
            BackendBusy: other writers kept the memory locked; nothing was written.
            BackendInDoubt: the connection was lost, and the server could not be reached again in time.
        """
        check_batch(batch)
        guards = guards_of(guard)
        with self._handle_state.inside(), self._writing:
            if batch.rows or guards or durable:
                self._send(batch, guards, durable)

    def _send(self, batch: Batch, guards: Sequence[Guard], durable: bool) -> None:
        """Send one transaction, until it took effect or a guard failed."""
        if self._unsettled:
            self._raise_fence()
        for attempt in range(TRIES_MAX):
            token = os.urandom(sql.TOKEN_BYTES)
            try:
                done = self._try(batch, guards, durable, token)
            except psycopg.Error as error:
                if is_again(error):
                    done = None
                elif is_lost(error):
                    if self._settle(token, error):
                        return
                    done = None
                else:
                    raise convert(self._address.shown, error) from error
            if done is not None:
                if done:
                    raise GuardFailed(f"row {done[0]!r} has changed")
                return
            time.sleep(pause(attempt))
        raise BackendBusy(self._address.shown, "other writers")

    def _try(self, batch: Batch, guards: Sequence[Guard], durable: bool, token: bytes) -> list[bytes] | None:
        """Send the transaction once, in one round trip.

        Returns:
            The keys of the guards that do not hold; None if another handle has raised the fence; this handle
                then knows the new fence. In both cases nothing was written.
        """
        memory = self._rows.memory
        level = self._synchronous if durable else "off"
        connection = self._pool.take()
        warnings: list[str] = []

        def note(notice: psycopg.errors.Diagnostic) -> None:
            if notice.severity_nonlocalized == "WARNING":
                warnings.append(notice.sqlstate or "")

        connection.add_notice_handler(note)
        try:
            with connection.pipeline():
                connection.execute(sql.BEGIN_WRITING)
                connection.execute(sql.SET_UP_WRITE, [str(memory), level, self._lock_timeout])
                if self._excluding is None:
                    connection.execute(sql.SHARE_LOCK, [memory])
                counted = connection.execute(
                    sql.COUNT_WRITE,
                    [
                        batch.reaches or 0, token, sql.TOKEN_BYTES * sql.TOKENS_KEPT, memory, self._fence,
                        sql.TOKEN_BYTES + 1, sql.TOKEN_BYTES,
                    ],
                    binary=True,
                )  # fmt: skip
                applied = connection.execute(
                    sql.APPLY, sql.apply_values(memory, self._fence, batch, guards), binary=True
                )
                connection.execute(sql.COMMIT)
            turn: Any = counted.fetchone()
            if turn is None:
                self._learn_fence(connection)
                return None
            self._check_confirmed(warnings)
            self._writes, previous = turn
            broken: Any = applied.fetchall()
            before, after = State(self._writes - 1, previous), State(self._writes, token)
            self._cache.wrote(before, after, {} if broken else batch.rows)
            self.unwritable = None  # a standby that was promoted
            return [key for (key,) in broken]
        finally:
            connection.remove_notice_handler(note)
            self._pool.give_back(connection)

    def _check_confirmed(self, warnings: Sequence[str]) -> None:
        """Check that the server did not give up waiting for a synchronous standby.

        An operator who cancels the statement (`pg_cancel_backend`) ends that wait with a warning: the
        transaction is committed, but it would be missing after the standby took over.

        Raises:
            BackendInDoubt: the server gave up.
        """
        if _WARNING in warnings:
            self._cache.clear()
            raise BackendInDoubt(
                f"{self._address.shown} has stored a write, but no standby has confirmed it",
                hint="the write is lost if a standby takes over now; check the standby",
            )

    def _learn_fence(self, connection: Connection) -> None:
        """Read the present fence of the memory.

        Raises:
            BackendMissing: the memory was deleted.
        """
        row: Any = connection.execute(sql.STATE, [self._rows.memory]).fetchone()
        if row is None:
            raise self._deleted()
        self._fence, self._writes = row

    def _settle(self, token: bytes, cause: psycopg.Error) -> bool:
        """After a lost connection, return True if the write with this token took effect, or False.

        Raises:
            BackendInDoubt: the server could not be reached, or too many writes came after this one.
        """
        self._unsettled = True
        self._cache.clear()
        self._pool.drop_idle()
        before = self._writes
        try:
            tokens = self._raise_fence()
        except BackendError as error:
            raise BackendInDoubt(
                f"the connection to {self._address.shown} was lost during a write that may have taken effect",
                hint="once the server can be reached, check which events the memory has",
            ) from error
        parts = [tokens[at : at + sql.TOKEN_BYTES] for at in range(0, len(tokens), sql.TOKEN_BYTES)]
        if token in parts:
            return True
        if self._writes - before > sql.TOKENS_KEPT:
            raise BackendInDoubt(
                f"the connection to {self._address.shown} was lost during a write, and "
                f"{self._writes - before} other writes came after it",
                hint="check which events the memory has",
            ) from cause
        return False

    def _raise_fence(self) -> bytes:
        """Raise the fence, so that no earlier write can take effect any more; return the last tokens."""
        until = time.monotonic() + self._settle_seconds
        for attempt in range(1 << 30):
            try:
                with self._pool.connected(self._address.shown) as connection:
                    row: Any = connection.execute(sql.FENCE, [self._rows.memory]).fetchone()
            except (BackendEnvironment, BackendBusy):
                if time.monotonic() > until:
                    raise
                time.sleep(pause(attempt))
                continue
            if row is None:
                raise self._deleted()
            self._fence, self._writes, tokens = row
            self._unsettled = False
            return bytes(tokens)
        raise AssertionError

    def clock(self) -> int:
        """Return the time of the database server, in µs since 1970, UTC."""
        with self._handle_state.inside(), self._pool.connected(self._address.shown) as connection:
            rows: list[Any] = connection.execute(sql.CLOCK).fetchall()
            now: int = rows[0][0]
            return now

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Prevent other handles and processes from writing until the end of the block."""
        with self._handle_state.inside(), self._writing:
            if self._excluding is not None:
                yield
                return
            with self._pool.connected(self._address.shown) as connection:
                try:
                    self._exclude(connection)
                    yield
                finally:
                    self._excluding = None

    def _exclude(self, connection: Connection) -> None:
        """Lock the memory against other writers, until the transaction of the connection ends."""
        with connection.pipeline():
            connection.execute(sql.BEGIN_WRITING)
            connection.execute(sql.LOCK_TIMEOUT, [self._lock_timeout])
            connection.execute(sql.HOLD_LOCK, [self._rows.memory])
        self._excluding = connection

    def purge(self) -> bool:
        """Rewrite the table of all rows, so that the files of the table have no deleted bytes.

        No memory of the database can be read or written meanwhile. Only the owner of the table may rewrite
        it; with another role, the method returns False. An exclusive block is interrupted while the table is
        rewritten, because the server keeps each row that was deleted after the oldest transaction began.
        """
        with self._handle_state.inside(), self._writing:
            held = self._excluding
            if held is None:
                with self._pool.connected(self._address.shown) as connection:
                    return rewrite_rows(connection, self._address.shown, self._busy_seconds)
            self._excluding = None
            try:
                held.execute(sql.ROLLBACK)
                done = rewrite_rows(held, self._address.shown, self._busy_seconds)
                self._exclude(held)
            except psycopg.Error as error:
                raise convert(self._address.shown, error) from error
            return done

    def close(self) -> None:
        """Wait for running calls, then release the connections; open scans raise BackendClosed."""
        self._handle_state.shut(self._release)

    def _release(self) -> None:
        for connection in tuple(self._lent):
            self._returned(connection)
        leave(self._address)
