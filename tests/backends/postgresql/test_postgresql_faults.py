"""PostgreSQL fails in the middle of writes: nothing acknowledged is lost, and nothing is written twice."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from backends.base import Batch, Guard
from backends.errors import (
    BackendBusy,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendUnusable,
)
from backends.postgresql.postgresql_backend import PostgreSQLBackend
from backends.postgresql.postgresql_errors import convert
from engine import Engine
from engine.base.errors import EngineError, InDoubtError
from tests.backends.suite import batch_of
from tests.support.engines import engine_on
from tests.support.postgresql import (
    NoServerError,
    Proxy,
    Server,
    programs,
    shared_server,
    standby_of,
    temporary_server,
)
from tests.support.soak import seed, times
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that the test may kill."""
    try:
        programs()
    except NoServerError as error:
        pytest.skip(str(error))
    with temporary_server() as made:
        yield made


def opened(url: str, **options: Any) -> PostgreSQLBackend:
    """Open the memory `m` at `url`."""
    return PostgreSQLBackend(url.removeprefix("postgresql:"), memory="m", **options)


def counted(backend: PostgreSQLBackend, number: int) -> None:
    """Add the row of a number, and count it under a guard."""
    batch = batch_of([(b"row %d" % number, b"%d" % number), (b"count", b"%d" % (number + 1))])
    batch.reaches = number + 1
    backend.write(batch, guard=Guard(b"count", b"%d" % number if number else None))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_cut_during_a_commit_is_settled(when: str) -> None:
    """The write takes effect exactly once, whether or not the server had received it."""
    shared = shared_server()
    proxy = Proxy(shared.port)
    name = f"cut-{when}"
    path = f"//memroot@127.0.0.1:{proxy.port}/postgres"
    with PostgreSQLBackend(path, memory=name) as backend:
        for number in range(6):
            proxy.cut = when if number % 2 else ""
            counted(backend, number)
        assert proxy.cuts == 3
        assert backend.get(b"count") == b"6"
        assert len(list(backend.scan_prefix(b"row"))) == 6
    proxy.close()


def test_connections_cut_at_any_byte_lose_nothing() -> None:
    """What was acknowledged is there once, what was refused is not there, and the memory verifies."""
    chosen, shared = Random(seed(22)), shared_server()
    proxy = Proxy(shared.port)
    path = f"//memroot@127.0.0.1:{proxy.port}/postgres"
    made: dict[bool | None, set[str]] = {True: set(), False: set(), None: set()}
    with PostgreSQLBackend(path, memory="cut-anywhere") as backend:
        engine = engine_on(backend)
        for number in range(times(160)):
            proxy.bytes_left = {chosen.choice(("requests", "replies")): chosen.randrange(4000)}
            try:
                done: bool | None = engine.add(f"text {number}", id=id_of(number)).changed
            except InDoubtError:
                done = None
            except EngineError:
                done = False
            made[done].add(id_of(number))
        cuts, proxy.bytes_left = proxy.cuts, {}
    proxy.close()
    assert cuts > times(160) // 4
    with PostgreSQLBackend(shared.url.removeprefix("postgresql:"), memory="cut-anywhere") as backend:
        engine = engine_on(backend)
        found = {event.subject for event in engine.log(1)}
        assert made[True] <= found <= made[True] | made[None]
        assert engine.size == 1 + len(found)
        assert engine.verify().ok


def test_a_write_sent_before_the_fence_was_raised_does_nothing() -> None:
    """A transaction that the server begins only after its client has settled changes no row."""
    with opened(shared_server().url) as late, opened(shared_server().url) as other:
        batch = batch_of([(b"late", b"1")])
        other._raise_fence()
        assert late._try(batch, (), True, b"8 bytes!") is None
        assert other.get(b"late") is None
        late.write(batch)  # the handle has learned the new fence
        assert other.get(b"late") == b"1"


def test_a_memory_is_opened_although_the_server_ended_the_idle_connections(server: Server) -> None:
    """After a restart of the server, even the first call succeeds, here one that makes a memory."""
    with opened(server.url):
        server.stop("fast")
        server.start()
        PostgreSQLBackend(server.url.removeprefix("postgresql:"), memory="another").close()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restarted_server_loses_nothing(server: Server, mode: str) -> None:
    """Writers go on through restarts and crashes of the server; every acknowledged write is there once."""
    failures: list[BaseException] = []
    done = [0]
    stop = threading.Event()
    backend = opened(server.url)

    def write() -> None:
        try:
            while not stop.is_set():
                counted(backend, done[0])
                done[0] += 1
        except BaseException as error:  # noqa: BLE001  whatever it is, the test tells it
            failures.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(2):
        until = done[0] + 20
        while done[0] < until and thread.is_alive():
            time.sleep(0.01)
        server.stop(mode)
        server.start()
    stop.set()
    thread.join()
    assert failures == []
    assert backend.get(b"count") == b"%d" % done[0]
    assert len(list(backend.scan_prefix(b"row"))) == done[0]
    backend.close()


