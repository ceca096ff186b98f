"""A SQLite store notices that acknowledged writes are missing."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from backends.errors import BackendCorrupt, BackendLost
from backends.sqlite.sqlite_backend import SQLiteBackend
from engine.base.errors import CorruptionError
from engine.engine import Engine
from tests.backends.suite import batch_of
from tests.support.children import run, run_traced

ADD = """
import os, sys
from engine import Engine
engine = Engine.open(sys.argv[1], memory=sys.argv[2] or None)
for number in range(int(sys.argv[3])):
    engine.add(f"Text {number}")
os._exit(0)
"""
"""Adds texts, and ends without closing the store, so that they stay in the WAL."""

ADDED = 20


def added(path: Path, memory: str = "") -> Path:
    """Create a store in which ADDED texts are in the WAL only; return the path of the WAL."""
    Engine.open(f"sqlite:{path}", memory=memory or None).close()
    run(ADD, f"sqlite:{path}", memory, ADDED)
    return Path(f"{path}-wal")


def flip_middle(wal: Path) -> bytes:
    """Flip a bit in the middle of the WAL; return the WAL's bytes."""
    data = bytearray(wal.read_bytes())
    data[len(data) // 2] ^= 8
    wal.write_bytes(data)
    return bytes(data)


@pytest.mark.parametrize("memory", ["", "work"])
def test_events_lost_with_the_wal_are_reported(tmp_path: Path, memory: str) -> None:
    """After a flipped bit in the WAL, opening says which events are missing, and leaves the WAL as it is."""
    path = tmp_path / "store"
    wal = added(path, memory)
    damaged = flip_middle(wal)
    for _ in range(2):
        with pytest.raises(
            CorruptionError, match=r"events up to 21 were acknowledged, .* ends at \d+;"
        ) as lost:
            Engine.open(f"sqlite:{path}", memory=memory or None)
        assert "rescue" in lost.value.hint
        assert str(path) + "-wal-mark" in lost.value.hint
    assert wal.read_bytes() == damaged


def test_without_the_mark_the_loss_is_accepted(tmp_path: Path) -> None:
    """Deleting the mark is the documented way to go on with the events that are left."""
    path = tmp_path / "store"
    flip_middle(added(path))
    Path(f"{path}-wal-mark").unlink()
    with Engine.open(f"sqlite:{path}") as engine:
        assert 1 <= engine.size < ADDED
        engine.add("Another text")
        assert engine.verify().ok
    Engine.open(f"sqlite:{path}").close()


def test_a_whole_wal_is_read_after_a_crash(tmp_path: Path) -> None:
    """A store that was not closed opens with all events."""
    path = tmp_path / "store"
    added(path)
    with Engine.open(f"sqlite:{path}") as engine:
        assert engine.size == ADDED + 1


def test_a_deleted_wal_is_reported(tmp_path: Path) -> None:
    """A store whose WAL is gone has lost what was only there."""
    path = tmp_path / "store"
    added(path).unlink()
    with pytest.raises(CorruptionError, match="ends at"):
        Engine.open(f"sqlite:{path}")


def test_a_loss_in_one_memory_is_reported_by_all(tmp_path: Path) -> None:
    """The memories of a file share the WAL, and opening any of them would remove the evidence."""
    path = tmp_path / "store"
    Engine.open(f"sqlite:{path}", memory="other").close()
    flip_middle(added(path, "work"))
    with pytest.raises(CorruptionError, match="'work'"):
        Engine.open(f"sqlite:{path}", memory="other")


def test_an_older_copy_is_reported_until_the_mark_is_deleted(tmp_path: Path) -> None:
    """A copy that was put back lacks acknowledged writes; without the mark it is a store like any other."""
    path = tmp_path / "store"
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
    shutil.copyfile(path, tmp_path / "copy")
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"b", b"1")]))
    shutil.copyfile(tmp_path / "copy", path)
    with pytest.raises(BackendLost, match="2 durable writes were acknowledged, but the file has 1;"):
        SQLiteBackend(path)
    Path(f"{path}-wal-mark").unlink()
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"c", b"1")]))
        assert [key for key, _ in backend.scan()] == [b"a", b"c"]


