"""The compiled analysis of questions gives what its twin gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.text.analyzer import CLIPPED_ENDINGS, STOP_WORDS, stem_words, word_terms
from engine.text.language import lexicon, question
from engine.text.language.question_model import Part
from tests.kernels.native import native

FUNCTION = sorted(lexicon.FUNCTION_WORDS)
LISTED = sorted({word for one in lexicon.SETS for word in one} | lexicon.ACRONYMS)
DECLINED = [
    *("notes/a.md", "5k", "#tag", "C#", "a_b", "café", "drivers'", "'s", "2023's", "\x1f", "x'y'S"),
    *("tell me about", "what do you know about", "what's the latest on", "if you know?", "or not."),
    *("please", "the summary of", "well, what", "umm, so", "what is new with", "by the way,"),
]
"""Words and phrases with which a question is not plain, or only at some places."""
ODD = [
    *("Maria's", "Dr.", "J.K. Rowling", "e.g", "notes.md", "McGee", "iPhone", "IT", "I'M", "U.S.", "O"),
    *("well-known", "a-ed", "Running", "dying", "walked", "tries", "[the]", "Scaredy-Squirrel", "a--b"),
    *("a..b", "-", "\x0b", "two weeks ago", "in May 2023", "since yesterday", "5", "1.5", "10-12"),
    *("Big Hero 6", "the Lord of the Rings", "Vincent van der Meer", "J. Smith"),
]
DECIDING = [
    *("who", "that", "which", "what", "whose", "you", "they", "is", "has", "did", "to", "and", "of", "the"),
    *("Maria", "boat", "boats", "plays", "painting", "cut", "put", "number", "likely", "finished", "up"),
    *("famous", "all", "like", "race", "Mark", "John's", "2", "raise", "musical", "quickly", "have"),
]
LETTERS = st.text("abEdsy", min_size=1, max_size=7)
WORDS = st.one_of(
    *(st.sampled_from(some) for some in (DECIDING, DECIDING, DECIDING, FUNCTION, LISTED, LISTED, ODD)),
    LETTERS,
)
CASES: list[Callable[[str], str]] = [*[str] * 9, str.lower, str.upper, str.title, str.capitalize]
ENDS = st.sampled_from([*[" "] * 12, ", ", ". ", "? ", "; ", "  ", " - ", "\n"])
PLAIN = st.lists(st.tuples(WORDS, st.sampled_from(CASES), ENDS), min_size=1, max_size=20).map(
    lambda words: "".join(case(word) + end for word, case, end in words)
)
QUESTIONS = st.one_of(PLAIN, PLAIN, PLAIN, st.tuples(PLAIN, st.sampled_from(DECLINED), PLAIN).map("".join))


@cache
def terms() -> Any:
    """A table of words, which is empty before the first example."""
    return native().Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)


def compiled(text: str) -> Any:
    """Return the compiled analysis, or None."""
    with patch.object(question, "NATIVE", native()), patch.object(question, "KERNEL_TERMS", terms()):
        return question._compiled(text)


@settings(max_examples=1000, deadline=None)
@given(QUESTIONS)
@example("What did Maria and John say? Big Hero 6 and the Dr. Seuss of Oz, and Mark King, who swim")
@example("The big musical that she did win at the races is like her finished screenplay")
@example("has the race raise money to put a number of finished things up when John boils the water")
@example("Which mountainous boat of van der de la Meer that plays the drum is a number of glorious things?")
@example("Who is painting up the barn and which is painting that? The boat that walked whose finished race")
@example("WHO IS THE CEO OF IT")
@example("the MVP DJ Says It Was Good")
@example("what else did we say about it")
@example(" Boiler pressure is known. Boiler ")
def test_analyze_question(text: str) -> None:
    """The analysis of a plain question is that of the twin, with the same mentions of times."""
    found = compiled(text)
    if found is not None:
        expected = question.analyzed_twin(text)
        assert repr(found.question) == repr(expected.question)
        assert [one[:2] for one in found.mentions] == [one[:2] for one in expected.mentions]


def test_plain_questions_are_analysed_by_the_kernel() -> None:
    """An ordinary question is not left to the twin, and its words have parts of speech."""
    found = compiled("When did Maria paint the old barn in May 2023?")
    assert [word.part for word in found.question.words] == [
        *(Part.FUNCTION, Part.FUNCTION, Part.PROPER, Part.VERB, Part.FUNCTION, Part.ADJECTIVE, Part.NOUN),
        *(Part.FUNCTION, Part.TIME, Part.TIME),
    ]
    assert [entity.text for entity in found.question.entities] == ["Maria", "barn"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "?!", "a" * 1001, "\ud800", "the café", 'the "sea"', "a 'b'", "5km", "a/b", "@me", "c++"),
        *("a_b", "\x01", "tell me about it", "is it so, please?", ". " * 401),
    ],
)
def test_other_questions_are_left_to_the_twin(text: str) -> None:
    """Texts with quotations, identifiers or introductory phrases, and long or blank texts, are declined."""
    assert not text.isascii() or compiled(text) is None
    found = native().analyze_question(question._rules(), terms(), text, [], question._KERNEL_PARTS)
    assert found is None


def test_the_kernel_needs_all_lists() -> None:
    """Lists of another number, and parts of speech that the kernel does not know, are refused."""
    with pytest.raises(ValueError, match="1"):
        native().Rules({}, [["a"]], [])
    with pytest.raises(ValueError, match="VERB"):
        native().Rules({"go": "VERB"}, [[]] * len(lexicon.SETS), [])
