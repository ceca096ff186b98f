"""Misspelled names in questions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Add, Engine, Filters, Recall, RecallConfig, Tombstone
from engine.query.recall.question_terms import one_edit_from
from engine.query.recall.recall_answer import MatchedName
from tests.query.recall.support import ask, fillers, keys, memory, named

CAROLINE = named("caroline", "We met Caroline at the harbour office.")
MELANIE = named("melanie", "Melanie: I painted a lighthouse.")
PYTHON = named("python", "The importer is written in Python 3.")
WATERLOO = named("waterloo", "They took the boat from Waterloo to the museum.")
BOILER = named("boiler", "We drained the boiler and the boiler pump.")
ATOMS = (CAROLINE, MELANIE, PYTHON, WATERLOO, BOILER, *fillers(10))


@pytest.mark.parametrize(
    ("question", "key", "asked", "found"),
    [
        ("Where did we meet Carolyne?", "caroline", "Carolyne", "Caroline"),
        ("What did Melannie paint?", "melanie", "Melannie", "Melanie"),
        ("What is written in Pyhton?", "python", "Pyhton", "Python"),
        ("What is Ypthon's importer?", "python", "Ypthon", "Python"),
        ("How far is Watrloo?", "waterloo", "Watrloo", "Waterloo"),
        ("Did we drain Carolnie's boat?", "caroline", "Carolnie", "Caroline"),
    ],
)
def test_a_misspelled_name_is_read_as_the_known_one(question: str, key: str, asked: str, found: str) -> None:
    """The atom with the known name is the first hit, and the answer names both spellings."""
    answer = ask(ATOMS, question)
    assert keys(answer.hits)[0] == key
    assert answer.matched == (MatchedName(asked, found),)


@pytest.mark.parametrize(
    "question",
    [
        "Where did we meet Caroline?",
        "where did we meet carolyne?",
        "Where did we meet Carollynne?",
        "Who saw Boilers and the Boilr?",
        "Who is Ann?",
        "What is PYHTON?",
        "Where did we meet Daroline?",
    ],
)
def test_other_words_are_not_changed(question: str) -> None:
    """Known names, words in small letters, common words, acronyms and words with too many edits stay."""
    assert ask(ATOMS, question).matched == ()
    assert ask(ATOMS, question) == ask(ATOMS, question, replace(RecallConfig(), spelling=False))


def test_a_name_with_the_first_letters_swapped_is_similar() -> None:
    """The first letter is usually kept; an exchange with the second letter is found, too."""
    assert ask(ATOMS, "Where did we meet Acroline?").matched == (MatchedName("Acroline", "Caroline"),)


def test_a_name_outside_the_filter_is_not_revealed() -> None:
    """A name is read as another one only if an allowed atom contains the other one."""
    hidden = Add("We met Caroline.", key="hidden", buckets=["private"])
    shown = Add("We met at the harbour.", key="shown", buckets=["inbox"])
    filters = Filters(buckets=("inbox",))
    assert ask([hidden, shown], "Did we meet Carolyne?", filters=filters).matched == ()
    assert ask([hidden, shown], "Did we meet Carolyne?").matched


def test_a_name_that_is_only_an_alias_or_a_tag_is_known() -> None:
    """Aliases and tags count as known spellings."""
    carolyn = named("carolyn", "She keeps the tide clock.", aliases=["Carolyn"])
    assert ask([CAROLINE, carolyn], "Who is Carolyn?").matched == ()
    tagged = named("carolyn", "She keeps the tide clock.", tags=["Carolyn"])
    assert ask([CAROLINE, tagged], "Who is Carolyn?").matched == ()


def test_a_name_that_is_only_a_tag_is_found() -> None:
    """A misspelled name is compared with tags, too."""
    tagged = named("clock", "She keeps the tide clock.", tags=["caroline"])
    assert ask([tagged, *fillers(5)], "Who is Carolyne?").matched == (MatchedName("Carolyne", "Caroline"),)


def test_of_two_similar_names_the_more_frequent_one_is_chosen() -> None:
    """The number of atoms decides, then the alphabet."""
    marta, maria = named("marta", "We met Marta."), named("maria", "We met Maria.")
    assert _found([marta, maria], "Did we meet Martaa?") == ["Marta"]
    assert _found([maria, marta], "Did we meet Marza?") == ["Maria"]
    assert _found([marta, maria, named("two", "Then Marta left.")], "Did we meet Marza?") == ["Marta"]


def _found(atoms: list[Add], question: str) -> list[str]:
    return [one.found for one in ask(atoms, question).matched]


def test_context_says_which_name_it_read_differently() -> None:
    """The gathered text of the known name is returned with both spellings."""
    with memory(ATOMS) as engine:
        found = engine.context("Where did we meet Carolyne?", budget=200)
    assert "We met Caroline" in found.text
    assert [str(one) for one in found.matched] == ["Carolyne read as Caroline"]


def test_filters_compare_names_exactly() -> None:
    """A filter with a misspelled name selects nothing."""
    with memory([named("clock", "She keeps the tide clock.", tags=["caroline"])]) as engine:
        assert not engine.recall("tide clock", tags=["carolyne"]).hits


def test_an_erased_or_hidden_name_is_not_offered() -> None:
    """A name that only a tombstoned atom contains is not searched for."""
    with memory([CAROLINE, *fillers(5)]) as engine:
        engine.apply([Tombstone(_only(engine.recall("Caroline")), "left")])
        assert engine.recall("Where is Carolyne?").matched == ()


def _only(answer: Recall) -> str:
    return answer.hits[0].id


def test_names_are_found_in_segments_and_in_the_tail() -> None:
    """The lookup reads the terms of stored segments as well as of the newest atoms."""
    with Engine.open("memory:") as engine:
        engine.apply([CAROLINE, *fillers(600)])
        engine.apply([named("zoltan", "Zoltan repaired the pump.")])
        assert [one.found for one in engine.recall("Who is Carolyne?").matched] == ["Caroline"]
        assert [one.found for one in engine.recall("Who is Zolltan?").matched] == ["Zoltan"]


WORDS = st.text(alphabet="abc", min_size=1, max_size=6)


@given(WORDS, st.data())
def test_one_edit_is_one_edit(word: str, data: st.DataObject) -> None:
    """A letter after the first may be inserted, removed or replaced, and two adjacent letters be swapped."""
    at = data.draw(st.integers(0, len(word) - 1))
    letter = data.draw(st.sampled_from("abc"))
    found = {*one_edit_from(word), word}
    assert word[: at + 1] + letter + word[at + 1 :] in found
    assert word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :] in found
    if at:
        assert {word[:at] + letter + word[at + 1 :], word[:at] + word[at + 1 :]} <= found
    assert all(abs(len(one) - len(word)) <= 1 for one in found)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("zqmark5", []),
        ("zqmark-5-d", []),
        ("python 5", ["dick", "python"]),
        ("dickfeynman5", ["dick"]),
        ("python5", ["python"]),
        ("5", ["dick"]),
    ],
)
def test_the_numbers_of_an_unknown_code_find_nothing(question: str, found: list[str]) -> None:
    """Nothing is found for the digits or single letters of a code that no text has; its words are found."""
    dick = named("dick", "Dickfeynman5 has option d")
    assert sorted(map(str, keys(ask([dick, PYTHON, *fillers(4, "quiet")], question).hits))) == found


def test_the_letters_of_a_known_code_find_nothing() -> None:
    """A text with the letter s does not answer `S-train`, even if another text has that word."""
    train, letter = named("train", "the S-train at platform 9"), named("letter", "gate s, at 9")
    assert keys(ask([train, letter, *fillers(4, "quiet")], "S-train").hits) == ["train"]
    assert keys(ask([train, letter, *fillers(4, "quiet")], "S").hits) == ["letter", "train"]


def test_an_answer_says_that_there_is_no_such_tag() -> None:
    """A tag that no live atom has is in the notes of an answer, of a context too; a known tag is not."""
    gone = named("gone", "The kettle of the office", tags=["old"])
    with memory([named("kettle", "The kettle leaks", tags=["kitchen"]), gone]) as engine:
        engine.apply([Tombstone(_only(engine.recall("office")), "worn out")])
        assert engine.recall("kettle", tags=["Kitchen"]).notes == []
        assert engine.recall("kettle", tags=["nosuch", "old"]).notes == [
            "there is no tag #nosuch",
            "there is no tag #old",
        ]
        assert engine.context("kettle", budget=500, tags=["nosuch"]).notes == ["there is no tag #nosuch"]
