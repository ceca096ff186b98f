"""No flipped bit in a SQLite file changes what the store answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from backends import open_backend
from backends.base import Reader
from backends.databases import checksum
from backends.errors import BackendCorrupt
from backends.sqlite.sqlite_backend import SQLiteBackend
from backends.sqlite.sqlite_reads import Rows
from backends.sqlite.sqlite_tables import statements_for
from engine.base.errors import CorruptionError
from engine.engine import Engine
from engine.ledger.layout import COUNTERS, FAMILIES, atom_key, cursor_key, journal_key
from engine.store.maintenance import rebuild
from tests.backends.bit_rot import Rot, fill
from tests.backends.suite import batch_of
from tests.support.soak import seed, times

pytestmark = pytest.mark.slow

ROWS = [(b"%03d" % n, b"value %d" % n + b"." * 50) for n in range(300)]

READS: dict[str, Callable[[Reader], object]] = {
    "get": lambda rows: rows.get(b"150"),
    "multi_get": lambda rows: rows.multi_get([key for key, _ in ROWS]),
    "a scan": lambda rows: list(rows.scan()),
    "a reverse scan": lambda rows: list(rows.scan(reverse=True)),
    "the scan of a part": lambda rows: list(rows.scan(b"140", b"160")),
}


@pytest.mark.parametrize(("memory", "flips"), [(None, 120), ("work", 40)])
def test_no_flipped_bit_changes_an_answer(tmp_path: Path, memory: str | None, flips: int) -> None:
    """After a flip anywhere in the file, every answer is the right one or an error."""
    path, chosen = tmp_path / "store", Random(seed(11))
    rot = Rot(path, fill(path, 24, memory), memory)
    for _ in range(times(flips)):
        rot.flip(chosen.randrange(rot.bits))
    assert rot.found.wrong == []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store with the rows ROWS."""
    with SQLiteBackend(tmp_path / "store") as backend:
        backend.write(batch_of(ROWS))
    return tmp_path / "store"


def changed(path: Path, statement: str, *values: object) -> None:
    """Change the database without the backend."""
    with sqlite3.connect(path) as database:
        database.execute(statement, values)
    database.close()


def replaced(path: Path, old: bytes, new: bytes) -> None:
    """Replace the only place in the file that has the bytes `old`."""
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_a_changed_value_is_never_returned(path: Path, read: Callable[[Reader], object]) -> None:
    """Every way of reading compares the value with its checksum; the error has the key of the row."""
    replaced(path, b"value 150.", b"walue 150.")
    with SQLiteBackend(path) as backend, backend.snapshot() as rows:
        for reader in (backend, rows):
            with pytest.raises(BackendCorrupt, match="checksum") as damage:
                read(reader)
            assert damage.value.key == b"150"


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
@pytest.mark.parametrize("key", [b"0\xb50", b"9\x950"], ids=["smaller", "larger"])
def test_a_changed_key_does_not_hide_rows(path: Path, read: Callable[[Reader], object], key: bytes) -> None:
    """A changed key may mislead the search for its row; then the row counts as damaged, not as missing."""
    replaced(path, b"150value 150.", key + b"value 150.")
    with SQLiteBackend(path) as backend, backend.snapshot() as rows:
        for reader in (backend, rows):
            with pytest.raises(BackendCorrupt):
                read(reader)


@pytest.mark.parametrize("missed", [b"149", b"150", b"151", b"00", b"4"])
def test_a_key_whose_type_changed_does_not_hide_rows(path: Path, missed: bytes) -> None:
    """SQLite sorts a text before all bytes, so a key that became a text misleads searches for other keys."""
    data = bytearray(path.read_bytes())
    kind = data.index(b"150value 150.") - 4  # before it: the types of the key, the value and the checksum
    assert data[kind] == 12 + 2 * len(b"150")
    data[kind] ^= 1
    path.write_bytes(data)
    with SQLiteBackend(path) as backend:
        try:
            assert backend.get(missed) == dict(ROWS).get(missed)
        except BackendCorrupt:
            assert missed in dict(ROWS)
        with pytest.raises(BackendCorrupt):
            list(backend.scan())


