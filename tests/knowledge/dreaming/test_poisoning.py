"""External text, and single texts, cannot make the dreamer exceed its limits."""

from __future__ import annotations

from engine.knowledge.dreaming.dream_config import DreamConfig
from tests.knowledge.dreaming.support import EAGER, LETTERS, added, left_in
from tests.support.engines import engine_on

FLOOD = " ".join(f"We met Lord Fake{chr(97 + n % 26)}{chr(97 + n // 26)}." for n in range(400))


def test_names_from_outside_are_not_learned() -> None:
    """Names in external and quarantined texts do not become entities."""
    with engine_on() as engine:
        added(
            engine, *(f"{number}. Ask Mallory Smith for help." for number in range(30)), provenance="external"
        )
        added(
            engine, *(f"{number}. Only Mallory Smith knows." for number in range(30)), provenance="quarantine"
        )
        engine.dream(config=EAGER)
        assert not left_in(engine).entities


def test_a_name_from_outside_does_not_spread_to_our_own() -> None:
    """A name in one internal and many external texts is not learned."""
    with engine_on() as engine:
        own, *_ = added(engine, "Mallory Smith rang.")
        added(
            engine, *(f"{number}. Ask Mallory Smith for help." for number in range(30)), provenance="external"
        )
        engine.dream(config=EAGER)
        assert engine.get(own).tags == ()
        assert not left_in(engine).edges


def test_a_flood_from_outside_does_not_take_our_names_away() -> None:
    """Many external texts with a name do not remove it from internal texts."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        flood = [f"{number}. Buy Bristol now." for number in range(40)]
        added(engine, *flood, provenance="external")
        engine.dream(config=EAGER)
        left = left_in(engine)
        assert "Bristol" in left.tags[LETTERS[0]]
        assert not any("Bristol" in left.tags[text] for text in flood)
        assert not any(edge[0] in flood for edge in left.edges)


def test_an_external_text_gets_names_that_are_known() -> None:
    """Names learned from internal texts are added to a few external ones."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        added(engine, "A guide to Bristol.", provenance="external")
        engine.dream(config=EAGER)
        assert ("A guide to Bristol.", "mentions", "Bristol") in left_in(engine).edges


def test_texts_in_quarantine_are_left_alone() -> None:
    """A text in quarantine gets no tag and no edge."""
    with engine_on() as engine:
        added(engine, *LETTERS)
        atom, *_ = added(engine, "A guide to Bristol.", provenance="quarantine")
        engine.dream(config=EAGER)
        assert engine.get(atom).tags == ()
        assert engine.edges(atom) == []


def test_an_entity_from_outside_is_not_spread() -> None:
    """An external entity is not a known name."""
    with engine_on() as engine:
        added(engine, "the red kettle leaks", "a red kettle again")
        engine.add("red kettle", kind="entity", key="entity:red kettle", provenance="external")
        engine.dream(config=EAGER)
        assert not left_in(engine).edges


def test_a_flood_in_one_text_teaches_nothing() -> None:
    """Hundreds of made-up names in one text become neither entities nor tags."""
    with engine_on() as engine:
        added(engine, FLOOD, *LETTERS)
        engine.dream(config=EAGER)
        left = left_in(engine)
        assert left.entities == {"Ada Lovelace", "Bristol", "Charles Babbage"}
        assert len(left.tags[FLOOD]) <= EAGER.tags_per_atom


def test_a_text_that_is_there_often_teaches_within_bounds() -> None:
    """Copies of a flood teach a limited number of names and relations."""
    config = DreamConfig(name_atoms_min=2, together_min=2)
    with engine_on() as engine:
        added(engine, *(f"{FLOOD} {number}" for number in range(4)))
        engine.dream(config=config)
        left = left_in(engine)
        assert len(left.entities) <= config.candidates_per_atom
        for text in left.tags:
            assert len([edge for edge in left.edges if edge[0] == text]) <= config.mentions_per_atom
        related = [edge for edge in left.edges if edge[1] == "related_to"]
        most = (config.mentions_per_atom - 1) / config.together_share
        assert all(
            len([edge for edge in related if name in (edge[0], edge[2])]) <= most for name in left.entities
        )


def test_a_text_is_read_as_data() -> None:
    """Commands and markup in a text have no effect on other texts."""
    said = "engine tag 1f0c evil; Tag everything as #evil! (.*)+ {0} %s [[Evil Twin]] mentions: Bristol"
    with engine_on() as engine:
        other, *_ = added(engine, "Nothing of note.")
        added(engine, said, *LETTERS)
        engine.dream(config=EAGER)
        left = left_in(engine)
        assert engine.get(other).tags == ()
        assert left.entities == {"Ada Lovelace", "Bristol", "Charles Babbage"}
        assert not any("evil" in tag.lower() for tags in left.tags.values() for tag in tags)
