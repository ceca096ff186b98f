"""Signals from other atoms: neighbours, sources, titles, edges and tags, each tested alone."""

from __future__ import annotations

from typing import Any

import pytest

from engine import Add, Link, Recall, Revise, Role, Tombstone, Unlink
from engine.commands import Command
from tests.query.recall.support import ask, fillers, id_of, keys, named, only

PAINT = "Which colour did Anna paint the garage?"


def turn(key: str, content: str, sequence: int | None, source: str = "talk", **more: Any) -> Add:
    """One turn of a conversation."""
    return named(key, content, source=source, sequence=sequence, **more)


def ahead(found: Recall, one: str, other: str) -> bool:
    """Return True if the first atom is a hit and ranks before the other."""
    ranks = {key: rank for rank, key in enumerate(keys(found.hits))}
    return one in ranks and ranks[one] < ranks.get(other, len(ranks))


def answers(*, after: int = 1, **more: Any) -> list[Add]:
    """A turn that asks, one that answers it this many turns later, and a short unrelated one."""
    return [
        turn("asked", "Anna, did you paint the garage?", 0),
        turn("answer", "Yes, in a colour like that of the sea", after, **more),
        turn("other", "Which colour, please?", 9, "elsewhere"),
        *fillers(3),
    ]


def test_the_answer_is_found_beside_the_question() -> None:
    """`near`: a turn after the one with the question's words is found."""
    assert ahead(ask(answers(), PAINT, only("near", near=0.0)), "other", "answer")
    assert ahead(ask(answers(), PAINT, only("near")), "answer", "other")


def test_a_neighbour_without_any_word_is_found() -> None:
    """`near`: the neighbour of a hit is a hit even if it contains no word of the question."""
    atoms = [turn("asked", "Anna, did you paint the garage?", 0), turn("answer", "Yes: like the sea", 1)]
    assert keys(ask(atoms, PAINT, only("near", near=0.0)).hits) == ["asked"]
    hits = ask(atoms, PAINT, only("near")).hits
    assert keys(hits) == ["asked", "answer"]
    assert [hit.role for hit in hits] == [Role.ANCHOR, Role.WALKER]


def test_neighbours_lend_only_what_an_atom_lacks() -> None:
    """`near`: of two neighbours with the same word, neither gains; one without the word gains."""
    atoms = [
        turn("first", "The kettle boils", 0),
        turn("second", "The kettle whistles", 1),
        turn("third", "Nobody hears it", 2),
        *fillers(3),
    ]
    hits = ask(atoms, "kettle", only("near"), explain=True).hits
    assert {hit.key: "near" in (hit.signals or {}) for hit in hits} == {
        "first": False,
        "second": False,
        "third": True,
    }


def test_texts_on_one_subject_do_not_raise_each_other() -> None:
    """`near`: an atom with two words ranks before neighbours that both have one of these words."""
    atoms = [
        *(turn(f"near{at}", f"A kettle{' ' * at}", at, "kettles") for at in range(3)),
        turn("alone", "A blue kettle", 0, "elsewhere"),
        *fillers(3),
    ]
    assert keys(ask(atoms, "blue kettle", only("near")).hits)[0] == "alone"


def test_a_weak_match_lends_less() -> None:
    """`near`: beside an atom with a third of the best score, an atom gains less than a third as much."""
    atoms = [
        turn("strong", "A blue kettle whistles", 0, "one"),
        turn("beside strong", "Nobody hears it", 1, "one"),
        turn("weak", "A kettle is a pot", 0, "two"),
        turn("beside weak", "Somebody hears that", 1, "two"),
        *fillers(3),
    ]
    hits = ask(atoms, "blue kettle whistles", only("near"), explain=True).hits
    gains = {hit.key: (hit.signals or {}).get("near", 0.0) for hit in hits}
    words = {hit.key: (hit.signals or {}).get("words", 0.0) for hit in hits}
    ratio = gains["beside weak"] / gains["beside strong"]
    assert ratio == pytest.approx((words["weak"] / words["strong"]) ** 1.5, rel=1e-4)


def test_a_large_source_lends_less() -> None:
    """`source`: an atom of a source of 50 atoms gains about half as much as an atom of a source of 25."""
    gains = []
    for count in (25, 50):
        atoms = [turn("asked", "kettle", 0), *(turn(f"{at}", f"tea{at}", at) for at in range(1, count))]
        hits = {hit.key: hit for hit in ask(atoms, "kettle tea1", only("source"), explain=True).hits}
        gains.append((hits["1"].signals or {})["source"] / (hits["asked"].signals or {})["words"])
    assert gains[1] == pytest.approx(gains[0] / 2, rel=0.01)


