"""The people of a conversation: who speaks, and whoever is addressed."""

from __future__ import annotations

import pytest

from engine.engine import Engine
from engine.knowledge.dreaming.dream_config import DreamConfig
from tests.knowledge.dreaming.support import entity, left_in
from tests.support.engines import engine_on

RULES = DreamConfig(pipeline="none")
GREETINGS = [
    line
    for number in range(30)
    for line in (f"Caroline: Hey Mel! {number} of us came.", f"Melanie: Thanks, Caroline! {number} is fine.")
]
"""Every text names both speakers, so both names are in more than a tenth of the texts."""


def talked(engine: Engine, *lines: str) -> None:
    """Add the lines of one conversation, and dream."""
    for number, line in enumerate(lines):
        engine.add(line, source="chat", sequence=number)
    engine.dream(config=RULES)


def test_whoever_speaks_is_an_entity() -> None:
    """Speakers are entities although nearly every text names them, but their names are no tags."""
    with engine_on() as engine:
        talked(engine, *GREETINGS)
        left = left_in(engine)
        assert left.entities == {"Caroline", "Melanie"}
        assert not any(
            tag.lower() in ("caroline", "melanie", "mel") for tags in left.tags.values() for tag in tags
        )


@pytest.mark.parametrize("name", ["Caroline", "Melanie", "Mel", "mel"])
def test_a_speaker_is_found_by_name_and_short_form(name: str) -> None:
    """Names and short forms lead to the person, whose relations are shown before her mentions."""
    with engine_on() as engine:
        talked(engine, *GREETINGS, "Caroline: my sister Ada came.")
        found = engine.explorer().explore_neighbors(name)
        assert found.node.name == ("Caroline" if name == "Caroline" else "Melanie")
        predicates = [one.predicate for one in found.triples]
        assert predicates == sorted(predicates, key=lambda one: one == "mentions")
        assert predicates[0] != "mentions"


def test_an_unlisted_name_that_speaks_is_a_person() -> None:
    """The label of a line is enough for a name that no list has."""
    with engine_on() as engine:
        talked(engine, *(f"{name}: so be it, {number}" for number in range(30) for name in ("Orrin", "Zeb")))
        assert left_in(engine).entities == {"Orrin", "Zeb"}


def test_a_short_form_that_fits_two_speakers_is_not_an_alias() -> None:
    """A short form that begins the names of two speakers is an alias of neither."""
    lines = [f"{name}: Hey Mel! {n}" for n in range(8) for name in ("Melanie", "Melissa", "Rob")]
    with engine_on() as engine:
        talked(engine, *lines)
        assert left_in(engine).entities >= {"Melanie", "Melissa", "Mel"}
        assert engine.get(entity(engine, "Melanie")).aliases == ()


def test_a_short_form_that_speaks_is_somebody_else() -> None:
    """Whoever has lines of their own is a person of their own."""
    lines = [
        line for n in range(8) for line in (f"Mel: hello {n}", f"Melanie: Hey Mel! {n}", f"Mel: {n} then")
    ]
    with engine_on() as engine:
        talked(engine, *lines)
        assert left_in(engine).entities == {"Mel", "Melanie"}


@pytest.mark.parametrize("text", ["Hopefully, it works.", "Update: it works.", "Ingredients: two eggs."])
def test_other_words_before_a_comma_or_colon_are_no_people(text: str) -> None:
    """An adverb before a comma and a heading before a colon are not names of people."""
    with engine_on() as engine:
        talked(engine, *(f"{text} {number}" for number in range(30)))
        assert left_in(engine).entities == set()
