"""The logs of a LevelDB outlive an opening that is interrupted while names are not synced yet."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from backends.errors import BackendEnvironment
from backends.files import Location
from backends.leveldb.leveldb_backend import LevelDBBackend
from backends.read_only import ReadOnlyBackend
from backends.salvaged_rows import Way
from tests.backends.suite import batch_of
from tests.support.leveldb import needs_leveldb

pytestmark = needs_leveldb

ROW = (b"key", b"value")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The path of a store with one row, which is in the log."""
    path = tmp_path / "store"
    batch = batch_of([ROW])
    with LevelDBBackend(path) as backend:
        backend.write(batch)
    return path


def interrupt_opening(store: Path) -> None:
    """Leave the files as after an opening that deleted the log, and lost its new name CURRENT."""
    for log in (store / "db").glob("*.log"):
        log.rename(store / f".kept-{log.name}")


def kept(store: Path) -> list[Path]:
    """Return the second names."""
    return list(store.glob(".kept-*"))


def test_an_interrupted_opening_loses_no_row(store: Path) -> None:
    """The next opening has the rows of a log that was deleted too early."""
    interrupt_opening(store)
    with LevelDBBackend(store) as backend:
        assert list(backend.scan()) == [ROW]
    assert kept(store) == []


def test_an_opening_leaves_no_second_names(store: Path) -> None:
    """After an opening, the bytes of a log have no name outside the folder of LevelDB."""
    with LevelDBBackend(store):
        assert kept(store) == []


def test_an_opening_killed_before_it_removes_the_second_names_changes_no_row(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that is kept although the new CURRENT is in effect changes nothing when it is put back."""
    batch = batch_of([(ROW[0], None)])
    with LevelDBBackend(store) as backend:
        backend.write(batch)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda path, missing_ok=False: None)
        with LevelDBBackend(store):
            assert kept(store)
    with LevelDBBackend(store) as backend:
        assert list(backend.scan()) == []
    assert kept(store) == []


def test_a_file_system_without_second_names_keeps_copies(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store also opens on a file system where a file cannot have two names."""

    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", refused)
    with LevelDBBackend(store) as backend:
        assert list(backend.scan()) == [ROW]
    assert kept(store) == []


def test_a_failure_to_keep_a_log_is_an_error_of_ours(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system refuses a second name, the store is not opened, and stays whole."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", full)
        with pytest.raises(BackendEnvironment, match="the disk is full"):
            LevelDBBackend(store)
    with LevelDBBackend(store) as backend:
        assert list(backend.scan()) == [ROW]


def test_a_store_that_can_only_be_read_has_the_rows_of_a_kept_log(store: Path) -> None:
    """The private copy for reading includes the logs that an interrupted opening kept."""
    interrupt_opening(store)
    with ReadOnlyBackend(Location("leveldb", str(store)), errno.EROFS) as backend:
        assert list(backend.scan()) == [ROW]


def test_a_rescue_finds_the_rows_of_a_kept_log(store: Path, tmp_path: Path) -> None:
    """Both ways of reading a damaged store include the logs that an interrupted opening kept."""
    from backends.leveldb.leveldb_salvage import leveldb_ways

    interrupt_opening(store)
    with tempfile.TemporaryDirectory(dir=tmp_path) as scratch:
        ways: list[Way] = list(leveldb_ways(store, Path(scratch)))
        assert [list(way.read([])) for way in ways] == [[ROW], [ROW]]