def test_after_the_primary_is_lost_the_standby_has_every_write(server: Server) -> None:
    """The primary is killed between commits of a writer, which goes on once the standby is promoted."""
    standby = standby_of(server, server.folder.parent / "standby")
    url = (
        f"postgresql://memroot@127.0.0.1:{server.port},127.0.0.1:{standby.port}/postgres"
        f"?target_session_attrs=read-write"
    )
    done = [0]
    failures: list[BaseException] = []
    stop = threading.Event()
    backend = opened(url)

    def write() -> None:
        try:
            while not stop.is_set():
                counted(backend, done[0])
                done[0] += 1
        except BaseException as error:  # noqa: BLE001  as above
            failures.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while done[0] < 20 and thread.is_alive():
            time.sleep(0.01)
        server.stop("immediate")
        standby.promote()
        before = done[0]
        while done[0] < before + 20 and thread.is_alive():
            time.sleep(0.01)
        stop.set()
        thread.join()
        assert failures == []
        assert backend.get(b"count") == b"%d" % done[0]
        assert len(list(backend.scan_prefix(b"row"))) == done[0]
        backend.close()
    finally:
        stop.set()
        standby.stop()


def test_a_write_is_in_doubt_only_while_the_server_stays_away(server: Server) -> None:
    """Without a server, a write raises BackendInDoubt; when the server is back, the handle goes on."""
    with opened(server.url, settle_seconds=0.2) as backend:
        counted(backend, 0)
        server.stop("immediate")
        with pytest.raises((BackendInDoubt, BackendEnvironment)):
            counted(backend, 1)
        with pytest.raises(BackendError):
            backend.get(b"count")
        server.start()
        assert backend.get(b"count") == b"1"
        counted(backend, 1)
        assert backend.get(b"count") == b"2"


def test_a_transaction_that_the_server_undid_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A serialization failure or a deadlock is not an answer to the caller."""
    with opened(shared_server().url) as backend:
        send = backend._try
        undone: list[type[psycopg.Error]] = [
            psycopg.errors.SerializationFailure,
            psycopg.errors.DeadlockDetected,
        ]

        def sometimes(*values: Any) -> list[bytes] | None:
            if undone:
                raise undone.pop()
            return send(*values)

        monkeypatch.setattr(backend, "_try", sometimes)
        backend.write(batch_of([(b"again", b"1")]))
        assert undone == []
        assert backend.get(b"again") == b"1"


def test_a_server_without_fsync_is_refused(server: Server) -> None:
    """Opening says which setting is wrong."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
        while connection.execute("SHOW fsync").fetchone() != ("off",):
            time.sleep(0.05)
    with pytest.raises(BackendUnusable, match="set fsync = on"):
        opened(server.url)


