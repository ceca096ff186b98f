"""The memories of one root are isolated: each is the same as it would be alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Engine, memories
from engine.base.errors import EngineError
from engine.commands import Command
from engine.query.filters import Filters
from tests.memory.named.support import engine_of, root_url
from tests.support.children import run_at_once
from tests.support.engines import rows_of
from tests.support.workloads import commands

pytestmark = pytest.mark.slow

QUESTIONS = ("sea ship", "storm", "ADR-016", "猫が")


def answers(engine: Engine) -> dict[str, object]:
    """Return the answers of a memory to every query."""
    found = engine.find(limit=1000)
    return {
        "root": engine.root(),
        "find": found,
        "find by tag": engine.find(limit=1000, filters=Filters(tags=("red",))),
        "tags": engine.tags(),
        "log": list(engine.log()),
        "recall": [[(hit.id, hit.score) for hit in engine.recall(one).hits] for one in QUESTIONS],
        "atoms": [engine.get(one.id) for one in found],
        "edges": [engine.edges(one.id, direction="both") for one in found],
        "histories": [engine.history(one.id) for one in found],
        "rows": rows_of(engine.store.backend),
    }


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["folder", "file"]),
    seeds=st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)),
    order=st.lists(st.booleans(), min_size=8, max_size=24),
)
def test_a_memory_is_what_it_would_be_alone(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seeds: tuple[int, int], order: list[bool]
) -> None:
    """Two memories that are written alternately have the answers, roots and rows of two separate stores."""
    url = root_url(kind, tmp_path_factory.mktemp("isolation"))
    pair = ("left", "right")
    shares = {name: iter(commands(len(order) + 3, seed)) for name, seed in zip(pair, seeds, strict=True)}
    given_to: dict[str, list[Command]] = {name: [] for name in pair}
    with engine_of(url, "left", "left") as left, engine_of(url, "right", "right") as right:
        for is_left in order:
            name, engine = ("left", left) if is_left else ("right", right)
            command = next(shares[name])
            engine.apply([command])
            given_to[name].append(command)
        for name, engine in (("left", left), ("right", right)):
            with engine_of("memory:", None, name) as alone:
                for command in given_to[name]:
                    alone.apply([command])
                assert answers(engine) == answers(alone)
    assert memories(url) == ["left", "right"]


def test_a_store_without_a_name_keeps_its_place_in_a_file(tmp_path: Path) -> None:
    """`sqlite:PATH` still names the existing store of the file after named memories are created in it."""
    url = f"sqlite:{tmp_path / 'one.db'}"
    with Engine.open(url) as before:
        before.add("of the store without a name")
        root = before.root()
    with Engine.open(url, memory="work") as work:
        work.add("of work")
    with Engine.open(url, create=False) as after:
        assert after.root() == root
        assert [one.id for one in after.find(limit=9)] == [hit.id for hit in after.recall("name").hits]
        assert after.verify().ok


def test_a_query_in_one_memory_cannot_name_an_atom_of_another(tmp_path: Path) -> None:
    """The id of an atom in another memory is not found."""
    url = f"sqlite:{tmp_path / 'one.db'}"
    with Engine.open(url, memory="work") as work, Engine.open(url, memory="home") as home:
        atom = work.add("of work").subject
        for asked in (home.get, home.history, home.edges, home.why):
            with pytest.raises(EngineError, match="never recorded"):
                asked(atom)
        assert home.recall("work").hits == ()


WRITER = """
import sys
from engine import Engine

with Engine.open(sys.argv[1], memory=sys.argv[2]) as memory:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(40):
        memory.add(f"note {number} of {sys.argv[2]}")
        if number % 10 == 0:
            memory.recall("note")
"""


def test_two_processes_write_to_two_memories_of_one_file(tmp_path: Path) -> None:
    """Two processes that write to two memories of one file leave each with exactly its own atoms."""
    url = f"sqlite:{tmp_path / 'shared.db'}"
    names = ("work", "home")
    run_at_once(WRITER, *((url, name) for name in names))
    for name in names:
        with Engine.open(url, create=False, memory=name) as memory:
            contents = {memory.get(one.id).content for one in memory.find(limit=1000)}
            assert contents == {f"note {number} of {name}" for number in range(40)}
            assert memory.verify().ok
