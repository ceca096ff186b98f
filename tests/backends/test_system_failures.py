"""Every failure of the operating system is an error of ours, with its cause and what to do about it."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from backends.base import Backend, Batch
from backends.errors import (
    TROUBLES,
    BackendBusy,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendUnusable,
    system_error,
)
from backends.leveldb.leveldb_backend import LevelDBBackend
from backends.leveldb.leveldb_opening import convert_error as leveldb_error
from backends.sqlite.sqlite_backend import SQLiteBackend
from backends.sqlite.sqlite_connections import convert_error
from tests.backends.suite import batch_of
from tests.support.leveldb import needs_leveldb

NUMBERS = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE, errno.EACCES]

SQLITE_CODES = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR | 3 << 8: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
}
"""The result codes that SQLite reports for a failure of the system, and the errno to expect."""


def one(key: bytes) -> Batch:
    """Return a batch with one row."""
    return batch_of([(key, b"1")])


def told(error: BackendError) -> str:
    """Return the message of an error after checking that it shows no inner name and no raw bytes."""
    text = str(error)
    for raw in ("b'", "IO error", "Errno", ".new-", ".log", ".ldb"):
        assert raw not in text
    return text


def failing(number: int) -> Callable[..., NoReturn]:
    """Return a function that fails as a call of LevelDB does with this errno."""
    import plyvel

    def fail(*_: object, **__: object) -> NoReturn:
        raise plyvel.IOError(f"IO error: /somewhere/db/000005.log: {os.strerror(number)}".encode())

    return fail


class FailingDB:
    """A LevelDB in which some methods fail."""

    def __init__(self, inner: Any, number: int, *names: str) -> None:
        self._inner, self._fail, self._names = inner, failing(number), names

    def __getattr__(self, name: str) -> Any:
        return self._fail if name in self._names else getattr(self._inner, name)


@needs_leveldb
@pytest.mark.parametrize("number", NUMBERS)
def test_leveldb_names_the_cause_when_it_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """An errno at opening is told in words, as neither 'busy' nor 'invalid', and changes nothing."""
    LevelDBBackend(tmp_path / "store").close()
    with monkeypatch.context() as patch:
        patch.setattr("plyvel.DB", failing(number))
        with pytest.raises(BackendEnvironment, match=TROUBLES[number].what) as caught:
            LevelDBBackend(tmp_path / "store")
    assert str(tmp_path / "store") in told(caught.value)
    assert (caught.value.number, caught.value.hint) == (number, TROUBLES[number].remedy)
    LevelDBBackend(tmp_path / "store").close()


@needs_leveldb
@pytest.mark.parametrize("number", NUMBERS)
def test_leveldb_names_the_cause_when_it_creates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """An errno while a store is created names the store and no temporary folder, and leaves nothing."""
    monkeypatch.setattr("plyvel.DB", failing(number))
    with pytest.raises(BackendEnvironment, match=TROUBLES[number].what) as caught:
        LevelDBBackend(tmp_path / "store")
    assert str(tmp_path / "store") in told(caught.value)
    assert list(tmp_path.iterdir()) == []


@needs_leveldb
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("how", ["get", "iterator"])
def test_leveldb_names_the_cause_when_it_reads(tmp_path: Path, how: str, number: int) -> None:
    """An errno in a read is told in words, and the handle can be used again."""
    with LevelDBBackend(tmp_path / "store") as backend:
        backend.write(one(b"a"))
        real = backend._reads.database
        backend._reads.database = FailingDB(real, number, "get", "iterator")
        with pytest.raises(BackendEnvironment, match=TROUBLES[number].what) as caught:
            backend.get(b"a") if how == "get" else list(backend.scan())
        told(caught.value)
        backend._reads.database = real
        assert backend.get(b"a") == b"1"


class FailingWrite:
    """A batch of LevelDB whose write fails."""

    def __init__(self, number: int) -> None:
        self.write = failing(number)

    def put(self, key: bytes, value: bytes) -> None:
        """Take a row."""

    def delete(self, key: bytes) -> None:
        """Take the removal of a row."""


@needs_leveldb
@pytest.mark.parametrize("number", NUMBERS)
def test_leveldb_names_the_cause_of_a_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A write that fails after it was sent is in doubt, and says why and what to do."""
    with LevelDBBackend(tmp_path / "store") as backend:
        real = backend._reads.database
        backend._reads.database = FailingDB(real, number)
        monkeypatch.setattr(FailingDB, "write_batch", lambda *_, **__: FailingWrite(number), raising=False)
        with pytest.raises(BackendInDoubt, match=TROUBLES[number].what) as caught:
            backend.write(one(b"a"))
        told(caught.value)
        assert TROUBLES[number].remedy in caught.value.hint
        backend._reads.database = real


