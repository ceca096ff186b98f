"""Whole memories in PostgreSQL: the roots of other backends, many processes, and the command line."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backends import open_backend
from engine import Add, Engine, RefusedError
from engine.cli.main import main
from engine.store.maintenance import copy
from tests.support.children import ROOT
from tests.support.postgresql import shared_server
from tests.support.workloads import commands

pytestmark = pytest.mark.slow


def url(name: str) -> str:
    """Return the URL of a memory on the shared server."""
    return shared_server().url.replace("postgresql", f"postgresql+{name}", 1)


def test_a_memory_has_the_same_root_on_every_backend(tmp_path: Path) -> None:
    """A store copied from LevelDB to PostgreSQL, and from there to SQLite, keeps its root and verifies."""
    with Engine.open(f"leveldb:{tmp_path / 'a'}") as engine:
        engine.apply(commands(300, seed=19))
        root = engine.root().root
    places = [f"leveldb:{tmp_path / 'a'}", url("copied"), f"sqlite:{tmp_path / 'b'}"]
    for source, target in pairwise(places):
        with open_backend(source) as original, open_backend(target) as new:
            assert copy(original, new).root == root
    for place in places[1:]:
        with Engine.open(place) as engine:
            assert engine.root().root == root
            assert engine.verify().ok


def test_a_process_ahead_of_the_server_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose clock is 30 days ahead of the database server cannot put the memory into the future."""
    with Engine.open(url("skewed")) as engine:
        engine.add("one")
    machine = time.time_ns
    with monkeypatch.context() as ahead, Engine.open(url("skewed")) as engine:
        ahead.setattr(time, "time_ns", lambda: machine() + 30 * 86_400 * 10**9)
        with pytest.raises(RefusedError, match="seconds ahead of the database server"):
            engine.add("two")
    with Engine.open(url("skewed")) as engine:
        engine.add("three")
        assert (engine.size, engine.status().ahead) == (3, None)


def test_answers_and_rows_are_those_of_memory() -> None:
    """The same commands on a store in main memory and its copy in PostgreSQL give the same rows."""
    with Engine.open(url("alike")) as engine:
        engine.apply(commands(200, seed=20))
        engine.dream()
        engine.catch_up()
        with open_backend("memory:") as memory, open_backend(url("alike")) as stored:
            copy(stored, memory)
            derived = [row for row in memory.scan() if not row[0].startswith(b"meta/")]
            kept = [row for row in stored.scan() if not row[0].startswith(b"meta/")]
            assert derived == kept


WRITER = """
import sys
from engine import Engine
with Engine.open(sys.argv[1]) as engine:
    for number in range(int(sys.argv[3])):
        engine.add(f"Note {number} of writer {sys.argv[2]} about the kettle.")
"""


def test_several_processes_write_one_memory() -> None:
    """Each process adds its atoms; none is lost or doubled, and the memory verifies."""
    place = url("several")
    Engine.open(place).close()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, place, str(number), "15"], cwd=ROOT)
        for number in range(3)
    ]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    with Engine.open(place) as engine:
        assert len(engine.find(limit=100)) == 45
        assert engine.verify().ok


def test_erasing_leaves_no_row_with_the_content() -> None:
    """After an erasure no row of the memory has the content, and the receipt names what is out of reach."""
    with Engine.open(url("erased")) as engine:
        atom = engine.add("The password of the harbour is swordfish.").subject
        receipt = engine.erase(atom, "asked for")
        assert receipt.purged
        assert any("write-ahead log" in place for place in receipt.out_of_reach)
        with open_backend(url("erased")) as backend:
            assert not any(b"swordfish" in value for _, value in backend.scan())


def test_the_command_line_uses_a_database(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memories are made, filled, listed, renamed and deleted by name."""
    database = shared_server().url
    assert main(["--store", database, "--memory", "work", "add", "The tide clock is slow."]) == 0
    capsys.readouterr()
    assert main(["--store", database, "--memory", "work", "recall", "tide clock", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["hits"]
    assert main(["--store", database, "memory", "rename", "work", "office"]) == 0
    capsys.readouterr()
    assert main(["--store", database, "memory", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["data"]
    assert [one["state"] for one in listed if one["name"] == "office"] == ["usable"]
    assert main(["--store", database, "memory", "delete", "office", "--yes"]) == 0
    said = capsys.readouterr()
    assert "deleted" in said.out


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg, the message names the extra to install."""
    from engine.base.errors import InvalidInputError

    monkeypatch.setitem(sys.modules, "psycopg", None)
    for name in [name for name in sys.modules if name.startswith("backends.postgresql")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(InvalidInputError, match=r"memroot\[postgresql\]"):
        Engine.open("postgresql://user@host/db")


class RoundTrips:
    """Counts the messages to the server that the driver waits for an answer to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._inside = False
        execute, pipeline = psycopg.Connection.execute, psycopg.Connection.pipeline

        def counted(connection: psycopg.Connection, *values: Any, **options: Any) -> Any:
            self.count += not self._inside
            return execute(connection, *values, **options)

        @contextlib.contextmanager
        def together(connection: psycopg.Connection) -> Iterator[None]:
            self.count += 1
            self._inside = True
            try:
                with pipeline(connection):
                    yield
            finally:
                self._inside = False

        monkeypatch.setattr(psycopg.Connection, "execute", counted)
        monkeypatch.setattr(psycopg.Connection, "pipeline", together)

    def of(self, action: Callable[[], object]) -> int:
        """Return the number of round trips of an action."""
        before = self.count
        action()
        return self.count - before


def test_each_call_takes_few_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated recall asks the server once; opening, adding, and the recall after it ask a few times."""
    trips = RoundTrips(monkeypatch)
    with Engine.open(url("trips")) as engine:
        engine.apply([Add(f"Note {number} about kettle {number % 7}.") for number in range(60)])
        engine.recall("kettle 3")
        assert trips.of(lambda: engine.recall("kettle 3")) == 1
        assert trips.of(lambda: engine.add("The kettle at work is descaled.")) <= 5
        assert trips.of(lambda: engine.recall("kettle 3")) <= 8
    assert trips.of(lambda: Engine.open(url("trips")).close()) <= 12


def test_a_partitioned_table_is_used_unchanged() -> None:
    """The statements of the documentation divide the table under an open memory, which goes on."""
    page = (ROOT / "docs" / "postgresql.md").read_text(encoding="utf-8")
    recipe = page.split("## Partitions")[1].split("```sql")[1].split("```")[0]
    with psycopg.connect(shared_server().url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE divided")
    divided = shared_server().url.replace("/postgres", "/divided")
    with Engine.open(divided) as engine, psycopg.connect(divided, autocommit=True) as connection:
        engine.add("The kettle is red.")
        root = engine.root()
        connection.execute(recipe.encode())
        assert engine.root() == root
        atom = engine.add("The kettle is green.").subject
        assert len(engine.recall("kettle").hits) == 2
        assert engine.erase(atom, "asked for").purged
        assert engine.verify().ok
        found = connection.execute("SELECT count(DISTINCT tableoid) FROM memroot_rows").fetchone()
        assert found == (1,)  # the rows of one memory are in one partition
