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
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

import psycopg

from backends import postgresql_sql as sql
from backends.base import Backend, Batch, Capabilities, Guard, Guards, Row, check_batch, guards_of
from backends.checksum import checksum
from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendMissing,
    BackendUnusable,
    GuardFailed,
)
from backends.handle_state import HandleState
from backends.postgresql_address import Connection, join, leave, parse
from backends.postgresql_errors import convert, is_again, is_collision, is_lost, is_missing
from backends.postgresql_kept import KeptRows, State
from backends.postgresql_reads import Begun, PostgreSQLSnapshot, Rows

BUSY_SECONDS: Final = 10.0
"""The time, in seconds, that a write waits for other writers before it raises BackendBusy."""

SETTLE_SECONDS: Final = 30.0
"""The time, in seconds, that a write tries to find out its result after its connection was lost."""

_PAUSES: Final = (0.01, 0.05, 0.2, 0.5, 1.0)
"""The pauses, in seconds, between two attempts to reach the server; the last one is repeated."""

_WARNING: Final = "01000"
"""The SQLSTATE of the warning with which a server ends its wait for a synchronous standby."""

_AGAIN_MAX: Final = 20
"""The number of times that a write is sent again because the server undid it in favour of others."""


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
        self._lock_timeout = f"{int(busy_seconds * 1000)}ms"
        self._settle_seconds = settle_seconds
        self._lent: set[Connection] = set()
        self._writing = threading.RLock()
        self._excluding: Connection | None = None
        self._unsettled = False
        self._handle_state = HandleState(self._address.shown, self._fork_unsafe)
        self._pool = join(self._address)
        try:
            number, self._fence, self._synchronous = self._open(create=create)
        except BaseException:
            leave(self._address)
            raise
        self._rows = Rows(self._address.shown, number)
        self._kept = KeptRows()
        self._writes = 0

    def _open(self, *, create: bool) -> tuple[int, int, str]:
        """Find or make the memory; return its number, its fence, and the level of a durable commit."""
        try:
            (number, layout, fence), level = self._found(create=create)
        except BackendEnvironment as error:
            if not (isinstance(error.__cause__, psycopg.Error) and is_lost(error.__cause__)):
                raise
            # A pooled connection may have been lost while it was idle. To find or make can be repeated.
            self._pool.drop_idle()
            (number, layout, fence), level = self._found(create=create)
        if layout != sql.LAYOUT:
            raise BackendUnusable(
                f"{self._address.shown} has layout {layout}, and this version of memroot reads {sql.LAYOUT}"
            )
        return number, fence, level

    def _found(self, *, create: bool) -> tuple[tuple[int, int, int], str]:
        """Find or make the memory; return its number, layout and fence, and the level of a durable commit."""
        with self._connected() as connection:
            level = self._level(connection)
            found = self._find(connection, create=create)
            for _ in range(_AGAIN_MAX):
                if found is not None:
                    return found, level
                if not create:
                    raise BackendMissing(f"there is no store at {self._address.shown}")
                self._make(connection)
                found = self._find(connection, create=create)
        raise BackendBusy(self._address.shown, "a process that makes or deletes this memory")

    def _level(self, connection: Connection) -> str:
        """Return the `synchronous_commit` of durable writes.

        Raises:
            BackendUnusable: the server does not write to the disk durably.
        """
        level, fsync, read_only = map(str, connection.execute(sql.SETTINGS).fetchone() or ("on", "on", "off"))
        if read_only == "on":
            self.unwritable = "the server is a standby, or is set to read-only"
        if fsync == "off":
            raise BackendUnusable(
                f"{self._address.shown} runs with fsync = off, so a power failure could damage memories; "
                f"set fsync = on"
            )
        return "on" if level in ("off", "local") else level

    def _find(self, connection: Connection, *, create: bool) -> tuple[int, int, int] | None:
        for _ in range(2):
            try:
                found: Any = connection.execute(sql.FIND, [self._address.memory]).fetchone()
            except psycopg.Error as error:
                if not is_missing(error):
                    raise
                if not create:
                    return None
                self._make_tables(connection)
            else:
                return None if found is None else (found[0], found[1], found[2])
        return None

    def _make_tables(self, connection: Connection) -> None:
        """Create the tables. Other processes may do the same at the same time."""
        for attempt in range(_AGAIN_MAX):
            try:
                connection.execute(sql.BEGIN)
                for statement in sql.TABLES:
                    connection.execute(statement)
                connection.execute(sql.COMMIT)
            except psycopg.Error as error:
                if connection.closed:
                    raise
                connection.execute(sql.ROLLBACK)
                if not is_collision(error):
                    raise
                time.sleep(_pause(attempt))
            else:
                return
        raise BackendBusy(self._address.shown, "processes that create the tables")

    def _make(self, connection: Connection) -> None:
        """Create the memory, unless another process has just created it."""
        number = secrets.randbits(63)
        try:
            with connection.pipeline():
                connection.execute(sql.BEGIN)
                connection.execute(sql.MAKE, [number, self._address.memory, sql.LAYOUT])
                connection.execute(sql.MAKE_LOCK, [number])
                connection.execute(sql.COMMIT)
        except psycopg.Error as error:
            if connection.closed:
                raise
            connection.execute(sql.ROLLBACK)
            if not (is_again(error) or error.sqlstate == "23505"):
                raise

    def _fork_unsafe(self) -> Iterable[object]:
        """Return the objects that a forked process must not free, because they close connections."""
        return (*self._pool.connections, *self._lent)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Yield a connection of the pool, and convert the exceptions of psycopg."""
        connection = self._pool.take(checked=True)
        try:
            yield connection
        except psycopg.Error as error:
            raise convert(self._address.shown, error) from error
        finally:
            self._pool.give_back(connection)

    def _begun(self, keys: Sequence[bytes] = ()) -> Begun:
        """Return an open transaction that reads, and the values of `keys` in it.

        A pooled connection may have been lost while it was idle. No write was sent on it, so the method tries
        the next connection.
        """
        for attempt in range(_AGAIN_MAX):
            connection = self._pool.take()
            try:
                begun = self._rows.begin(connection, keys)
            except psycopg.Error as error:
                self._pool.give_back(connection)
                self._pool.drop_idle()  # the server has probably restarted
                if not is_lost(error) or attempt == _AGAIN_MAX - 1:
                    raise convert(self._address.shown, error) from error
            except BaseException:
                self._pool.give_back(connection)
                raise
            else:
                if begun is None:
                    self._pool.give_back(connection)
                    raise self._deleted()
                self._writes = begun.state.writes
                self._kept.enter(begun.state)
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
        """Fetch rows in one round trip, and keep them until the next write to the memory."""
        with self._handle_state.inside(), contextlib.suppress(BackendCorrupt):
            # A damaged row is reported when it is read.
            begun = self._begun(keys)
            self._pool.give_back(begun.connection)
            self._kept.keep(begun.state, dict(zip(keys, begun.values, strict=True)))

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
            return PostgreSQLSnapshot(self._handle_state, self._rows, begun, self._kept, self._returned)

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
        for attempt in range(_AGAIN_MAX):
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
                self._check_guards(done)
                return
            time.sleep(_pause(attempt))
        raise BackendBusy(self._address.shown, "other writers")

    def _try(self, batch: Batch, guards: Sequence[Guard], durable: bool, token: bytes) -> list[bytes] | None:
        """Send the transaction once, in one round trip.

        Returns:
            The keys of the guards that do not hold; None if the fence was raised by another handle, which is
                then known. In both cases nothing was written.
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
                applied = connection.execute(sql.APPLY, self._values(batch, guards), binary=True)
                connection.execute(sql.COMMIT)
            turn: Any = counted.fetchone()
            if turn is None:
                self._learn_fence(connection)
                return None
            self._check_confirmed(warnings)
            self._writes, previous = turn
            broken: Any = applied.fetchall()
            before, after = State(self._writes - 1, previous), State(self._writes, token)
            self._kept.wrote(before, after, {} if broken else batch.rows)
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
            self._kept.clear()
            raise BackendInDoubt(
                f"{self._address.shown} has stored a write, but no standby has confirmed it",
                hint="the write is lost if a standby takes over now; check the standby",
            )

    def _values(self, batch: Batch, guards: Sequence[Guard]) -> dict[str, object]:
        """Return the parameters of `APPLY`. Rows are in key order, so each page is visited once."""
        rows = sorted(batch.rows.items(), key=itemgetter(0))
        put = [(key, value) for key, value in rows if value is not None]
        return {
            "memory": self._rows.memory,
            "fence": self._fence,
            "guard_keys": [guard.key for guard in guards],
            "guard_values": [guard.expected for guard in guards],
            "keys": [key for key, _ in put],
            "values": [value for _, value in put],
            "sums": [checksum(key, value) for key, value in put],
            "deleted": [key for key, value in rows if value is None],
        }

    def _check_guards(self, broken: Sequence[bytes]) -> None:
        if broken:
            raise GuardFailed(f"row {broken[0]!r} has changed")

    def _learn_fence(self, connection: Connection) -> None:
        """Read the present fence of the memory.

        Raises:
            BackendMissing: the memory was deleted.
        """
        found: Any = connection.execute(sql.STATE, [self._rows.memory]).fetchone()
        if found is None:
            raise self._deleted()
        self._fence, self._writes = found

    def _settle(self, token: bytes, cause: psycopg.Error) -> bool:
        """After a lost connection, return True if the write with this token took effect, or False.

        Raises:
            BackendInDoubt: the server could not be reached, or too many writes came after this one.
        """
        self._unsettled = True
        self._kept.clear()
        self._pool.drop_idle()
        before = self._writes
        try:
            tokens = self._raise_fence()
        except BackendError as error:
            raise BackendInDoubt(
                f"the connection to {self._address.shown} was lost during a write that may have taken effect",
                hint="once the server can be reached, check which events the memory has",
            ) from error
        kept = [tokens[at : at + sql.TOKEN_BYTES] for at in range(0, len(tokens), sql.TOKEN_BYTES)]
        if token in kept:
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
                with self._connected() as connection:
                    found: Any = connection.execute(sql.FENCE, [self._rows.memory]).fetchone()
            except (BackendEnvironment, BackendBusy):
                if time.monotonic() > until:
                    raise
                time.sleep(_pause(attempt))
                continue
            if found is None:
                raise self._deleted()
            self._fence, self._writes, tokens = found
            self._unsettled = False
            return bytes(tokens)
        raise AssertionError

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Prevent other handles and processes from writing until the end of the block."""
        with self._handle_state.inside(), self._writing:
            if self._excluding is not None:
                yield
                return
            with self._connected() as connection:
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
                with self._connected() as connection:
                    return self._rewrite(connection)
            self._excluding = None
            try:
                held.execute(sql.ROLLBACK)
                done = self._rewrite(held)
                self._exclude(held)
            except psycopg.Error as error:
                raise convert(self._address.shown, error) from error
            return done

    def _rewrite(self, connection: Connection) -> bool:
        owned: Any = connection.execute(sql.PURGE["owned"]).fetchone()
        if not owned[0]:
            return False
        mark: Any = connection.execute(sql.PURGE["mark"]).fetchone()
        until = time.monotonic() + self._busy_seconds
        attempt = 0
        while self._has_older(connection, mark[0]):
            if time.monotonic() > until:
                raise BackendBusy(self._address.shown, "an open snapshot or scan")
            time.sleep(_pause(attempt))
            attempt += 1
        connection.execute(sql.PURGE["timeout"], [self._lock_timeout])
        try:
            connection.execute(sql.PURGE["rewrite"])
        finally:
            if not connection.closed:
                connection.execute(sql.PURGE["timeout"], ["0"])
        return True

    def _has_older(self, connection: Connection, mark: str) -> bool:
        """Return True if a transaction is open that may still see rows deleted before `mark`."""
        found: Any = connection.execute(sql.PURGE["older"], [mark]).fetchone()
        return bool(found[0])

    def close(self) -> None:
        """Wait for running calls, then release the connections; open scans raise BackendClosed."""
        self._handle_state.shut(self._release)

    def _release(self) -> None:
        for connection in tuple(self._lent):
            self._returned(connection)
        leave(self._address)


def _pause(attempt: int) -> float:
    """Return the pause, in seconds, before the next attempt; pauses differ between processes."""
    most = _PAUSES[min(attempt, len(_PAUSES) - 1)]
    return most * (0.5 + secrets.randbelow(1000) / 2000)