def test_a_value_under_the_wrong_key_is_found(path: Path) -> None:
    """The checksum covers the key, so a value that belongs to another row is not returned."""
    changed(
        path,
        "UPDATE rows SET (value, sum) = (SELECT value, sum FROM rows WHERE key = ?) WHERE key = ?",
        b"001",
        b"002",
    )
    with SQLiteBackend(path) as backend:
        assert backend.get(b"001") == dict(ROWS)[b"001"]
        with pytest.raises(BackendCorrupt):
            backend.get(b"002")


def test_the_border_between_key_and_value_counts() -> None:
    """The same bytes, divided in another way, have another checksum."""
    assert checksum(b"ab", b"c") != checksum(b"a", b"bc")


@pytest.mark.parametrize("value", ["text", 7, 1.5])
def test_a_value_that_is_not_bytes_is_found(path: Path, value: object) -> None:
    """A damaged record may have a value of another type; it is damage, and no error of Python."""
    changed(path, "UPDATE rows SET value = ? WHERE key = x'313530'", value)
    with SQLiteBackend(path) as backend, pytest.raises(BackendCorrupt):
        backend.get(b"150")


@pytest.mark.parametrize("key", ["text", 7, None])
def test_a_key_that_is_not_bytes_is_found(key: object) -> None:
    """A damaged record may have a key of another type; it is damage, and no error of Python."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE rows (key, value, sum)")
        connection.execute("INSERT INTO rows VALUES (?, x'00', 0)", (key,))
        _, chunks = Rows("store", statements_for(0)).scan(connection, b"a", None, reverse=True)
        with pytest.raises(BackendCorrupt, match="not in its place"):
            next(chunks)


def test_missing_rows_of_a_whole_store_are_missing(path: Path) -> None:
    """Where nothing is damaged, a missing row is None."""
    with SQLiteBackend(path) as backend:
        assert backend.multi_get([b"1505", b"\0", b"\xff"]) == [None] * 3
        assert [backend.get(key) for key in (b"1505", b"\0", b"\xff", b"")] == [None] * 4


def test_the_error_names_the_family_and_the_repair(tmp_path: Path) -> None:
    """A damaged record is repaired by a rebuild; a damaged header is not."""
    path = tmp_path / "store"
    ids = fill(path, 3)
    for family, key, repair in (
        ("atoms", atom_key(UUID(ids[0]).bytes), "rebuild"),
        ("journal", journal_key(1), "backup"),
    ):
        changed(path, "UPDATE rows SET value = CAST(value || x'00' AS BLOB) WHERE key = ?", key)
        with pytest.raises(CorruptionError, match=family) as damage, Engine.open(f"sqlite:{path}") as engine:
            engine.export(lambda _: None) if family == "journal" else engine.get(ids[0])
        assert damage.value.family == family
        assert repair in damage.value.hint


def test_a_rebuild_replaces_damaged_rows(tmp_path: Path) -> None:
    """After damage to one row of each family that can be computed, a rebuild gives the same root."""
    path, url = tmp_path / "store", f"sqlite:{tmp_path / 'store'}"
    fill(path, 6)
    with Engine.open(url) as engine:
        engine.erase(engine.find()[0].id, "private")
        root = engine.root().root
        found = {
            name: next(iter(engine.store.backend.scan_prefix(FAMILIES[name])), None) for name in FAMILIES
        }
    damaged = [
        row[0]
        for name, row in found.items()
        if row is not None and name not in {"journal", "payload", "meta"}
    ]
    assert len(damaged) > 8
    for key in [*damaged, COUNTERS, cursor_key("tags")]:
        changed(path, "UPDATE rows SET sum = sum + 1 WHERE key = ?", key)
    with closing(open_backend(url)) as backend:
        assert rebuild(backend).root == root
    with Engine.open(url) as engine:
        assert engine.verify(expect=root).ok