def test_the_turn_after_the_next_lends_less() -> None:
    """`near`: the second turn on either side gains 0.6 of the first; the third gains nothing."""
    atoms = [turn(f"{at}", "kettle" if at == 5 else f"turn{at}", at) for at in range(11)]
    hits = ask(atoms, "kettle", only("near"), limit=20, explain=True).hits
    near = {int(hit.key or ""): (hit.signals or {}).get("near", 0.0) for hit in hits}
    assert sorted(near) == [3, 4, 5, 6, 7]
    assert near[4] == near[6] == pytest.approx(hits[0].score / 2, abs=2e-6)
    assert near[3] == near[7] == pytest.approx(0.6 * near[4], abs=2e-6)
    assert near[5] == 0.0


@pytest.mark.parametrize("more", [{"title": "Another heading"}, {"source": "talk/2"}, {"sequence": None}])
def test_what_is_no_neighbour_lends_nothing(more: dict[str, Any]) -> None:
    """`near`: another heading, another source and an atom without a position pass nothing on."""
    atoms = [
        named("asked", "Anna, did you paint the garage?", source="talk", sequence=0),
        turn("answer", "Yes: like the sea", **({"sequence": 1} | more)),
    ]
    assert keys(ask(atoms, PAINT, only("near")).hits) == ["asked"]


def test_all_that_stand_in_one_place_lend() -> None:
    """`near`: each of several atoms with one sequence passes its own words on to the next atom."""
    atoms = [turn("one", "kettle", 0), turn("two", "garage", 0), turn("answer", "leaks", 1)]
    one, _, answer = ask(atoms, "kettle garage", only("near")).hits
    assert answer.score == pytest.approx(2 * 0.5 * one.score, abs=2e-6)


def test_a_long_atom_stands_by_itself() -> None:
    """`near`: an atom of 60 terms gains a quarter of what an atom of 30 terms gains."""
    for terms, share in ((30, 1.0), (60, 0.25)):
        atoms = [turn("asked", "kettle", 0), turn("long", "tealeaf " * terms, 1)]
        first, second = ask(atoms, "kettle", only("near")).hits
        assert second.score == pytest.approx(0.5 * share * first.score, abs=2e-6)


def test_an_atom_with_a_title_is_lent_half() -> None:
    """`near`: an atom with a title gains half as much."""
    atoms = [turn("asked", "kettle", 0, title="Kitchen"), turn("answer", "it leaks", 1, title="Kitchen")]
    first, second = ask(atoms, "kettle", only("near")).hits
    assert second.score == pytest.approx(0.25 * first.score, abs=2e-6)


@pytest.mark.parametrize("gone", [Tombstone(id_of(1)), Revise(id_of(1), content="Hello?")])
def test_what_is_gone_lends_nothing(gone: Command) -> None:
    """`near`, `source`: tombstoned turns and old versions of a turn pass nothing on."""
    asked = Add("Anna, did you paint the garage?", id=id_of(1), source="talk", sequence=0)
    atoms = [asked, turn("answer", "Yes, like the sea", 1), turn("later", "Fine", 2)]
    assert len(ask(atoms, PAINT).hits) == 3
    assert ask([*atoms, gone], PAINT).hits == ()


def test_a_turn_stands_between_its_neighbours_however_often_it_was_revised() -> None:
    """`near`: seven old versions of a turn do not separate its neighbours."""
    atoms: list[Command] = [turn("asked", "kettle", 0), turn("far", "tea leaves", 2)]
    atoms.append(Add("hello", id=id_of(1), source="talk", sequence=1))
    atoms += [Revise(id_of(1), content=f"hello number{version}") for version in range(7)]
    assert keys(ask(atoms, "kettle", only("near")).hits) == ["asked", None, "far"]


def test_one_sequence_like_a_time_leaves_every_other_neighbour() -> None:
    """`near`: a sequence as large as a time in µs does not affect other conversations."""
    atoms = [*answers(), turn("time", "kettle", 1_700_000_000_000_000, "log")]
    assert ahead(ask(atoms, PAINT, only("near")), "answer", "other")


def test_a_source_that_speaks_of_it_lends_to_its_atoms() -> None:
    """`source`: an atom of the same conversation ranks before one without a source."""
    atoms = answers(after=40)
    assert ahead(ask(atoms, PAINT, only("source", source=0.0)), "other", "answer")
    assert ahead(ask(atoms, PAINT, only("source")), "answer", "other")