def test_a_durable_write_waits_for_the_disk_whatever_the_default_is(server: Server) -> None:
    """With synchronous_commit = off in the server, a durable write still asks for `on`."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("ALTER ROLE memroot SET synchronous_commit = off")
    with opened(server.url) as backend:
        assert backend._synchronous == "on"


@pytest.fixture
def limited() -> Iterator[Server]:
    """A server whose files cannot grow beyond 4 MiB, as if its disk were full."""
    try:
        programs()
    except NoServerError as error:
        pytest.skip(str(error))
    with temporary_server(largest_file=4 << 20) as made:
        yield made


def test_a_full_disk_refuses_writes_and_loses_nothing(limited: Server) -> None:
    """A write for which there is no space says so; all earlier ones are there, and later ones go on."""
    with opened(limited.url) as backend:
        done = 0
        problem = None
        while problem is None and done < 100:
            batch = batch_of([(b"row %d" % done, os.urandom(1 << 19)), (b"count", b"%d" % (done + 1))])
            try:
                backend.write(batch)
                done += 1
            except BackendEnvironment as error:
                problem = error
        assert "failed: could not extend file" in str(problem)
        assert backend.get(b"count") == b"%d" % done
        assert len(list(backend.scan_prefix(b"row"))) == done
        limited.stop()
        limited.largest_file = None
        limited.start()
        backend.write(batch)
        assert backend.get(b"count") == b"%d" % (done + 1)


def with_settings(**settings: object) -> str:
    """Return the URL of the shared server, whose sessions have other settings."""
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    return f"{shared_server().url}?options={quote(options)}"


@contextlib.contextmanager
def turn_taken(backend: PostgreSQLBackend) -> Iterator[psycopg.Connection]:
    """Keep the turn of a memory in another transaction, so that its writers wait."""
    with psycopg.connect(shared_server().url) as connection:
        memory = backend._rows.memory
        connection.execute("UPDATE memroot_memories SET layout = layout WHERE number = %s", [memory])
        yield connection
        connection.rollback()


def test_a_write_that_the_server_gave_up_changes_nothing() -> None:
    """A statement that took longer than statement_timeout changes nothing; the next write goes on."""
    with opened(with_settings(statement_timeout=150)) as backend:
        batch = batch_of([(b"timed", b"1")])
        with turn_taken(backend), pytest.raises(BackendEnvironment, match="took too long"):
            backend.write(batch)
        assert backend.get(b"timed") is None
        backend.write(batch)
        assert backend.get(b"timed") == b"1"


def test_a_lock_that_is_not_granted_is_busy() -> None:
    """A write that waited as long as it may for other writers has changed nothing."""
    with opened(shared_server().url, busy_seconds=0.15) as backend:
        batch = batch_of([(b"locked", b"1")])
        with turn_taken(backend), pytest.raises(BackendBusy):
            backend.write(batch)
        assert backend.get(b"locked") is None


def test_a_snapshot_that_the_server_ended_says_so() -> None:
    """After idle_in_transaction_session_timeout, a read of the old snapshot fails, and a new one goes on."""
    with opened(with_settings(idle_in_transaction_session_timeout=50)) as backend:
        batch = batch_of([(b"idle", b"1")])
        backend.write(batch)
        with backend.snapshot() as rows:
            assert rows.keys(b"idle", 1) == [b"idle"]
            time.sleep(0.3)
            with pytest.raises(BackendEnvironment, match="cannot be reached"):
                rows.keys(b"idle", 1)
        assert backend.get(b"idle") == b"1"
        with backend.exclusive():
            time.sleep(0.3)
            batch.put(b"idle", b"2")
            backend.write(batch)
        assert backend.get(b"idle") == b"2"


def test_a_deadlock_on_the_server_is_settled_by_sending_again() -> None:
    """The server undoes the write to end a deadlock; the write is there once the other one is over."""
    with opened(with_settings(deadlock_timeout=300)) as backend:
        batch = batch_of([(b"deadlock", b"1")])
        with turn_taken(backend) as other:
            other.execute("SET deadlock_timeout = 60000")
            writer = threading.Thread(target=backend.write, args=[batch])
            writer.start()
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while other.execute(waiting).fetchone() == (0,):
                time.sleep(0.01)
            # The writer has the lock, and waits for the turn; this waits for the lock.
            other.execute("SELECT 1 FROM memroot_locks WHERE number = %s FOR UPDATE", [backend._rows.memory])
        writer.join()
        assert backend.get(b"deadlock") == b"1"


@contextlib.contextmanager
def answering(key: bytes, code: str, message: str, times: int) -> Iterator[Callable[[], int]]:
    """Let the server answer with an error when the row is written; yield what counts the attempts."""
    with psycopg.connect(shared_server().url, autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE answers")  # counts on when a transaction is undone
        connection.execute(
            f"""
            CREATE FUNCTION answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('answers') > {times} THEN RETURN NEW; END IF;
                RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = '{message}';
            END $$;
            CREATE TRIGGER answer BEFORE INSERT ON memroot_rows FOR EACH ROW
                WHEN (NEW.key = '\\x{key.hex()}') EXECUTE FUNCTION answer()
            """
        )
        try:
            yield lambda: connection.execute("SELECT last_value FROM answers").fetchall()[0][0]
        finally:
            connection.execute("DROP FUNCTION answer CASCADE; DROP SEQUENCE answers")


def test_a_serialization_failure_on_the_server_is_settled_by_sending_again() -> None:
    """Databases that check transactions when they end undo some; the write is there once."""
    with opened(shared_server().url) as backend:
        batch = batch_of([(b"undone", b"1")])
        with answering(b"undone", "40001", "could not serialize access", 2) as answers:
            backend.write(batch)
            assert answers() == 3
        assert backend.get(b"undone") == b"1"


def test_a_quota_that_is_used_up_refuses_the_write() -> None:
    """The error shows the server's message. Nothing is changed, and the next write succeeds."""
    words = "could not extend file: Disk quota exceeded"
    with opened(shared_server().url) as backend:
        batch = batch_of([(b"quota", b"1")])
        with answering(b"quota", "XX000", words, 1):
            with pytest.raises(BackendEnvironment, match=words):
                backend.write(batch)
            assert backend.get(b"quota") is None
            backend.write(batch)
        assert backend.get(b"quota") == b"1"


