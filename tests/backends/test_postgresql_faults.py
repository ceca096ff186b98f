"""PostgreSQL fails in the middle of writes: nothing acknowledged is lost, and nothing is written twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from backends.base import Batch, Guard
from backends.errors import BackendEnvironment, BackendError, BackendInDoubt, BackendUnusable
from backends.postgresql import PostgreSQLBackend
from backends.postgresql_errors import convert
from tests.support.postgresql import (
    NoServerError,
    Proxy,
    Server,
    programs,
    shared_server,
    standby_of,
    temporary_server,
)


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
    batch = Batch()
    batch.put(b"row %d" % number, b"%d" % number)
    batch.put(b"count", b"%d" % (number + 1))
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


def test_a_write_sent_before_the_fence_was_raised_does_nothing() -> None:
    """A transaction that the server begins only after its client has settled changes no row."""
    with opened(shared_server().url) as late, opened(shared_server().url) as other:
        batch = Batch()
        batch.put(b"late", b"1")
        other._raise_fence()
        assert late._try(batch, (), True, b"8 bytes!") is None
        assert other.get(b"late") is None
        late.write(batch)  # the handle has learned the new fence
        assert other.get(b"late") == b"1"


def test_a_connection_that_the_server_ended_while_it_was_idle_is_not_used(server: Server) -> None:
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
        batch = Batch()
        batch.put(b"again", b"1")
        backend.write(batch)
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


def test_a_password_in_the_url_is_refused_and_not_shown() -> None:
    """The message says where a password belongs."""
    with pytest.raises(BackendUnusable, match="PGPASSWORD") as caught:
        PostgreSQLBackend("//user:hunter2@127.0.0.1:1/x")
    assert "hunter2" not in str(caught.value)