@needs_leveldb
def test_leveldb_tells_a_lock_from_a_failure() -> None:
    """Only a lock that another program holds is 'busy'; damage stays damage."""
    import plyvel

    held = plyvel.IOError(b"IO error: lock /s/db/LOCK: Resource temporarily unavailable")
    assert isinstance(leveldb_error("it", "/s", held), BackendBusy)
    torn = plyvel.CorruptionError(b"Corruption: checksum mismatch")
    assert isinstance(leveldb_error("it", "/s", torn), BackendCorrupt)
    missing = plyvel.IOError(b"IO error: /s/db/000005.ldb: No such file or directory")
    assert str(leveldb_error("it", "/s", missing)).startswith(
        "/s is damaged because a file is missing: 000005"
    )


class FailingConnection(sqlite3.Connection):
    """A connection to SQLite in which statements that begin with `words` fail with `code`."""

    code = 0
    words = ""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement, unless it is one of those that fail."""
        if self.code and sql.startswith(self.words):
            error = sqlite3.OperationalError("a message of SQLite")
            error.sqlite_errorcode = self.code
            raise error
        return super().execute(sql, *values)


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, str], None]:
    """A function that makes the statements of all connections opened in this test fail."""
    connect = sqlite3.connect
    monkeypatch.setattr(FailingConnection, "code", 0)
    monkeypatch.setattr(FailingConnection, "words", "")
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=FailingConnection)
    )

    def fail(code: int, words: str) -> None:
        monkeypatch.setattr(FailingConnection, "code", code)
        monkeypatch.setattr(FailingConnection, "words", words)

    return fail


@pytest.mark.parametrize("code", SQLITE_CODES)
@pytest.mark.parametrize("words", ["PRAGMA", "SELECT", "BEGIN IMMEDIATE"])
def test_sqlite_names_the_cause(
    tmp_path: Path, fails: Callable[[int, str], None], code: int, words: str
) -> None:
    """A failure in opening, reading, or before a write is told in words; nothing is in doubt."""
    trouble = TROUBLES[SQLITE_CODES[code]]

    def use(backend: Backend) -> None:
        backend.get(b"a")
        backend.write(one(b"b"))

    SQLiteBackend(tmp_path / "store").close()
    fails(code, words)
    with (
        pytest.raises(BackendEnvironment, match=trouble.what) as caught,
        SQLiteBackend(tmp_path / "store") as backend,
    ):
        use(backend)
    assert str(tmp_path / "store") in told(caught.value)
    assert caught.value.hint == trouble.remedy
    fails(0, "")
    with SQLiteBackend(tmp_path / "store") as backend:
        use(backend)


@pytest.mark.parametrize("code", [code for code in SQLITE_CODES if code != sqlite3.SQLITE_FULL])
def test_sqlite_names_the_cause_of_a_doubt(
    tmp_path: Path, fails: Callable[[int, str], None], code: int
) -> None:
    """A commit that fails is in doubt, and says why and what to do."""
    with SQLiteBackend(tmp_path / "store") as backend:
        fails(code, "COMMIT")
        with pytest.raises(BackendInDoubt, match=TROUBLES[SQLITE_CODES[code]].what) as caught:
            backend.write(one(b"a"))
        assert "reopen the store" in caught.value.hint
        told(caught.value)


def test_sqlite_asks_the_system_why_it_cannot_open(
    tmp_path: Path, fails: Callable[[int, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says only that it cannot open a file; the exception names exhausted descriptors."""
    SQLiteBackend(tmp_path / "store").close()
    fails(sqlite3.SQLITE_CANTOPEN, "PRAGMA")

    def exhausted(*_: object) -> NoReturn:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("backends.sqlite.sqlite_connections.os.open", exhausted)
    monkeypatch.setattr("backends.sqlite.sqlite_place._header", lambda path: path.read_bytes()[:100])
    with pytest.raises(BackendError) as caught:
        SQLiteBackend(tmp_path / "store")
    assert "too many open files" in told(caught.value)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("kind", [LevelDBBackend, SQLiteBackend])
def test_a_new_store_that_cannot_be_synced_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[LevelDBBackend | SQLiteBackend], number: int
) -> None:
    """A failed sync while a store is created names the cause, and leaves neither a store nor a folder."""

    def fail(_: int) -> NoReturn:
        raise OSError(number, os.strerror(number), "/there/.store.new-0123456789abcdef/store")

    monkeypatch.setattr("backends.files.fsync_opened", fail)
    with pytest.raises(BackendEnvironment, match=TROUBLES[number].what) as caught:
        kind(tmp_path / "store")
    assert str(tmp_path / "store") in told(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_path_is_still_invalid() -> None:
    """An errno that the path itself causes stays an error of the argument."""
    error = NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), "x")
    assert isinstance(system_error("x cannot be used", error), BackendUnusable)
    unknown = system_error("x cannot be used", OSError(errno.EPROTO, "Protocol error"))
    assert str(unknown) == "x cannot be used: the system reports 'Protocol error'"


def test_sqlite_that_cannot_map_its_index_says_that_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reports an input/output error when there is no room for the index of its WAL in memory."""

    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMMAP
    assert "input/output" in str(convert_error(str(tmp_path), error))
    monkeypatch.setattr("mmap.mmap", full)
    assert "there is not enough memory" in str(convert_error(str(tmp_path), error))
