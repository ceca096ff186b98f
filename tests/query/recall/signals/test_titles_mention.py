"""The signal `mention`: an anchor leads to the atoms whose texts contain its title."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine import Add, Link, Recall, RecallConfig, Role, Tombstone
from engine.commands import Command
from engine.query.recall.signals.titles import MENTIONS_MAX
from tests.query.recall.support import NO_SIGNALS, ask, fillers, id_of, keys, named, only


def village(
    text: str = "A song by Owens about Laie Point Village at night.", title: str = "Laie Point Village"
) -> list[Command]:
    """An atom about a luau, titled with the name of its village, and an atom with this text."""
    return [
        named("anchor", "In this place there is a luau each year.", 1, title=title),
        named("led", text, 2),
        *fillers(200),
    ]


def answer(atoms: Sequence[Command], question: str = "luau", **weights: float) -> Recall:
    """The explained answer of a memory with the signal `mention`, and with others of these weights."""
    return ask(atoms, question, only("mention", **weights), explain=True)


def test_an_anchor_leads_to_a_text_that_contains_its_title() -> None:
    """An atom without a word of the question is found by the title of an anchor in its text."""
    assert keys(answer(village(), mention=0.0).hits) == ["anchor"]
    anchor, led = answer(village()).hits
    assert (anchor.key, led.key) == ("anchor", "led")
    assert led.role is Role.WALKER
    assert led.path == (id_of(1),)
    assert list(led.signals or {}) == ["mention"]
    assert led.score == pytest.approx(0.4 * anchor.score, abs=2e-6)


def test_the_gain_is_shared_among_the_texts_with_the_title() -> None:
    """With four texts that contain the title, each gains half as much as a single one."""
    more = [Add(f"Laie Point Village {at}", id=id_of(at)) for at in range(3, 6)]
    (_, alone), (_, shared, *_) = answer(village()).hits, answer([*village(), *more]).hits
    assert shared.score == pytest.approx(alone.score / 2, abs=0.01)


def test_the_words_of_a_title_must_be_adjacent() -> None:
    """A text that contains the words of the title in another order is not found."""
    assert keys(answer(village("A song about the village of Laie Point at night.")).hits) == ["anchor"]


def test_a_qualifier_of_a_title_need_not_be_in_the_text() -> None:
    """The part of a title in parentheses is not searched for."""
    assert keys(answer(village(title="Laie Point Village (Hawaii)")).hits) == ["anchor", "led"]


def test_a_title_that_is_in_the_question_leads_nowhere() -> None:
    """If the question has all words of the title, its words alone decide."""
    question = "luau at Laie Point Village"
    found, without = (answer(village(), question, mention=weight).hits for weight in (0.4, 0.0))
    assert [hit.score for hit in found] == [hit.score for hit in without]


def test_a_title_in_many_texts_leads_nowhere() -> None:
    """A title that more than `MENTIONS_MAX` atoms contain is ignored."""
    more: list[Command] = [Add(f"Laie Point Village {at}") for at in range(MENTIONS_MAX)]
    assert len(answer([*village(), *more[:-1]]).hits) > 1
    assert keys(answer([*village(), *more]).hits) == ["anchor"]


def test_a_text_that_links_to_the_anchor_gains_once() -> None:
    """An atom that the signal `hop` found from the anchor gains nothing by the title in its text."""
    atoms = [*village(), Link(id_of(2), "references", id_of(1))]
    _, led = answer(atoms, hop=0.5).hits
    assert list(led.signals or {}) == ["hop"]
    _, led = answer(atoms, hop=0.0).hits
    assert list(led.signals or {}) == ["mention"]


def test_hidden_texts_with_the_title_do_not_count() -> None:
    """A tombstoned atom with the title is not found, and does not lower the gain of others."""
    hidden: list[Command] = [Add("Laie Point Village", id=id_of(3)), Tombstone(id_of(3))]
    assert answer([*village(), *hidden]).hits[1].score == pytest.approx(
        answer(village()).hits[1].score, abs=0.01
    )
    assert keys(answer([*village(), Tombstone(id_of(2))]).hits) == ["anchor"]


def test_an_atom_without_a_title_leads_nowhere() -> None:
    """Only titles are searched for, not names in the text of an anchor."""
    atoms = [
        named("anchor", "The luau of Laie Point", 1),
        named("led", "A song about Laie Point", 2),
        *fillers(9),
    ]
    atoms.append(Add("Something else", title="Another title"))
    assert keys(ask(atoms, "luau", RecallConfig(signals=NO_SIGNALS)).hits) == ["anchor"]
    assert keys(answer(atoms).hits) == ["anchor"]
