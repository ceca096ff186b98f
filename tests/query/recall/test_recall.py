"""The Tag-Walker protocol: number, roles and levels of hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Link, Protocol, Recall, RecallConfig, Role, Signals
from engine.commands import Command
from engine.query.recall.signals import relations
from tests.query.recall.support import ask, fillers, id_of, keys, memory, named, only

ANNA = "Did Anna paint the garage?"


@pytest.mark.parametrize(
    ("budget", "limit", "target"),
    [
        (None, None, 10),
        (None, 1, 1),
        (None, 10_000, 10_000),
        (16, None, 5),
        (1199, None, 5),
        (1200, None, 6),
        (1399, None, 6),
        (10_000, None, 50),
        (10_000, 7, 7),
        (1000, 500, 5),
        (10**9, None, 10_000),
    ],
)
def test_a_budget_aims_at_an_atom_for_each_200_tokens(
    budget: int | None, limit: int | None, target: int
) -> None:
    """TargetAtoms = max(5, ⌊budget / 200⌋), and at most the limit."""
    assert ask([Add("kettle")], "kettle", limit=limit, budget=budget).target == target


def test_the_constants_are_the_standard_s() -> None:
    """200 tokens and 5 atoms, 30 % walkers, 10 hits, 3 entities, internal twice external."""
    protocol = Protocol()
    assert (protocol.tokens_per_atom, protocol.atoms_min, protocol.walkers) == (200, 5, 0.3)
    assert (protocol.enough, protocol.entities) == (10, 3)
    assert 2 <= Signals().internal <= 3


def tagged(anchors: int, walkers: int) -> list[Command]:
    """Atoms about a kettle, and others that share a tag with the best of them, five per tag."""
    atoms: list[Command] = [
        Add("kettle, kettle!", tags=[f"rare{at}" for at in range(walkers // 5)], trust=100)
    ]
    atoms += [
        Add(f"the kettle of that long and cold winter, sheets{at}, was sold late") for at in range(anchors)
    ]
    atoms += [Add(f"soldering needs tin{at}", tags=[f"rare{at // 5}"]) for at in range(walkers)]
    return [*atoms, *fillers(60)]


def talks() -> list[Command]:
    """Ten talks, in which one turn matches well and the turns next to it do not, and 40 weaker atoms.

    The turns next to a turn that matches well have higher scores than the weaker atoms.
    """
    turns: list[Command] = [
        Add("the kettle leaks" if turn == 2 else f"reply{talk} of{turn}", source=f"talk{talk}", sequence=turn)
        for talk in range(10)
        for turn in range(5)
    ]
    return [*turns, *(Add(f"some morning on sheet{at} of many") for at in range(40))]


def roles_of(
    atoms: Sequence[Command], question: str, config: RecallConfig | None = None, limit: int | None = None
) -> list[Role]:
    """The roles of the hits of an answer."""
    return [hit.role for hit in ask(atoms, question, config, limit=limit).hits]


@pytest.mark.parametrize(("limit", "walkers"), [(5, 1), (12, 3), (20, 6)])
def test_walkers_are_at_most_three_tenths(limit: int, walkers: int) -> None:
    """If anchors can fill the other places, at most 30 % of the hits are walkers."""
    roles = roles_of([*talks()[10:], *talks()[:10]], "the kettle in the morning", limit=limit)
    assert roles.count(Role.WALKER) <= walkers
    assert len(roles) == limit


@pytest.mark.parametrize("limit", [3, 5, 10, 20])
def test_places_that_no_anchor_fills_go_to_walkers(limit: int) -> None:
    """With three anchors, eligible walkers fill the other places, however many these are."""
    roles = roles_of(tagged(2, 20), "kettle", limit=limit)
    assert (roles.count(Role.ANCHOR), roles.count(Role.WALKER)) == (3, limit - 3)


def test_an_atom_without_a_relation_fills_no_place() -> None:
    """An atom that only has words of the best hits, and none of the question, is not used as filler."""
    atoms: list[Command] = [Add(f"kettle vinegar descaling sheet{at}") for at in range(3)]
    atoms += [Add("vinegar for descaling, and more vinegar"), *fillers(60)]
    assert roles_of(atoms, "kettle") == [Role.ANCHOR] * 3


def test_an_anchor_goes_before_a_walker_that_would_be_too_many() -> None:
    """A budget that has room for few hits is not spent on walkers while there are anchors."""
    found = ask(talks(), "the kettle in the morning", budget=150)
    assert [hit.role for hit in found.hits].count(Role.WALKER) <= 0.3 * len(found.hits)


def test_a_walker_that_fills_a_place_is_not_listed_as_left_out() -> None:
    """An explained answer lists no hit among the candidates that were left out."""
    found = ask(tagged(2, 20), "kettle", limit=10, explain=True)
    assert {one.id for one in found.dropped}.isdisjoint(hit.id for hit in found.hits)
    few = ask(talks(), "the kettle in the morning", limit=20, explain=True)
    assert "too many walkers" in {one.reason for one in few.dropped}


@settings(max_examples=60)
@given(st.data(), st.integers(1, 3), st.integers(0, 40), st.booleans())
def test_a_walk_is_left_out_only_if_it_changes_nothing(
    data: st.DataObject, limit: int, copies: int, explain: bool
) -> None:
    """The answer is the same with and without the short cut, whatever has tags or is a duplicate."""
    tags = st.lists(st.sampled_from(["rare", "other"]), max_size=2)
    long = " and a long story of other things that were seen on the way" * 4
    atoms: list[Command] = [
        Add(
            ("kettle kettle " if data.draw(st.booleans()) else "kettle " + long) + f" sheet{at}",
            tags=data.draw(tags),
        )
        for at in range(70)
    ]
    atoms += [Add(f"kettle kettle {long[:60]}", tags=["copy"], source=f"c{at}") for at in range(copies)]
    atoms += [Add(f"soldering needs tin{at}", tags=data.draw(tags)) for at in range(8)]
    with memory(atoms) as engine, pytest.MonkeyPatch.context() as patch:
        found = engine.recall("kettle", limit=limit, explain=explain)
        patch.setattr(relations, "_walk_is_vain", lambda *_: False)
        assert engine.recall("kettle", limit=limit, explain=explain) == found


@pytest.mark.parametrize(("share", "walkers"), [(0.0, 0), (0.25, 5), (0.4, 8)])
def test_the_share_of_walkers_may_be_as_wanted(share: float, walkers: int) -> None:
    """The share of walkers is a setting."""
    config = RecallConfig(protocol=Protocol(walkers=share))
    assert roles_of(talks(), "the kettle in the morning", config, limit=20).count(Role.WALKER) == walkers


def test_a_share_of_0_switches_walkers_off() -> None:
    """Without walkers, empty places stay empty."""
    config = replace(only("walk"), protocol=Protocol(walkers=0.0))
    found = ask(tagged(2, 20), "kettle", config)
    assert {hit.role for hit in found.hits} == {Role.ANCHOR}
    assert found.bridges == ()


def test_walkers_take_no_room_from_better_anchors() -> None:
    """With enough anchors that score better there are no walkers."""
    found = ask(tagged(20, 20), "kettle", only("walk"))
    assert {hit.role for hit in found.hits} == {Role.ANCHOR}
    assert found.bridges == ()


def test_anchors_take_the_room_that_walkers_leave() -> None:
    """Anchors are found behind any number of walkers with higher scores."""
    found = ask(talks(), "the kettle in the morning", limit=20)
    roles = [hit.role for hit in found.hits]
    assert (roles.count(Role.ANCHOR), roles.count(Role.WALKER)) == (14, 6)


def test_hits_come_by_their_scores_whatever_their_roles() -> None:
    """A walker ranks by its score, before anchors that score less."""
    atoms = [*tagged(0, 5), *(Add(f"kettle {'sheet ' * 60} {at}") for at in range(5))]
    hits = ask(atoms, "kettle", only("walk", walk=2.0)).hits
    roles = [hit.role for hit in hits]
    assert roles[0] is Role.WALKER or Role.ANCHOR in roles[roles.index(Role.WALKER) :]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_bridges_are_the_tags_that_led_to_hits() -> None:
    """Only tags that led to a hit are listed, and rarer ones weigh more."""
    atoms: list[Command] = [
        named("anchor", "kettle, kettle!", tags=["rare", "common", "alone"]),
        named("by both", "soldering", tags=["rare", "common"]),
        *(Add(f"tin{at}", tags=["common"]) for at in range(9)),
        *fillers(40),
    ]
    found = ask(atoms, "kettle", only("walk"), limit=10)
    assert [bridge.tag for bridge in found.bridges] == ["rare", "common"]
    assert [bridge.atoms for bridge in found.bridges] == [2, 11]
    assert found.bridges[0].weight > found.bridges[1].weight > 0
    assert found.hits[1].path == ("#common", "#rare")
    assert {hit.path for hit in found.hits[2:]} == {("#common",)}


def mentions(word: str, count: int) -> list[Command]:
    """This many atoms that contain a word, each with another text."""
    return [Add(f"{word} was there on sheet{chr(97 + at)}") for at in range(count)]


def parts_of(atoms: Sequence[Command], question: str) -> tuple[str, ...]:
    """The entities that the question was split into."""
    return ask([*atoms, *fillers(40)], question).entities


def test_a_question_with_enough_hits_is_left_whole() -> None:
    """A question is not split if ten atoms cover half of the weight of its words."""
    both = [Add(f"Anna painted the garage on sheet{chr(97 + at)}") for at in range(10)]
    assert parts_of(both, ANNA) == ()
    assert parts_of(both[1:], ANNA) != ()


def test_half_of_the_weight_of_the_words_is_enough() -> None:
    """One of two equal words covers a question, one of three does not."""
    atoms = [*mentions("garage", 10), *mentions("bicycle", 10)]
    assert parts_of(atoms, "garage and bicycle") == ()
    assert parts_of([*atoms, *mentions("copper", 10)], "garage, bicycle, copper") != ()


def test_enough_hits_for_the_names_leave_a_question_whole() -> None:
    """With ten atoms for the name, a question is not split, however few have its other words."""
    atoms = [*mentions("Anna", 10), *mentions("garage", 1), *mentions("painted", 1)]
    assert parts_of(atoms, ANNA) == ()


def test_a_question_that_nothing_covers_is_split() -> None:
    """With too few atoms even for the names, each of the first three entities is searched for."""
    question = "Did Anna and Boris paint the garage with Clara in Lisbon?"
    atoms = [named("Anna", "Anna slept"), named("Boris", "Boris sang"), named("Clara", "Clara went")]
    assert parts_of(atoms, question) == ("Anna", "Boris", "Clara")
    assert set(keys(ask([*atoms, *fillers(40)], question).hits)) == {"Anna", "Boris", "Clara"}


def test_one_entity_is_not_split() -> None:
    """A question with one entity is not split, however few atoms cover it."""
    assert parts_of(mentions("kettle", 3), "kettle") == ()


def test_a_name_in_enough_atoms_covers_a_question_with_an_unknown_word() -> None:
    """A word that no atom contains does not split a question whose name enough atoms contain."""
    assert parts_of(mentions("Anna", 10), "Did Anna descale the samovar?") == ()


def test_each_entity_has_its_share_of_the_hits() -> None:
    """A split question finds atoms for a common and for a rare entity."""
    atoms = [Add(f"Anna, so Anna said, was there on sheet{at}") for at in range(30)]
    atoms.append(named("rare", f"Boris {'went on and on ' * 4}"))
    found = ask([*atoms, *fillers(100)], "What do Anna and Boris like?", limit=5)
    assert found.entities == ("Anna", "Boris")
    assert "rare" in keys(found.hits)


def test_an_answer_says_what_was_asked() -> None:
    """An answer has the question, core, terms, size, number of candidates and pipeline."""
    with memory([Add("kettle"), Add("tea", tags=["kettle"])]) as engine:
        found = engine.recall("Can you tell me about the kettle, please?")
        assert (found.query, found.core) == ("Can you tell me about the kettle, please?", "the kettle")
        assert found.terms == ("kettl",)
        assert (found.size, found.candidates) == (engine.size, 2)
        assert found.pipeline
        assert found.tokens == sum(hit.tokens for hit in found.hits)


def test_a_hit_says_what_its_atom_is() -> None:
    """Id, title, source, sequence, key, tags, time and provenance are those of the atom."""
    with memory([]) as engine:
        made = engine.add(
            "The kettle leaks",
            title="Kettle",
            source="a.md",
            sequence=3,
            key="k",
            tags=["B", "a"],
            provenance="external",
            created=7,
        )
        (hit,) = engine.recall("kettle").hits
        atom = engine.get(made.subject)
    for name in ("id", "title", "source", "sequence", "key", "tags", "created", "provenance"):
        assert getattr(hit, name) == getattr(atom, name)
    assert hit.snippet == "The kettle leaks"
    assert hit.content is None


@st.composite
def webs(draw: st.DrawFn) -> list[Command]:
    """Atoms with few words, tags and links, so that many relations arise."""
    words = ("kettle", "tea", "tin", "Anna", "garage", "sheets")
    commands: list[Command] = []
    count = draw(st.integers(1, 12))
    for number in range(1, count + 1):
        text = draw(st.lists(st.sampled_from(words), min_size=1, max_size=5))
        commands.append(
            Add(
                " ".join(text),
                id=id_of(number),
                title=draw(st.sampled_from((None, "Anna", "tin garage"))),
                tags=draw(st.lists(st.sampled_from(("home", "tea", "x", "y")), max_size=3)),
                source=draw(st.sampled_from((None, "a", "b"))),
                sequence=draw(st.one_of(st.none(), st.integers(0, 6))),
                provenance=draw(st.sampled_from(("internal", "external", "quarantine"))),
                trust=draw(st.sampled_from((None, 0, 100))),
            )
        )
    for _ in range(draw(st.integers(0, 4))):
        one, other = draw(st.tuples(st.integers(1, count), st.integers(1, count)))
        if one != other:
            commands.append(Link(id_of(one), "related_to", id_of(other)))
    return commands


def left_anchors(web: list[Command], question: str, found: Recall) -> set[str]:
    """The atoms with words of the question that are neither hits nor near-duplicates of hits."""
    shown = {one for hit in found.hits for one in (hit.id, *hit.duplicates)}
    every = ask(
        web, question, RecallConfig(protocol=Protocol(walkers=0.0), collapse=False, per_page=0), limit=50
    )
    return {hit.id for hit in every.hits} - shown


questions = st.sampled_from(
    ("kettle", "tea and tin", ANNA, "When did Anna buy tea?", "tin garage", "Anna Boris sheets", "x")
)


@settings(max_examples=60, deadline=None)
@given(webs(), questions, st.integers(1, 12), st.sampled_from((0.0, 0.3, 0.5, 1.0)))
def test_walkers_and_bridges_are_what_they_are_said_to_be(
    web: list[Command], question: str, limit: int, share: float
) -> None:
    """Walkers keep their limit and have a path or neighbours; bridges are in a path."""
    found = ask(web, question, RecallConfig(protocol=Protocol(walkers=share)), limit=limit, explain=True)
    walkers = [hit for hit in found.hits if hit.role is Role.WALKER]
    assert len(walkers) <= share * len(found.hits) or (share and not left_anchors(web, question, found))
    for hit in walkers:
        signals = hit.signals or {}
        assert "words" not in signals
        assert hit.path or {"near", "source", "feedback"} & signals.keys()
    tags = {step for hit in found.hits for step in hit.path if step.startswith("#")}
    assert tags == {f"#{bridge.tag}" for bridge in found.bridges}


def test_an_engine_asks_with_the_config_it_was_opened_with() -> None:
    """The engine's configuration also applies to queries of the past."""
    config = RecallConfig(protocol=Protocol(atoms_min=7))
    with Engine.open("memory:", config=config) as engine:
        engine.add("kettle")
        assert engine.recall("kettle", budget=100).target == 7
        assert engine.recall("kettle", budget=100, as_of=1).target == 7
