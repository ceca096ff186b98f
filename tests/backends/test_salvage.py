"""The readers of damaged files yield every row of an undamaged file, and never fail on any bytes."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from backends import open_backend
from backends.leveldb.leveldb_salvage import log_rows, table_rows
from backends.sqlite.sqlite_salvage import SQLiteFiles
from tests.backends.suite import batch_of
from tests.support.leveldb import needs_leveldb

pytestmark = pytest.mark.slow

ROWS = {b"key/%04d" % n: random.Random(n).randbytes(n * 7 % 900) for n in range(600)} | {
    b"large": b"x" * 99_999
}


def filled(url: str) -> None:
    """Create a store with ROWS."""
    with open_backend(url) as backend:
        backend.write(batch_of(ROWS.items()))


def damaged(raw: bytes, chosen: random.Random) -> bytes:
    """Return bytes in which some places were overwritten, or of which the end is missing."""
    changed = bytearray(raw[: chosen.randrange(len(raw) // 2, len(raw))])
    for _ in range(chosen.randrange(1, 30)):
        at = chosen.randrange(len(changed))
        size = chosen.choice([1, 2, 16, 512])
        changed[at : at + size] = chosen.randbytes(size) if chosen.random() < 0.5 else bytes(size)
    return bytes(changed)


@needs_leveldb
def test_every_row_of_a_log_and_of_a_table_is_read(tmp_path: Path) -> None:
    """Without LevelDB, a log and a table have the rows that were written."""
    filled(f"leveldb:{tmp_path / 'store'}")
    [log] = [file for file in (tmp_path / "store" / "db").glob("*.log") if file.stat().st_size]
    assert dict(log_rows(log.read_bytes())) == ROWS
    open_backend(f"leveldb:{tmp_path / 'store'}").close()  # LevelDB moves the rows into a table
    [table] = (tmp_path / "store" / "db").glob("*.ldb")
    raw = table.read_bytes()
    assert dict(table_rows(raw)) == ROWS
    assert dict(table_rows(raw[:-48])) == ROWS


def test_every_row_of_a_database_and_of_its_wal_is_read(tmp_path: Path) -> None:
    """Without SQLite, the WAL of an open store and the database of a closed one have the rows."""
    place = tmp_path / "store"
    with open_backend(f"sqlite:{place}") as backend:
        for key, value in ROWS.items():
            backend.write(batch_of([(key, value)]), durable=False)
        assert rows_of(place, tmp_path / "store-wal").items() >= ROWS.items()
    assert rows_of(place, tmp_path / "none").items() >= ROWS.items()


def rows_of(database: Path, wal: Path) -> dict[bytes, bytes]:
    """Return the rows in two files; of several rows with one key, the first."""
    with contextlib.closing(SQLiteFiles(database, wal)) as files:
        return dict(reversed(list(files.rows())))


@pytest.mark.parametrize("seed", range(20))
def test_no_damage_makes_a_reader_fail(tmp_path: Path, seed: int) -> None:
    """Whatever the bytes, the readers end without an error."""
    chosen = random.Random(seed)
    filled(f"sqlite:{tmp_path / 'store'}")
    raw = (tmp_path / "store").read_bytes()
    (tmp_path / "database").write_bytes(damaged(raw, chosen))
    (tmp_path / "wal").write_bytes(damaged(raw, chosen))
    rows_of(tmp_path / "database", tmp_path / "wal")
    for rubbish in (damaged(raw, chosen), chosen.randbytes(5000), b""):
        list(log_rows(rubbish))
        list(table_rows(rubbish))
        list(table_rows(rubbish + bytes(40) + bytes.fromhex("57fb808b247547db")))
