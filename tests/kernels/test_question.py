"""The compiled analysis of questions gives what its twin gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.language import lexicon, question
from engine.language.model import Part
from engine.text.identifiers import stem_words, word_terms
from engine.text.words import CLIPPED_ENDINGS, STOP_WORDS
from tests.kernels.native import native

FUNCTION = sorted(lexicon.FUNCTION_WORDS)
LISTED = sorted({word for one in lexicon.SETS for word in one} | lexicon.ACRONYMS)
PHRASES = [
    *("tell me about", "what do you know about", "what's the latest on", "is there anything about"),
    *("if you know?", "or not.", "please", "the summary of", "well, what", "umm, so", "what is new with"),
    *("two weeks ago", "in May 2023", "since yesterday", "5", "1.5", "10-12", "2023's", "Big Hero 6"),
    "by the way,",
]
ODD = [
    *("Maria's", "Dr.", "J.K. Rowling", "e.g", "notes.md", "McGee", "iPhone", "IT", "I'M", "drivers'"),
    *("well-known", "a-ed", "x'y'S", "'s", "Running", "dying", "walked", "tries", "both", "who", "of"),
    *("café", "5k", "[the]", "Scaredy-Squirrel", "U.S.", "O", "#tag", "a--b", "a..b", "-", "\x1f", "us"),
    *("C#", "a_b", "that", "\x0b"),
]
WORDS = st.one_of(
    *(st.sampled_from(some) for some in (FUNCTION, LISTED, PHRASES, ODD)), st.text("abEdsy.-'", max_size=7)
)
CASES: list[Callable[[str], str]] = [str, str, str.lower, str.upper, str.title, str.capitalize]
ENDS = st.sampled_from([" ", " ", " ", ", ", ". ", "? ", "; ", "  ", " - ", "\n"])
QUESTIONS = st.lists(st.tuples(WORDS, st.sampled_from(CASES), ENDS), max_size=14).map(
    lambda words: "".join(case(word) + end for word, case, end in words)
)


def compiled(text: str) -> Any:
    """Return the compiled analysis, or None."""
    module = native()
    own = module.Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)
    with patch.object(question, "NATIVE", module), patch.object(question, "KERNEL_TERMS", own):
        return question._compiled(text)


@given(QUESTIONS)
@example("What did Maria and John say? Big Hero 6 and the Dr. Seuss of Oz, and Mark King, who swim")
@example("The big musical that she did win at the races is like her finished screenplay")
@example("has the race raise money to put a number of finished things up when John boils the water")
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
    module = native()
    own = module.Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)
    assert module.analyze_question(question._rules(), own, text, [], question._KERNEL_PARTS) is None


def test_the_kernel_needs_all_lists() -> None:
    """Lists of another number, and parts of speech that the kernel does not know, are refused."""
    with pytest.raises(ValueError, match="1"):
        native().Rules({}, [["a"]], [])
    with pytest.raises(ValueError, match="VERB"):
        native().Rules({"go": "VERB"}, [[]] * len(lexicon.SETS), [])
