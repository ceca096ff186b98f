"""Queries about an earlier moment that are not questions: edges, titles, tags and near-duplicates."""

from __future__ import annotations

import pytest

from engine.base.errors import NotFoundError
from engine.engine import Engine
from tests.support.engines import engine_on
from tests.support.workloads import id_of

TEA, KETTLE, COPY = id_of(1), id_of(2), id_of(3)
TEXT = "The kettle in the kitchen is descaled with vinegar on the first Monday of each month."


@pytest.fixture(scope="module")
def changed() -> tuple[Engine, int]:
    """A memory in which everything changed after a moment, and this moment."""
    engine = engine_on()
    engine.add("Tea needs hot water.", id=TEA, title="Tea", tags=["drink"])
    engine.add(TEXT, id=KETTLE, title="Kettle", tags=["kitchen"])
    engine.add(TEXT.lower(), id=COPY, title="Kettle")
    engine.link(TEA, "references", KETTLE, 0.5)
    engine.link(TEA, "related_to", COPY)
    engine.link(COPY, "derived_from", KETTLE)
    moment = engine.size - 1
    engine.unlink(TEA, "references", KETTLE)
    engine.link(TEA, "references", KETTLE, 0.75)
    engine.unlink(TEA, "related_to", COPY)
    engine.unlink(COPY, "derived_from", KETTLE)
    engine.revise(KETTLE, title="Boiler")
    engine.untag(TEA, "drink")
    engine.tombstone(COPY)
    engine.add("Water.", id=id_of(4))
    engine.link(TEA, "references", id_of(4))
    return engine, moment


def test_the_edges_of_an_atom_are_those_of_the_moment(changed: tuple[Engine, int]) -> None:
    """With their weights then; also those that were removed since, and none that came later."""
    engine, moment = changed
    then = [(edge.type, edge.dst, edge.weight) for edge in engine.edges(TEA, as_of=moment)]
    now = [(edge.type, edge.dst, edge.weight) for edge in engine.edges(TEA)]
    assert then == [("related_to", COPY, 1.0), ("references", KETTLE, 0.5)]
    assert now == [("references", KETTLE, 0.75), ("references", id_of(4), 1.0)]
    assert engine.get_edge(TEA, "references", KETTLE, as_of=moment).weight == 0.5


def test_what_was_not_recorded_yet_is_not_found(changed: tuple[Engine, int]) -> None:
    """Neither an atom nor an edge."""
    engine, moment = changed
    with pytest.raises(NotFoundError):
        engine.edges(id_of(4), as_of=moment)
    with pytest.raises(NotFoundError):
        engine.get_edge(TEA, "references", id_of(4), as_of=moment)


def test_titles_tags_and_near_duplicates_are_those_of_the_moment(changed: tuple[Engine, int]) -> None:
    """As they were, not as they are."""
    engine, moment = changed
    assert engine.titles([KETTLE, id_of(4)], as_of=moment) == {KETTLE: "Kettle"}
    assert engine.titles([KETTLE]) == {KETTLE: "Boiler"}
    assert engine.tags(as_of=moment).people == {"drink": 1, "kitchen": 1}
    assert engine.tags().people == {"kitchen": 1}
    (group,) = engine.duplicates(as_of=moment)
    assert {group.keep.id, *(other.id for other in group.others)} == {KETTLE, COPY}
    assert engine.duplicates() == []


def test_the_origins_of_an_atom_are_those_of_the_moment(changed: tuple[Engine, int]) -> None:
    """Also those that it was parted from since."""
    engine, moment = changed
    assert [origin.id for origin in engine.why(COPY, as_of=moment)] == [COPY, KETTLE]
    assert [origin.id for origin in engine.why(COPY)] == [COPY]
