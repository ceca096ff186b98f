"""The atoms that were added last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Add, Relate, Revise, Tombstone
from engine.base.errors import InvalidInputError
from engine.engine import Engine
from tests.support.engines import engine_on
from tests.support.workloads import commands


def texts(engine: Engine, **wanted: object) -> list[str]:
    """The contents of the atoms that were added last."""
    return [one.atom.content for one in engine.recent(**wanted)]  # type: ignore[arg-type]


@pytest.fixture
def engine() -> Engine:
    """A memory with three notes and a relation, the second note changed later."""
    engine = engine_on()
    first, second, _ = engine.apply(
        [Add("first", tags=["a"], created=0), Add("second"), Add("third", provenance="external")]
    )
    engine.apply([Relate("daemon", "uses", "json", source=first.subject)])
    engine.apply([Revise(second.subject, "second, revised")], actor="editor")
    return engine


def test_the_atom_added_last_comes_first(engine: Engine) -> None:
    """The order is that of the additions, not that of later changes or of the given times."""
    assert texts(engine) == ["third", "second, revised", "first"]


@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 6))
def test_pages_of_any_size_are_in_the_order_of_the_journal(seed: int, count: int, limit: int) -> None:
    """After any commands, the pages together are all live notes in the order of their additions."""
    engine = engine_on()
    for command in commands(count, seed):
        engine.apply([command])
    seqs: list[int] = []
    while page := engine.recent(limit=limit, offset=len(seqs)):
        seqs += [one.seq for one in page]
    kinds = {found.atom.kind for found in engine.find(limit=1000, form="full") if found.atom} - {"entity"}
    live = engine.find(limit=1000, kinds=sorted(kinds)) if kinds else []
    assert seqs == sorted((engine.history(found.id)[0].seq for found in live), reverse=True)


def test_time_and_actor_are_those_of_the_addition(engine: Engine) -> None:
    """A later revision, or a given time of creation, changes neither."""
    for one in engine.recent():
        added = engine.history(one.atom.id)[0]
        assert (one.seq, one.time, one.actor) == (added.seq, added.time, added.actor)


def test_filters_and_pages(engine: Engine) -> None:
    """Only atoms that pass are listed and counted; entities only if they are asked for."""
    assert texts(engine, provenances=["internal"]) == ["second, revised", "first"]
    assert texts(engine, provenances=["internal"], limit=1, offset=1) == ["first"]
    assert texts(engine, tags=["a"]) == ["first"]
    assert texts(engine, kinds=["entity"]) == ["json", "daemon"]
    assert texts(engine, offset=3) == []


def test_hidden_atoms_and_later_atoms_are_left_out(engine: Engine) -> None:
    """A hidden atom is not listed, and `as_of` lists the atoms of that moment."""
    before = engine.size - 1
    engine.apply([Tombstone(engine.recent(limit=1)[0].atom.id, "wrong"), Add("fourth")])
    assert texts(engine) == ["fourth", "second, revised", "first"]
    assert texts(engine, as_of=before) == ["third", "second, revised", "first"]


def test_a_category_that_the_text_decides_is_a_filter_too(engine: Engine) -> None:
    """An atom without a tag for a category is judged by its text, as in recall."""
    engine.apply([Add("The pump failed because the valve was stuck.")])
    found = texts(engine, categories=["causal"])
    assert found == ["The pump failed because the valve was stuck."]


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 10_001}, {"offset": -1}])
def test_bounds_are_checked(engine: Engine, wrong: dict[str, int]) -> None:
    """A number out of range is refused."""
    with pytest.raises(InvalidInputError):
        engine.recent(**wrong)  # type: ignore[arg-type]
