"""Rewriting a store's files: who is waited for, and what a kill in the middle leaves."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from backends import open_backend
from backends.base import Backend
from backends.errors import BackendBusy
from backends.leveldb.leveldb_place import recover, rewrite
from tests.backends.suite import batch_of
from tests.backends.suite_purge import SECRET, found_in
from tests.support.leveldb import LEVELDB


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_an_open_snapshot_keeps_it_busy(scheme: str, tmp_path: Path) -> None:
    """It raises BackendBusy, the snapshot reads on, no row is lost, and it works once that is closed."""
    with impatient(scheme, tmp_path) as backend:
        backend.write(batch_of([(b"a", SECRET)]))
        with backend.snapshot() as rows:
            backend.write(batch_of([(b"a", b"1")]))
            with pytest.raises(BackendBusy):
                backend.purge()
            assert rows.get(b"a") == SECRET
        assert backend.get(b"a") == b"1"
        backend.purge()
    assert found_in(tmp_path) == []


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_a_scan_left_half_read_keeps_it_busy(scheme: str, tmp_path: Path) -> None:
    """A scan counts as a snapshot until it is closed."""
    with impatient(scheme, tmp_path) as backend:
        backend.write(batch_of([(b"%03d" % number, SECRET) for number in range(200)]))
        half = backend.scan()
        next(half)
        backend.write(batch_of([(b"%03d" % number, b"1") for number in range(200)]))
        with pytest.raises(BackendBusy):
            backend.purge()
        half.close()  # type: ignore[attr-defined]
        backend.purge()
    assert found_in(tmp_path) == []


def impatient(scheme: str, folder: Path) -> Backend:
    """A backend that waits for a fifth of a second."""
    if scheme == "sqlite":
        from backends.sqlite.sqlite_backend import SQLiteBackend

        return SQLiteBackend(folder / "store", busy_seconds=0.2)
    from backends.leveldb.leveldb_backend import LevelDBBackend

    return LevelDBBackend(folder / "store", busy_seconds=0.2)


NAMES = ("before", "rewritten", "moved away", "moved in", "done")


@pytest.mark.parametrize("stage", range(5), ids=NAMES)
def test_a_leveldb_killed_in_a_rewrite_has_all_rows(stage: int, tmp_path: Path) -> None:
    """Whatever of the steps was done, opening finds every row, and one LevelDB in the folder."""
    pytest.importorskip("plyvel")
    place = tmp_path / "store"
    with open_backend(f"leveldb:{place}") as backend:
        backend.write(batch_of([(b"a", b"1"), (b"b", b"2")]))
        rows = list(backend.scan())
    steps: list[Callable[[], object]] = [
        (place / ".db.unfinished").mkdir,
        lambda: rewrite(place, rows),
        lambda: (place / "db").rename(place / ".db.old"),
        lambda: (place / ".db.new").rename(place / "db"),
    ]
    for step in steps[:stage]:
        step()
    with open_backend(f"leveldb:{place}", create=False) as backend:
        assert list(backend.scan()) == rows
        backend.purge()
        assert list(backend.scan()) == rows
    assert sorted(path.name for path in place.iterdir()) == ["db", "lock"]


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    """Clearing up takes nothing but the folders a rewrite makes."""
    pytest.importorskip("plyvel")
    place = tmp_path / "store"
    open_backend(f"leveldb:{place}").close()
    (place / "db.new").mkdir()
    (place / "notes.txt").write_text("mine")
    recover(place)
    assert sorted(path.name for path in place.iterdir()) == ["db", "db.new", "lock", "notes.txt"]


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_a_process_killed_in_a_purge_loses_nothing(scheme: str, tmp_path: Path) -> None:
    """SIGKILL at some moment of it, again and again: all rows are there, and purging again finishes it."""
    url = f"{scheme}:{tmp_path / 'store'}"
    with open_backend(url) as backend:
        backend.write(batch_of([(b"%05d" % number, SECRET) for number in range(4000)]))
        backend.write(batch_of([(b"%05d" % number, b"x" * 200) for number in range(4000)]))
    for wait in (0.0, 0.004, 0.008, 0.015, 0.03, 0.06):
        child = os.fork()
        if not child:
            with open_backend(url, create=False) as backend:
                signal.setitimer(signal.ITIMER_REAL, wait or 0.001)
                signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
                backend.purge()
                os._exit(0)
        os.waitpid(child, 0)
        with open_backend(url, create=False) as backend:
            assert sum(1 for _ in backend.scan()) == 4000
    with open_backend(url, create=False) as backend:
        backend.purge()
    assert found_in(tmp_path) == []