def test_a_write_without_the_rights_for_it_is_refused() -> None:
    """A role that may only read opens a memory and reads it; once it has the rights, it writes."""
    batch = batch_of([(b"granted", b"1")])
    with opened(shared_server().url) as backend:
        backend.write(batch)
    with psycopg.connect(shared_server().url, autocommit=True) as connection:
        connection.execute("CREATE ROLE reading LOGIN")
        connection.execute("GRANT SELECT ON memroot_memories, memroot_locks, memroot_rows TO reading")
        with opened(shared_server().url.replace("memroot@", "reading@")) as backend:
            assert backend.get(b"granted") == b"1"
            batch.put(b"granted", b"2")
            with pytest.raises(BackendEnvironment, match="denies access"):
                backend.write(batch)
            assert backend.get(b"granted") == b"1"
            connection.execute("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reading")
            backend.write(batch)
            assert backend.get(b"granted") == b"2"


def test_no_connection_left_is_a_failure_of_the_system() -> None:
    """The message of the server is shown, and the call can be repeated when a connection is free."""
    opened(shared_server().url).close()
    with psycopg.connect(shared_server().url, autocommit=True) as connection:
        connection.execute("CREATE ROLE crowded LOGIN CONNECTION LIMIT 1")
        connection.execute("GRANT SELECT ON memroot_memories TO crowded")
    url = shared_server().url.replace("memroot@", "crowded@")
    with psycopg.connect(url), pytest.raises(BackendEnvironment, match="too many connections"):
        opened(url)
    opened(url).close()


def test_a_server_restarted_during_a_scan_ends_the_scan(server: Server) -> None:
    """The scan fails instead of going on with other rows; a new scan has them all."""
    with opened(server.url) as backend:
        batch = Batch()
        for number in range(600):
            batch.put(b"%03d" % number, b"1")
        backend.write(batch)
        rows = backend.scan()
        assert next(rows)[0] == b"000"
        server.stop("immediate")
        server.start()
        with pytest.raises(BackendEnvironment):
            list(rows)
        assert len(list(backend.scan())) == 600


def test_a_commit_that_no_standby_confirmed_is_in_doubt() -> None:
    """If an operator ends the wait for the synchronous standby, the write is not acknowledged."""
    with psycopg.connect(shared_server().url, autocommit=True) as connection:

        def standby(name: str) -> None:
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
            connection.execute("SELECT pg_reload_conf()")
            while connection.execute("SHOW synchronous_standby_names").fetchone() != (name,):
                time.sleep(0.01)

        def cancel() -> None:
            waiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            while connection.execute(waiting).fetchone() is None:
                time.sleep(0.01)

        with opened(shared_server().url) as backend:
            batch = batch_of([(b"unconfirmed", b"1")])
            standby("nobody")
            operator = threading.Thread(target=cancel)
            operator.start()
            try:
                with pytest.raises(BackendInDoubt, match="no standby has confirmed"):
                    backend.write(batch)
            finally:
                operator.join()
                standby("")
            assert backend.get(b"unconfirmed") == b"1"


def test_a_standby_can_be_read_and_is_never_written(server: Server) -> None:
    """Recall works on a standby, also for events that followers lack; a write says where to go instead.

    A snapshot that the standby ends in favour of the primary's changes is busy, and the next one goes on.
    """
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET max_standby_streaming_delay = 0")
    with Engine.open(server.url) as primary:
        primary.add("The kettle is descaled on Mondays.")
        standby = standby_of(server, server.folder.parent / "standby")
        try:
            primary.add("The kettle is red.")
            for wanted in ("standby", "prefer-standby"):
                hosts = f"127.0.0.1:{server.port},127.0.0.1:{standby.port}"
                url = f"postgresql://memroot@{hosts}/postgres?target_session_attrs={wanted}"
                with Engine.open(url) as reader:
                    assert reader.read_only == "the server is a standby, or is set to read-only"
                    until = time.monotonic() + 30
                    while len(reader.recall("kettle").hits) < 2 and time.monotonic() < until:
                        time.sleep(0.05)
                    assert len(reader.recall("kettle").hits) == 2
                    with pytest.raises(EngineError, match="accepts no writes"):
                        reader.add("Never stored.")
            end_a_snapshot(server, standby)
        finally:
            standby.stop()