def test_an_atom_alone_in_its_source_lends_itself_nothing() -> None:
    """`source`: an atom that is alone in its source gains nothing."""
    atoms = [named("bare", "kettle", 1), named("placed", "kettle", 2, source="a.md", sequence=0)]
    first, second = ask(atoms, "kettle", only("source")).hits
    assert (first.key, first.score) == ("bare", second.score)


def test_a_collection_lends_nothing() -> None:
    """`source`: a source of over 200 atoms passes nothing on."""
    for count, lent in ((200, True), (201, False)):
        atoms = [
            turn("asked", "kettle", 0),
            *(turn(f"{at}", f"tea number{at}", at) for at in range(1, count)),
        ]
        hits = ask(atoms, "kettle tea", only("source"), explain=True).hits
        assert any("source" in (hit.signals or {}) for hit in hits) == lent


def test_an_atom_whose_title_is_asked_for_comes_first() -> None:
    """`phrase`: an atom whose whole title is in the question comes first."""
    atoms = [
        named("about", "Blue lantern, blue lantern: the society!"),
        named("titled", "It was begun in a shed.", title="Blue Lantern Society"),
        *fillers(40),
    ]
    question = "Who founded the Blue Lantern Society?"
    assert keys(ask(atoms, question, only("phrase", phrase=0.0)).hits)[0] == "about"
    assert keys(ask(atoms, question, only("phrase")).hits)[0] == "titled"


@pytest.mark.parametrize("title", ["Blue Lantern Society (Leeds)", "the blue, lantern SOCIETY!"])
def test_titles_are_compared_by_their_terms(title: str) -> None:
    """`phrase`: case, punctuation and a parenthesis in the title do not matter."""
    atoms = [
        named("about", "Blue lantern, blue lantern: the society!"),
        named("titled", "It was begun in a shed.", title=title),
        *fillers(40),
    ]
    question = (
        "Who founded the Blue Lantern Society?" if "the" not in title else "Is it the blue lantern society"
    )
    assert keys(ask(atoms, question, only("phrase")).hits)[0] == "titled"


@pytest.mark.parametrize("title", ["Lantern Society", "Lantern", "Blue", "Blue Lantern"])
def test_only_the_longest_title_counts(title: str) -> None:
    """`phrase`: a title within a longer one, and half of a title, do not count."""
    atoms = [
        named("part", "A shed.", title=title),
        named("half", "A house.", title="Blue Lantern Society of Leeds"),
        named("whole", "It was begun in a shed.", title="Blue Lantern Society"),
    ]
    hits = ask(atoms, "Who founded the Blue Lantern Society?", only("phrase"), explain=True).hits
    assert [hit.key for hit in hits if "phrase" in (hit.signals or {})] == ["whole"]


def test_an_often_revised_atom_keeps_its_title() -> None:
    """`phrase`: the weight of a title does not depend on the number of revisions."""
    title = "Blue Lantern Society"
    atoms: list[Command] = [Add("It was begun.", id=id_of(1), title=title), *fillers(200)]
    atoms += [Revise(id_of(1), content=f"It was begun in shed{version}.") for version in range(4)]
    for revisions in (0, 1, 4):
        history = atoms[: 201 + revisions]
        (hit,) = ask(history, title, only("phrase"), explain=True).hits
        words, *more = (hit.signals or {}).values()
        assert more == pytest.approx([0.4 * words], abs=2e-6)


def test_tombstoned_atoms_of_a_title_do_not_count() -> None:
    """`phrase`: three hidden atoms with the same title do not lower its weight."""
    title = "Blue Lantern Society"
    atoms: list[Command] = [Add(f"Shed number{at}.", id=id_of(at), title=title) for at in range(1, 5)]
    atoms += [Tombstone(id_of(at)) for at in (1, 2, 3)]
    (hit,) = ask([*atoms, *fillers(9)], title, only("phrase"), explain=True).hits
    assert "phrase" in (hit.signals or {})


def hop_by_title() -> list[Command]:
    """An atom about a kettle that names its maker, and an atom titled with that name."""
    return [
        named("anchor", "Our kettle is one by Copper Lane Works, of course", 1),
        named("led", "Bristol, near the old docks.", 2, title="Copper Lane Works"),
        *fillers(20, "made by somebody else"),
    ]


def test_an_anchor_leads_to_the_atom_whose_title_it_has() -> None:
    """`hop`: an anchor leads to the atom whose title its text contains."""
    question = "By whom was the kettle made?"
    assert "led" not in keys(ask(hop_by_title(), question, only("hop", hop=0.0), limit=50).hits)
    hits = ask(hop_by_title(), question, only("hop")).hits
    assert keys(hits)[:2] == ["anchor", "led"]
    assert hits[1].path == (id_of(1),)
    assert hits[1].role is Role.WALKER
    assert hits[0].path == ()