def test_a_copy_without_the_mark_opens(tmp_path: Path) -> None:
    """A file that was copied to another place has no mark there, and gets one with its first write."""
    path, copy = tmp_path / "store", tmp_path / "copy"
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
    shutil.copyfile(path, copy)
    with SQLiteBackend(copy) as backend:
        assert backend.get(b"a") == b"1"
        assert not Path(f"{copy}-wal-mark").exists()
        backend.write(batch_of([(b"b", b"1")]))
        assert Path(f"{copy}-wal-mark").exists()


def test_a_new_store_in_the_place_of_another_opens(tmp_path: Path) -> None:
    """The mark of a file that was deleted does not concern the next file of that name."""
    path = tmp_path / "store"
    for _ in range(2):
        with SQLiteBackend(path) as backend:
            for n in range(5):
                backend.write(batch_of([(b"%d" % n, b"1")]))
        path.unlink()
        SQLiteBackend(path).close()


def test_a_mark_that_lags_is_no_loss(tmp_path: Path) -> None:
    """A crash between the commit and the mark leaves an older mark."""
    path, mark = tmp_path / "store", tmp_path / "store-wal-mark"
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        before = mark.read_bytes()
        backend.write(batch_of([(b"b", b"1")]))
    mark.write_bytes(before)
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"c", b"1")]))
    with SQLiteBackend(path) as backend:
        assert len(list(backend.scan())) == 3


def test_the_mark_is_written_after_the_commit(tmp_path: Path) -> None:
    """The WAL is synced before the mark is written, so the mark never leads."""
    path, log = tmp_path / "store", tmp_path / "trace"
    code = """
import sys
from backends import Batch, open_backend
with open_backend(sys.argv[1]) as backend:
    for n in range(3):
        batch = Batch(); batch.put(b"a", b"%d" % n); backend.write(batch)
"""
    run(code, f"sqlite:{path}")
    run_traced(code, f"sqlite:{path}", options=("-y", "-e", "trace=fdatasync,fsync,pwrite64", "-o", str(log)))
    steps = [
        "sync" if "sync(" in line else "mark"
        for line in log.read_text().splitlines()
        if ("sync(" in line and "-wal>" in line) or ("pwrite64(" in line and "-wal-mark>" in line)
    ]
    assert [step for step in steps if step == "mark"] == ["mark"] * 3
    assert all(steps[at - 1] == "sync" for at, step in enumerate(steps) if step == "mark")


@pytest.mark.parametrize("content", [b"not a mark", b"memrmark" + b"x" * 56])
def test_a_damaged_mark_is_reported(tmp_path: Path, content: bytes) -> None:
    """A mark that cannot be read might hide a loss, so it is an error that names the file."""
    path, mark = tmp_path / "store", tmp_path / "store-wal-mark"
    SQLiteBackend(path).close()
    mark.write_bytes(content)
    with pytest.raises(BackendCorrupt, match="store-wal-mark"):
        SQLiteBackend(path)
    assert mark.read_bytes() == content


def test_memories_of_one_file_have_marks_of_their_own(tmp_path: Path) -> None:
    """Writes to one memory do not change the mark of another."""
    path = tmp_path / "store"
    for name in ("a", "b"):
        with SQLiteBackend(path, memory=name) as backend:
            for n in range(2 if name == "a" else 5):
                backend.write(batch_of([(b"%d" % n, b"1")]))
    for name in ("a", "b"):
        SQLiteBackend(path, memory=name).close()
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM memory_2 WHERE key = x''")
    database.close()
    SQLiteBackend(path, memory="a").close()
    with pytest.raises(BackendCorrupt, match="own row"):
        SQLiteBackend(path, memory="b")
