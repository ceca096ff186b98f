"""Files of layout 1, which had no checksums, are migrated when they are opened."""

from __future__ import annotations

import contextlib
import errno
import json
import sqlite3
import tarfile
from pathlib import Path

import pytest

from backends import open_backend
from backends.errors import BackendCorrupt, BackendEnvironment, BackendUnusable
from backends.sqlite.sqlite_backend import SQLiteBackend
from backends.sqlite.sqlite_memories import memories_in
from backends.sqlite.sqlite_tables import LAYOUT
from engine.engine import Engine
from tests.backends.suite import batch_of
from tests.golden.make import FOLDER
from tests.support.children import TIMEOUT_SECONDS, start
from tests.support.layouts import to_layout_1

GOLDEN = FOLDER / "format-2-sqlite.tar.xz"
ROWS = [(b"%04d" % n, b"value %d" % n) for n in range(500)]


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A closed file of layout 1, with a store without a name and a memory `work`, both with ROWS."""
    path = tmp_path / "store"
    for memory in (None, "work"):
        with SQLiteBackend(path, memory=memory) as backend:
            backend.write(batch_of(ROWS))
    to_layout_1(path)
    return path


def layout(path: Path) -> tuple[int, bool]:
    """Return the layout, and whether the tables have checksums."""
    with sqlite3.connect(path) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        columns = [row[1] for row in database.execute("PRAGMA table_info(memory_1)")]
    database.close()
    return version, "sum" in columns


@pytest.mark.parametrize("memory", [None, "work"])
def test_an_earlier_file_is_migrated_with_all_its_memories(earlier: Path, memory: str | None) -> None:
    """Opening one memory gives the rows of all memories their checksums."""
    with SQLiteBackend(earlier, create=False, memory=memory) as backend:
        assert list(backend.scan()) == ROWS
        backend.write(batch_of([(b"new", b"1")]))
    assert layout(earlier) == (LAYOUT, True)
    for name in (None, "work"):
        with SQLiteBackend(earlier, create=False, memory=name) as backend:
            assert list(backend.scan(b"0", b":")) == ROWS
    assert memories_in(str(earlier)) == ["work"]


def test_a_file_that_cannot_be_changed_is_read_from_a_copy(
    earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write-protected earlier file is read in a migrated copy, and stays as it is."""
    monkeypatch.setattr("backends.why_unwritable", lambda *_: errno.EROFS)
    with open_backend(f"sqlite:{earlier}", create=False) as backend:
        assert list(backend.scan()) == ROWS
        with pytest.raises(BackendEnvironment, match="cannot be written"):
            backend.write(batch_of([(b"new", b"1")]))
    assert layout(earlier) == (1, False)


def test_an_earlier_row_that_is_not_bytes_is_damage(earlier: Path) -> None:
    """A number in place of a value of an earlier file is reported, and the file stays as it is."""
    with contextlib.closing(sqlite3.connect(earlier)) as database, database:
        database.execute("UPDATE rows SET value = 7 WHERE key = ?", ROWS[3][:1])
    with pytest.raises(BackendCorrupt):
        SQLiteBackend(earlier)
    assert layout(earlier) == (1, False)


KILLED = """
import os, sys
import backends.sqlite.sqlite_tables as migration
calls = 0
statement = migration.write_own
def dying(*arguments):
    global calls
    calls += 1
    statement(*arguments)
    if calls == int(sys.argv[2]):
        os._exit(9)
migration.write_own = dying
from backends import open_backend
open_backend(sys.argv[1])
"""


@pytest.mark.parametrize("table", [1, 2])
def test_a_crash_while_migrating_leaves_the_earlier_layout(earlier: Path, table: int) -> None:
    """A process that dies in the migration changes nothing; the next one migrates."""
    child = start(KILLED, f"sqlite:{earlier}", table)
    child.communicate(timeout=TIMEOUT_SECONDS)
    assert child.returncode == 9
    assert layout(earlier) == (1, False)
    with SQLiteBackend(earlier) as backend:
        assert list(backend.scan()) == ROWS


def test_processes_that_migrate_at_once_agree(earlier: Path) -> None:
    """Of several processes that open an earlier file, one migrates it, and all can use it."""
    code = "import sys\nfrom backends import open_backend\nprint(len(list(open_backend(sys.argv[1]).scan())))"
    children = [start(code, f"sqlite:{earlier}") for _ in range(3)]
    for child in children:
        out, err = child.communicate(timeout=TIMEOUT_SECONDS)
        assert (out, err) == ("500\n", "")


def test_a_later_layout_is_refused(earlier: Path) -> None:
    """A file of a layout that this version does not know is not opened."""
    with sqlite3.connect(earlier) as database:
        database.execute("PRAGMA user_version = 3")
    database.close()
    with pytest.raises(BackendUnusable, match="layout 3"):
        SQLiteBackend(earlier)


def test_the_golden_store_is_upgraded(tmp_path: Path) -> None:
    """The golden store of layout 1 opens, is written to, verifies, is rebuilt and exported."""
    facts = json.loads((FOLDER / "format-2.json").read_text())["sqlite"]
    with tarfile.open(GOLDEN) as packed:
        packed.extractall(tmp_path, filter="data")
    path = tmp_path / "store.db"
    assert layout(path)[0] == 1
    with Engine.open(f"sqlite:{path}", create=False) as engine:
        assert engine.root().root == facts["root"]
        engine.rebuild()
        assert engine.root().root == facts["root"]
        engine.add("A text of a later version.")
        assert engine.verify().ok
        size = engine.size
    assert layout(path)[0] == LAYOUT
    with Engine.open(f"sqlite:{path}", create=False) as engine:
        lines: list[bytes] = []
        engine.export(lines.append)
        assert len(b"".join(lines).splitlines()) == size + 2