def test_an_anchor_leads_to_what_it_is_linked_to() -> None:
    """`hop`: an anchor leads along edges of any type in either direction."""
    for src, dst in ((1, 2), (2, 1)):
        atoms: list[Command] = [
            named("anchor", "The kettle leaks", 1),
            named("led", "Copper is soldered with tin.", 2),
            *fillers(6),
            Link(id_of(src), "references", id_of(dst)),
        ]
        assert keys(ask(atoms[:-1], "kettle", only("hop")).hits) == ["anchor"]
        assert keys(ask(atoms, "kettle", only("hop", hop=0.0)).hits) == ["anchor"]
        hits = ask(atoms, "kettle", only("hop")).hits
        assert keys(hits) == ["anchor", "led"]
        assert hits[1].path == (id_of(1),)


def test_a_hop_leads_to_nothing_that_is_hidden() -> None:
    """`hop`: tombstoned atoms and tombstoned edges are not followed."""
    atoms: list[Command] = [
        named("anchor", "The kettle leaks", 1),
        named("led", "Copper is soldered with tin.", 2),
        Link(id_of(1), "references", id_of(2)),
    ]
    for hidden in (Tombstone(id_of(2)), Unlink(id_of(1), "references", id_of(2))):
        assert keys(ask([*atoms, hidden], "kettle", only("hop")).hits) == ["anchor"]


def test_hidden_ends_make_no_edge_weaker() -> None:
    """`hop`: hidden atoms at an anchor's edges do not lower the gain of the others."""
    atoms: list[Command] = [named("anchor", "The kettle leaks", 1), named("led", "Tin.", 2)]
    atoms.append(Link(id_of(1), "references", id_of(2)))
    for number in range(3, 7):
        atoms += [Add(f"gone{number}", id=id_of(number)), Link(id_of(1), "references", id_of(number))]
        atoms.append(Tombstone(id_of(number)))
    anchor, led = ask(atoms, "kettle", only("hop")).hits
    assert led.score == pytest.approx(anchor.score / 2, abs=2e-6)


def walk() -> list[Command]:
    """An atom about a kettle, and one that only shares a rare tag with it."""
    return [
        named("anchor", "The kettle leaks", tags=["Copper-Works", "home"]),
        named("walker", "Soldering needs tin and patience", tags=["copper-works"]),
        *(Add(f"nothing of note happened{at}", tags=["home"]) for at in range(30)),
    ]


def test_an_atom_that_shares_a_rare_tag_is_found() -> None:
    """`walk`: an atom without the words is found by a tag that it shares with an anchor."""
    assert keys(ask(walk(), "kettle", only("walk", walk=0.0)).hits) == ["anchor"]
    found = ask(walk(), "kettle", only("walk"))
    assert keys(found.hits) == ["anchor", "walker"]
    assert found.hits[1].role is Role.WALKER
    assert found.hits[1].path == ("#copper-works",)
    (bridge,) = found.bridges
    assert (bridge.tag, bridge.atoms) == ("copper-works", 2)
    assert 0 < bridge.weight <= 1
    assert found.hits[1].score == pytest.approx(0.3 * bridge.weight * found.hits[0].score, abs=2e-6)


def test_a_tag_of_many_is_not_walked() -> None:
    """`walk`: a tag on more than 20 atoms and a tenth of all is not followed."""
    for count, walked in ((20, True), (21, False)):
        atoms = [named("anchor", "The kettle leaks", tags=["hub"])]
        atoms += [Add(f"nothing of note happened{at}", tags=["hub"]) for at in range(1, count)]
        found = ask([*atoms, *fillers(9)], "kettle", only("walk"))
        assert bool(found.bridges) == (len(found.hits) > 1) == walked


def test_a_hidden_atom_is_walked_neither_from_nor_to() -> None:
    """`walk`: the tags of a tombstoned atom are not followed."""
    atoms: list[Command] = [
        named("anchor", "The kettle leaks", 1, tags=["works"]),
        named("walker", "Soldering needs tin", 2, tags=["works"]),
        *fillers(9),
    ]
    assert keys(ask([*atoms, Tombstone(id_of(2))], "kettle", only("walk")).hits) == ["anchor"]
    assert keys(ask([*atoms, Tombstone(id_of(1))], "kettle", only("walk")).hits) == []
