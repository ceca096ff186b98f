"""Tests of closing a LevelDB store after much was written: its tables are merged, so that reads need not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from backends.leveldb import leveldb_backend
from backends.leveldb.leveldb_backend import LevelDBBackend
from backends.leveldb.leveldb_opening import OPTIONS
from tests.backends.suite import batch_of
from tests.support.leveldb import needs_leveldb

pytestmark = needs_leveldb

VALUE = bytes(1000)
MUCH = 1000
"""The number of rows that are more than a handle may write without settling the tables."""


@pytest.fixture(autouse=True)
def _short_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all limits smaller: a log has at most 512 KiB, and 1 MiB is much."""
    monkeypatch.setitem(OPTIONS, "write_buffer_size", 1 << 19)
    monkeypatch.setattr(leveldb_backend, "_LOG_BYTES_MAX", 1 << 20)


def write(path: Path, rows: int, seed: int = 0) -> None:
    """Write `rows` rows with random keys, every one of them twice, and close the store."""
    numbers = random.Random(seed)
    keys = [numbers.randbytes(8) for _ in range(rows)]
    with LevelDBBackend(path) as backend:
        for _ in range(2):
            for key in keys:
                backend.write(batch_of([(key, VALUE)]), durable=False)
        backend.write(batch_of([(b"last", b"")]))


def tables(path: Path) -> dict[str, int]:
    """Return the sizes of the tables by their names."""
    return {table.name: table.stat().st_size for table in (path / "db").glob("*.ldb")}


def test_closing_after_much_was_written_merges_the_tables(tmp_path: Path) -> None:
    """Replaced values and the log leave no bytes behind."""
    write(tmp_path / "store", MUCH)
    assert sum(tables(tmp_path / "store").values()) < 1.1 * MUCH * len(VALUE)
    assert all(log.stat().st_size == 0 for log in (tmp_path / "store" / "db").glob("*.log"))


def test_closing_after_little_was_written_leaves_large_tables_alone(tmp_path: Path) -> None:
    """The time to close is in proportion to what was written, not to the size of the store."""
    path = tmp_path / "store"
    write(path, 10 * MUCH)
    before = tables(path)
    write(path, MUCH, seed=1)
    assert tables(path).items() >= before.items()


def test_merging_that_fails_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is closed and can be opened again, and LevelDB merges the tables later."""
    path = tmp_path / "store"

    def fails(self: LevelDBBackend) -> int:
        raise OSError("no such folder")

    with monkeypatch.context() as patch:
        patch.setattr(LevelDBBackend, "_table_bytes", fails)
        write(path, MUCH)
    with LevelDBBackend(path) as backend:
        assert len(list(backend.scan())) == MUCH + 1


def test_an_interrupt_while_tables_are_merged_still_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is released."""
    path = tmp_path / "store"

    def interrupted(self: LevelDBBackend) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LevelDBBackend, "_table_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(path, MUCH)
    with LevelDBBackend(path) as backend:
        assert len(list(backend.scan())) == MUCH + 1