def end_a_snapshot(server: Server, standby: Server) -> None:
    """Remove rows on the primary that a snapshot on the standby may still read."""
    path = standby.url.removeprefix("postgresql:")
    with PostgreSQLBackend(path, create=False) as reading, psycopg.connect(server.url) as primary:
        primary.autocommit = True
        with reading.snapshot() as rows:
            before = rows.keys(b"", 1000)
            primary.execute("UPDATE memroot_rows SET value = value")
            primary.execute("VACUUM memroot_rows")
            problem = None
            until = time.monotonic() + 20
            while problem is None and time.monotonic() < until:
                try:
                    assert rows.keys(b"", 1000) == before
                    time.sleep(0.05)
                except (BackendBusy, BackendEnvironment) as error:
                    problem = error
        assert "conflict with recovery" in str(problem) or isinstance(problem, BackendBusy)
        assert reading.keys(b"", 1000)


CLASSES: dict[str, tuple[str, Callable[[], psycopg.Error]]] = {
    "a full disk": ("BackendEnvironment", psycopg.errors.DiskFull),
    "no connection left": ("BackendEnvironment", psycopg.errors.TooManyConnections),
    "a statement timed out": ("BackendEnvironment", psycopg.errors.QueryCanceled),
    "a standby": ("BackendEnvironment", psycopg.errors.ReadOnlySqlTransaction),
    "no permission": ("BackendEnvironment", psycopg.errors.InsufficientPrivilege),
    "the server stops": ("BackendEnvironment", psycopg.errors.AdminShutdown),
    "the connection breaks": ("BackendEnvironment", psycopg.OperationalError),
    "a lock is not granted": ("BackendBusy", psycopg.errors.LockNotAvailable),
    "a damaged page": ("BackendCorrupt", psycopg.errors.DataCorrupted),
    "an idle transaction ended": ("BackendEnvironment", psycopg.errors.IdleInTransactionSessionTimeout),
    "a used-up quota": ("BackendEnvironment", psycopg.errors.InternalError_),
    "a failing disk": ("BackendEnvironment", psycopg.errors.IoError),
    "a conflict with recovery": ("BackendBusy", psycopg.errors.SerializationFailure),
    "no such database": ("BackendUnusable", psycopg.errors.InvalidCatalogName),
}


@pytest.mark.parametrize("name", CLASSES)
def test_each_failure_has_one_class_of_answer(name: str) -> None:
    """The exception names the server and has no empty message."""
    expected, made = CLASSES[name]
    found = convert("postgresql://host/db", made())
    assert type(found).__name__ == expected
    assert "postgresql://host/db" in str(found)


def test_a_server_that_is_not_there_is_named() -> None:
    """Opening says which server cannot be reached, at once."""
    with pytest.raises(BackendEnvironment, match=r"127\.0\.0\.1:1/nothing cannot be reached"):
        PostgreSQLBackend("//nobody@127.0.0.1:1/nothing")


def test_a_missing_password_is_asked_for() -> None:
    """The server wants a password and libpq found none: the hint says where it looks for one."""
    server = shared_server()
    rules = server.data / "pg_hba.conf"
    rules.write_text("host all shut 127.0.0.1/32 scram-sha-256\n" + rules.read_text("utf-8"), "utf-8")
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE shut LOGIN PASSWORD 'open'")
        connection.execute("SELECT pg_reload_conf()")
    address = f"//shut@127.0.0.1:{server.port}/postgres"
    with contextlib.suppress(psycopg.OperationalError):
        while True:  # until the server has read its rules
            psycopg.connect(f"postgresql:{address}").close()
    with pytest.raises(BackendEnvironment) as caught:
        PostgreSQLBackend(address)
    assert "PGPASSFILE" in (caught.value.hint or "")


def test_a_password_in_the_url_is_refused_and_not_shown() -> None:
    """The message says where a password belongs."""
    with pytest.raises(BackendUnusable, match="PGPASSWORD") as caught:
        PostgreSQLBackend("//user:hunter2@127.0.0.1:1/x")
    assert "hunter2" not in str(caught.value)
