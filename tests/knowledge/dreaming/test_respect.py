"""The dreamer does not add what somebody removed."""

from __future__ import annotations

from tests.knowledge.dreaming.support import EAGER, LETTERS, added, dreamt, entity, is_live, left_in
from tests.support.engines import engine_on

FURTHER = "In April Ada Lovelace left Bristol, and Charles Babbage wept."


def test_a_tag_that_was_taken_off_stays_off() -> None:
    """A removed tag is not added again, and other atoms keep theirs."""
    with engine_on() as engine:
        ids = added(engine, *LETTERS)
        engine.dream(config=EAGER)
        engine.untag(ids[0], "bristol")
        added(engine, FURTHER)
        engine.dream(config=EAGER)
        engine.dream(config=EAGER.__class__(name_atoms_min=2, together_min=2, evidence=11))
        assert "Bristol" not in engine.get(ids[0]).tags
        assert "Bristol" in engine.get(ids[3]).tags


def test_a_tag_that_a_revision_leaves_out_stays_off() -> None:
    """A tag that a revision dropped is not added again."""
    with engine_on() as engine:
        ids = added(engine, *LETTERS)
        engine.dream(config=EAGER)
        engine.revise(ids[0], content=LETTERS[0] + " Indeed.", tags=["mine"])
        engine.dream(config=EAGER)
        assert "Bristol" not in engine.get(ids[0]).tags


def test_a_tag_that_somebody_put_back_stays() -> None:
    """A tag that a person removed and added again belongs to the person."""
    with engine_on() as engine:
        ids = added(engine, *LETTERS)
        engine.dream(config=EAGER)
        engine.untag(ids[0], "Bristol")
        engine.tag(ids[0], "Bristol")
        engine.dream(config=EAGER)
        assert "Bristol" in engine.get(ids[0]).tags


def test_an_edge_that_was_unlinked_stays_away() -> None:
    """A hidden mention is not added again, even if the text is read again."""
    with engine_on() as engine:
        ids = added(engine, *LETTERS)
        engine.dream(config=EAGER)
        engine.unlink(ids[0], "mentions", entity(engine, "Bristol"))
        engine.revise(ids[0], content=LETTERS[0] + " Indeed.")
        engine.dream(config=EAGER)
        edges = left_in(engine).edges
        assert (LETTERS[0] + " Indeed.", "mentions", "Bristol") not in edges
        assert (LETTERS[0] + " Indeed.", "mentions", "Ada Lovelace") in edges


def test_a_relation_that_was_unlinked_stays_away_in_both_directions() -> None:
    """A hidden relation is not added in either direction."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        engine.unrelate("Ada Lovelace", "related_to", "Charles Babbage")
        added(engine, FURTHER)
        engine.dream(config=EAGER)
        pair = {"Ada Lovelace", "Charles Babbage"}
        assert not [edge for edge in left_in(engine).edges if {edge[0], edge[2]} == pair]


def test_entities_that_were_said_not_to_be_related_are_not() -> None:
    """A relation hidden in the other direction also counts."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.relate("Charles Babbage", "related_to", "Ada Lovelace")
        engine.unrelate("Charles Babbage", "related_to", "Ada Lovelace")
        engine.dream(config=EAGER)
        assert not [edge for edge in left_in(engine).edges if edge[1] == "related_to"]


def test_an_entity_that_was_hidden_stays_hidden() -> None:
    """A hidden entity is not revived, gets no edges, and its name becomes no tag."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        engine.dream(config=EAGER)
        gone = entity(engine, "Bristol")
        engine.tombstone(gone)
        new, *_ = added(engine, FURTHER)
        engine.dream(config=EAGER)
        assert not is_live(engine, gone)
        assert "Bristol" not in engine.get(new).tags
        assert not [edge for edge in engine.edges(new) if edge.dst == gone]


def test_a_reverted_dream_is_not_dreamt_again() -> None:
    """After reverting all its events, another dream over the same texts appends nothing."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        before, start = left_in(engine), engine.size
        engine.dream(config=EAGER)
        engine.revert(start, actor="dreamer")
        assert left_in(engine).tags == before.tags
        assert not left_in(engine).edges
        size = engine.size
        engine.dream(config=EAGER.__class__(name_atoms_min=2, together_min=2, evidence=11))
        assert engine.size == size


def test_tags_of_people_are_never_taken_off() -> None:
    """A dream keeps all tags that an atom had before."""
    with engine_on() as engine:
        ids = added(engine, *LETTERS, tags=["mine"])
        engine.dream(config=EAGER)
        assert all("mine" in engine.get(atom).tags for atom in ids)
        assert {item.kind.name for item in dreamt(engine)}.isdisjoint({"TAGS_REMOVED", "EDGE_REMOVED"})
