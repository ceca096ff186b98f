"""The names that a dream learns, and the aliases that it gives to persons."""

from __future__ import annotations

import pytest

from engine.engine import Engine
from engine.knowledge.dreaming.dream_config import DreamConfig
from tests.knowledge.dreaming.support import EAGER, added, entity, left_in
from tests.support.engines import engine_on

OKAFOR = (
    "In the morning Grace Okafor opened the workshop.",
    "We asked Ms Okafor about the lathe.",
    "The lathe belongs to Okafor now, I think.",
    "Then Grace laughed about it.",
)
"""Four spellings of one person's name."""


def learned(*texts: str, config: DreamConfig = EAGER) -> frozenset[str]:
    """The names of the entities after a dream over some texts."""
    with engine_on() as engine:
        added(engine, *texts)
        engine.dream(config=config)
        return left_in(engine).entities


def mentioning(engine: Engine, name: str) -> set[str]:
    """The texts that mention an entity."""
    return {edge[0] for edge in left_in(engine).edges if edge[1:] == ("mentions", name)}


def test_a_name_that_only_begins_sentences_is_learned_from_what_it_does() -> None:
    """A word that owns something or does something at the beginning of sentences is a name."""
    assert learned("Orrin is away.", "Orrin's van is red.", "Orrin wants it back.") == {"Orrin"}


def test_an_uncountable_noun_that_begins_sentences_is_no_name() -> None:
    """A noun that needs no article is not a name, although it begins sentences as a name does."""
    assert learned("Rain is coming.", "Rain has come.", "Rain stops soon.") == set()


def test_a_given_name_needs_no_other_sign() -> None:
    """A listed given name is learned from any two texts."""
    assert learned("Ellen and the kettle", "Ellen: no kettle today") == {"Ellen"}


@pytest.mark.parametrize("alias", ["Okafor", "Ms Okafor", "Grace", "Grace Okafor"])
def test_a_person_is_one_entity_with_aliases(alias: str) -> None:
    """First name, surname and title lead to the entity with the whole name."""
    with engine_on() as engine:
        added(engine, *OKAFOR)
        engine.dream(config=EAGER)
        assert left_in(engine).entities == {"Grace Okafor"}
        assert mentioning(engine, "Grace Okafor") == set(OKAFOR)
        assert engine.get(entity(engine, "Grace Okafor")).aliases == ("Grace", "Okafor", "Ms Okafor")
        assert engine.explorer().explore_neighbors(alias).node.name == "Grace Okafor"


def test_a_first_name_of_two_persons_is_no_alias() -> None:
    """A first name that two whole names have is not an alias of either."""
    texts = ("So Grace Okafor came.", "So Grace Hopper came.", "We saw Grace Okafor.", "We saw Grace Hopper.")
    with engine_on() as engine:
        added(engine, *texts, "And Grace sang.", "Now Grace sings.")
        engine.dream(config=EAGER)
        assert left_in(engine).entities == {"Grace", "Grace Hopper", "Grace Okafor"}
        assert all(engine.get(entity(engine, name)).aliases == () for name in left_in(engine).entities)


def test_a_place_is_no_alias_of_what_is_named_after_it() -> None:
    """A place and an organization whose name begins with the place are two entities."""
    found = learned(
        "We met in Cardiff.", "It rains in Cardiff.", "So Cardiff University wrote.", "At Cardiff University."
    )
    assert found == {"Cardiff", "Cardiff University"}


def test_a_whole_name_that_comes_later_becomes_an_alias() -> None:
    """If a short name is known already, the whole name is added to its entity."""
    with engine_on() as engine:
        added(engine, "So Grace came.", "Then Grace left.")
        engine.dream(config=EAGER)
        added(engine, "So Grace Okafor came back.", "I thanked Grace Okafor.")
        engine.dream(config=EAGER)
        assert left_in(engine).entities == {"Grace"}
        assert engine.get(entity(engine, "Grace")).aliases == ("Grace Okafor",)
        assert len(mentioning(engine, "Grace")) == 4


def test_an_alias_that_somebody_removed_stays_removed() -> None:
    """The dreamer adds no alias to an entity that somebody else has revised."""
    with engine_on() as engine:
        added(engine, *OKAFOR)
        engine.dream(config=EAGER)
        engine.revise(entity(engine, "Grace Okafor"), aliases=["Okafor"])
        added(engine, "I owe Grace a lathe.", "Now Ms Okafor wants it.")
        engine.dream(config=EAGER)
        assert engine.get(entity(engine, "Grace Okafor")).aliases == ("Okafor",)


def test_a_hidden_name_is_no_alias() -> None:
    """A name whose entity somebody hid does not come back as an alias."""
    with engine_on() as engine:
        added(engine, "So Grace came.", "Then Grace left.")
        engine.dream(config=EAGER)
        engine.tombstone(entity(engine, "Grace"))
        added(engine, *OKAFOR)
        engine.dream(config=EAGER)
        assert engine.get(entity(engine, "Grace Okafor")).aliases == ("Okafor", "Ms Okafor")


def test_a_revert_removes_names_and_aliases() -> None:
    """A revert of the dreamer's events leaves no entity and no edge."""
    with engine_on() as engine:
        added(engine, "So Grace came.", "Then Grace left.")
        size = engine.size
        engine.dream(config=EAGER)
        added(engine, *OKAFOR)
        engine.dream(config=EAGER)
        engine.revert(size, actor="dreamer")
        left = left_in(engine)
        assert (left.entities, left.edges) == (frozenset(), frozenset())


def test_a_chat_in_small_letters_mentions_names() -> None:
    """A text without capital letters mentions known names, but no words with another meaning."""
    with engine_on() as engine:
        chat = "hey is ellen still coming, and will it rain"
        added(engine, "We saw Ellen and Will there.", "So Ellen met Will again.", chat)
        engine.dream(config=EAGER)
        assert {edge[2] for edge in left_in(engine).edges if edge[0] == chat} == {"Ellen"}


def test_the_words_of_headings_are_no_names() -> None:
    """Common words with capital letters are not a name if only headings capitalise them."""
    texts = (
        "Complex Number Tables",
        "A Complex Number For All",
        "the number is complex",
        "no complex part",
        "a number",
    )
    assert learned(*texts) == set()


def test_a_name_that_links_spell_in_small_letters_is_a_name() -> None:
    """Links and items of lists in small letters do not speak against a name."""
    assert learned("We saw Orrin there.", "So Orrin met us.", "- [[orrin]]", "- orrin\n- ellen") == {"Orrin"}
