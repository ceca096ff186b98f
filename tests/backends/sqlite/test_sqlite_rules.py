"""Tests of SQLite beyond the suites: syncs, files of other programs, locks and forks."""

from __future__ import annotations

import re
import sqlite3
import weakref
from contextlib import closing
from pathlib import Path

import pytest

from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendUnusable,
)
from backends.sqlite.sqlite_backend import SQLiteBackend
from tests.backends.suite import batch_of
from tests.backends.suite_threads import in_forked_process
from tests.support.children import run_traced

WRITES = """
import os, sys
from backends import Batch, open_backend
backend = open_backend(sys.argv[1])
for durable in (False, True, False, False, True, True):
    batch = Batch()
    batch.put(b"a", b"always the same")
    backend.write(batch, durable=durable)
    os.write(1, b"durable\\n" if durable else b"quick\\n")
backend.write(Batch(), durable=False)
batch = Batch(); batch.put(b"b", b"1"); backend.write(batch, durable=False)
backend.write(Batch(), durable=True)
os.write(1, b"durable\\n")
os._exit(0)
"""


def test_each_durable_write_syncs_the_log_also_when_no_row_changes(tmp_path: Path) -> None:
    """The WAL is synced between two durable writes, even if both write the same rows."""
    path, log = tmp_path / "store", tmp_path / "trace"
    SQLiteBackend(path).close()
    run_traced(WRITES, f"sqlite:{path}", options=("-y", "-e", "trace=fsync,fdatasync,write", "-o", str(log)))
    steps = re.findall(r"(sync)\(\d+<[^>]*-wal>|write\(1<[^\"]*\"(\w+)", log.read_text())
    order = " ".join(one or other for one, other in steps)
    # The one sync ahead is of the WAL's own header, when the file is new.
    assert (
        order.removeprefix("sync ") == "quick sync durable quick quick sync durable sync durable sync durable"
    )


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\0"], ids=["empty", "text", "cut"])
def test_another_kind_of_file_is_refused_untouched(tmp_path: Path, content: bytes) -> None:
    """A file that is not a store is refused with a clear error and keeps its bytes."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises((BackendUnusable, BackendCorrupt), match="file"):
        SQLiteBackend(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_sqlite_file_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    """The application id decides, so another program's database is not opened as a store."""
    path = tmp_path / "theirs"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE rows (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(BackendUnusable, match="another program"):
        SQLiteBackend(path)
    assert path.read_bytes() == before


def test_a_damaged_file_is_corrupt(tmp_path: Path) -> None:
    """Reading pages overwritten with noise raises BackendCorrupt and no other error."""
    path = tmp_path / "store"
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"%04d" % n, b"v" * 200) for n in range(500)]))
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(BackendCorrupt, match="damaged"), SQLiteBackend(path) as backend:
        list(backend.scan())


def test_a_writer_that_waits_too_long_is_told(tmp_path: Path) -> None:
    """While the write lock is held elsewhere, a write raises BackendBusy and writes nothing."""
    path = tmp_path / "store"
    with SQLiteBackend(path, busy_seconds=0.01) as backend:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BackendBusy):
            backend.write(batch_of([(b"a", b"1")]))
        assert backend.get(b"a") is None
        other.execute("ROLLBACK")
        other.close()
        backend.write(batch_of([(b"a", b"1")]))
        assert backend.get(b"a") == b"1"


def test_a_full_disk_undoes_a_transaction(tmp_path: Path) -> None:
    """A write that fails because the file cannot grow has no effect, and later ones succeed."""
    path = tmp_path / "store"
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        backend._writer.execute("PRAGMA max_page_count = 4")
        with pytest.raises(BackendEnvironment, match="the disk is full"):
            backend.write(batch_of([(b"b", b"x" * 100_000)]))
        assert list(backend.scan()) == [(b"a", b"1")]
        backend._writer.execute("PRAGMA max_page_count = 4000")
        backend.write(batch_of([(b"c", b"1")]))
    with SQLiteBackend(path) as backend:
        assert list(backend.scan()) == [(b"a", b"1"), (b"c", b"1")]


def test_a_failed_transaction_poisons_the_handle(tmp_path: Path) -> None:
    """A write whose commit fails is in doubt, and so are all later ones."""
    path = tmp_path / "store"
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        backend._writer.set_authorizer(lambda _, what, *__: sqlite3.SQLITE_DENY if what == "COMMIT" else 0)
        with pytest.raises(BackendInDoubt):
            backend.write(batch_of([(b"b", b"1")]))
        backend._writer.set_authorizer(None)
        with pytest.raises(BackendInDoubt, match="reopen"):
            backend.write(batch_of([(b"c", b"1")]))
        assert list(backend.scan()) == [(b"a", b"1")]


def test_a_forked_process_cannot_open_what_was_open(tmp_path: Path) -> None:
    """A forked process cannot open a file that the parent had open: SQLite's table of locks is inherited."""
    path = tmp_path / "store"
    with SQLiteBackend(path) as backend:
        assert in_forked_process(lambda: SQLiteBackend(path)) == "BackendUnusable"
        backend.write(batch_of([(b"a", b"1")]))
        assert Path(f"{path}-wal").exists()


def test_deleted_bytes_are_overwritten(tmp_path: Path) -> None:
    """After a delete and a close, the value is nowhere in the file."""
    path, secret = tmp_path / "store", b"a secret that must go" * 20
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"%04d" % n, b"v" * 300) for n in range(100)]))
        backend.write(batch_of([(b"0050x", secret)]))
        backend.write(batch_of([(b"0050x", None)]))
    assert secret[:21] not in path.read_bytes()


def test_a_scan_does_not_hold_all_rows(tmp_path: Path) -> None:
    """A scan over 32 MiB of values has at most a few dozen of them in memory."""
    import tracemalloc

    with SQLiteBackend(tmp_path / "store") as backend:
        for n in range(64):
            backend.write(batch_of([(b"%02d%03d" % (n, m), b"v" * 4096) for m in range(128)]), durable=False)
        tracemalloc.start()
        try:
            count = sum(1 for _ in backend.scan())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert count == 64 * 128
        assert peak < 2 << 20


def test_connections_are_given_back(tmp_path: Path) -> None:
    """Closed, finished and forgotten snapshots and scans leave only idle connections."""
    with SQLiteBackend(tmp_path / "store") as backend:
        backend.write(batch_of([(b"%04d" % n, b"") for n in range(100)]))
        many = [backend.snapshot() for _ in range(20)] + [backend.scan() for _ in range(20)]
        gone = weakref.ref(many[0])
        many.clear()
        assert gone() is None
        assert len(backend._all) <= 10
        with pytest.raises(BackendError):
            backend.write(batch_of([(b"", b"")]))


def test_another_layout_is_refused(tmp_path: Path) -> None:
    """A file of another layout is not opened, also if only its WAL says so."""
    path = tmp_path / "store"
    SQLiteBackend(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 3")
        for _ in ("in the WAL", "in the header"):
            with pytest.raises(BackendUnusable, match="layout 3"):
                SQLiteBackend(path)
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
