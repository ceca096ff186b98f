"""The actors of an atom's tags, and decisions on records that changed."""

from __future__ import annotations

from engine.base import limits
from engine.base.validation import atom_id
from engine.engine import Engine
from engine.knowledge.dreaming.dream_commands import DREAMER, Enrich, TagOwners, tag_owners
from engine.ledger.records import AtomRecord, read_atom
from tests.knowledge.dreaming.support import added
from tests.support.engines import backend_of, engine_on


def record_of(engine: Engine, atom: str) -> AtomRecord:
    """The record of an atom."""
    found = read_atom(backend_of(engine), atom_id(atom))
    assert found is not None
    return found


def whose(engine: Engine, atom: str) -> TagOwners:
    """The current tags of an atom by actor."""
    return tag_owners(backend_of(engine), record_of(engine, atom))


def enrich(engine: Engine, atom: str, *tags: str, categories: tuple[str, ...] = (), most: int = 8) -> Enrich:
    """Decide such a command as the dreamer, on the current content."""
    record = record_of(engine, atom)
    command = Enrich(record.id, record.payload_seq, tags, categories, (), most)
    engine.apply([command], actor=DREAMER)
    return command


def tags(*names: str) -> frozenset[str]:
    """A set of tag identities."""
    return frozenset(names)


def test_tags_are_whose_they_came_from() -> None:
    """Tags of the text and of people belong to others, tags of the dreamer to the dreamer."""
    with engine_on() as engine:
        (atom,) = added(engine, "a text", tags=["One"])
        enrich(engine, atom, "Two")
        engine.tag(atom, "Three")
        assert whose(engine, atom) == TagOwners(tags("one", "three"), tags("two"), tags())


def test_a_revision_that_repeats_a_tag_leaves_it_whose_it_was() -> None:
    """A revision that repeats the dreamer's tags does not change their actor."""
    with engine_on() as engine:
        (atom,) = added(engine, "a text", tags=["one"])
        enrich(engine, atom, "two")
        engine.revise(atom, content="another text")
        assert whose(engine, atom) == TagOwners(tags("one"), tags("two"), tags())


def test_a_tag_that_was_put_back_counts_as_not_removed() -> None:
    """A tag that somebody removed and added again belongs to others."""
    with engine_on() as engine:
        one, two = added(engine, "a text", "b text")
        for atom in (one, two):
            enrich(engine, atom, "tag")
            engine.untag(atom, "tag")
            assert whose(engine, atom) == TagOwners(tags(), tags(), tags("tag"))
        engine.tag(one, "tag")
        engine.revise(two, tags=["tag"])
        assert whose(engine, one) == whose(engine, two) == TagOwners(tags("tag"), tags(), tags())


def test_a_text_that_changed_meanwhile_gets_nothing() -> None:
    """A text that was revised after it was read gets no tags."""
    with engine_on() as engine:
        (atom,) = added(engine, "a text")
        record = record_of(engine, atom)
        engine.revise(atom, content="another text")
        command = Enrich(record.id, record.payload_seq, ("tag",), (), (), 8)
        engine.apply([command], actor=DREAMER)
        assert (engine.get(atom).tags, command.added) == ((), ((), 0))


def test_a_hidden_text_gets_nothing() -> None:
    """A text that was tombstoned after it was read does not change."""
    with engine_on() as engine:
        (atom,) = added(engine, "a text")
        engine.tombstone(atom)
        assert enrich(engine, atom, "tag").added == ((), 0)


def test_categories_are_left_to_who_gave_or_took_one() -> None:
    """If others added or removed a category, the dreamer adds none."""
    with engine_on() as engine:
        given, taken, free = added(engine, "a text", "b text", "c text")
        engine.tag(given, "Technical")
        enrich(engine, taken, categories=("Causal", "Temporal"))
        engine.untag(taken, "Causal")
        for atom in (given, taken, free):
            enrich(engine, atom, categories=("Causal", "Emotional"))
        assert engine.get(given).tags == ("Technical",)
        assert engine.get(taken).tags == ("Temporal",)
        assert engine.get(free).tags == ("Causal", "Emotional")


def test_the_limit_does_not_count_categories() -> None:
    """All categories are added beside as many other tags as the limit allows."""
    with engine_on() as engine:
        (atom,) = added(engine, "a text")
        enrich(engine, atom, "one", "two", "three", categories=("Causal", "Emotional"), most=2)
        assert engine.get(atom).tags == ("Causal", "Emotional", "one", "two")
        enrich(engine, atom, "four", categories=("Causal", "Emotional"), most=3)
        assert engine.get(atom).tags == ("Causal", "Emotional", "four", "one", "two")


def test_categories_come_all_or_not_at_all() -> None:
    """If an atom has almost as many tags as it may have, no category is added."""
    with engine_on() as engine:
        most = limits.TAGS_PER_ATOM_MAX
        many = [f"t{number}" for number in range(most - 1)]
        atom = engine.add("a text", tags=many).subject
        enrich(engine, atom, categories=("Causal", "Emotional"), most=2 * most)
        assert len(engine.get(atom).tags) == most - 1


def test_tags_of_earlier_dreams_count() -> None:
    """The dreamer's own earlier tags count for the limit."""
    with engine_on() as engine:
        (atom,) = added(engine, "a text", tags=["mine"])
        enrich(engine, atom, "one", "two", most=3)
        enrich(engine, atom, "three", "four", most=3)
        assert set(engine.get(atom).tags) == {"mine", "one", "two"}
