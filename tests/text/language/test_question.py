"""Tests of the analysis of questions."""

import pytest

from engine.text.analyzer import analyze_query
from engine.text.language.question import analyze_question
from engine.text.language.question_model import Part


def parts(text: str) -> dict[str, Part]:
    """Return each word of a question with its part of speech."""
    return {word.text: word.part for word in analyze_question(text).words}


def entities(text: str) -> list[str]:
    """Return the entities of a question as they are written."""
    return [entity.text for entity in analyze_question(text).entities]


def test_a_question_has_three_levels() -> None:
    """The three levels are all terms, those of nouns and times, and those of names."""
    question = analyze_question("When did Melanie go camping in June 2023?")
    assert question.terms == ("melani", "go", "camp", "june", "2023")
    assert question.nouns == ("melani", "camp", "june", "2023")
    assert question.names == ("melani",)


def test_the_terms_are_those_of_the_analyzer() -> None:
    """The terms of a question are those of the analyzer for its core."""
    text = "Which of the two tornado outbreaks killed the most people?"
    assert analyze_question(text).terms == tuple(analyze_query(text))


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("what is the latest state of the boiler project?", "the boiler project"),
        ("What's the latest on Project Apollo", "Project Apollo"),
        ("what's the current status of ticket #123?", "ticket #123"),
        ("Tell me about Caroline", "Caroline"),
        ("tell me everything you know about the boiler", "the boiler"),
        ("can you remind me what we said about X?", "X"),
        ("Can you please remind me what I told you about Anna's birthday?", "Anna's birthday"),
        ("do you remember Caroline", "Caroline"),
        ("Do you remember when Caroline went to Paris?", "when Caroline went to Paris"),
        ("I\u2019d like to know where the keys are", "where the keys are"),
        ("I would like to know more about solar panels, please", "solar panels"),
        ("Hi! I hope you're well. Can you remind me what we decided about it all? Thanks!", "it all"),
        ("Hey Claude, what is ADR-016?", "what is ADR-016"),
        ("I was wondering if you could tell me what Caroline's job is", "what Caroline's job is"),
        ("Could you check whether we have notes about rent?", "rent"),
        ("show me all my notes on gardening", "gardening"),
        ("Summarize what we know about Melanie", "Melanie"),
        ("Is there anything about vinegar?", "vinegar"),
        ('Tell me about "Dear Brother"!', '"Dear Brother"'),
    ],
)
def test_phrases_around_a_question_are_removed(text: str, core: str) -> None:
    """Greetings, requests and thanks are not part of the core."""
    assert analyze_question(text).core == core


@pytest.mark.parametrize(
    "text",
    [
        "What did John say about NYC?",
        "  What did Caroline research?  ",
        "Well water quality",
        "Now that's what I call music",
        "Who is Melanie a fan of?",
        "please",
        "do you remember",
        "Hello there!",
        "",
        " \n",
        "?!",
    ],
)
def test_a_question_without_other_phrases_is_its_own_core(text: str) -> None:
    """If there are no such phrases, or nothing else would be left, the core is the text."""
    question = analyze_question(text)
    assert question.core == text
    assert bool(question.words) == bool(question.terms)


def test_the_levels_are_those_of_the_core() -> None:
    """The phrases around the core are on none of the three levels."""
    question = analyze_question("Hi! Can you remind me what we said about Caroline's boiler?")
    assert question.terms == question.nouns == ("carolin", "boiler")
    assert [word.text for word in question.words] == ["Caroline's", "boiler"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Are Christopher Nolan and Sathish Kalathil both film directors?",
            ["Christopher Nolan", "Sathish Kalathil", "film directors"],
        ),
        ("What did Caroline's son say?", ["Caroline", "son"]),
        (
            "Is Lord of the Rings by Vincent van Gogh or Simon & Simon?",
            ["Lord of the Rings", "Vincent van Gogh", "Simon & Simon"],
        ),
        ("Would Caroline have Dr. Seuss books?", ["Caroline", "Dr. Seuss", "books"]),
        ("What do E. B. White and J.K. Rowling share?", ["E. B. White", "J.K. Rowling"]),
        (
            "Was Big Hero 6 before the World Drivers' Championship?",
            ["Big Hero 6", "World Drivers' Championship"],
        ),
        (
            'Did Melanie read "nothing is impossible" or \u201cThe Four Seasons\u201d?',
            ["Melanie", "nothing is impossible", "The Four Seasons"],
        ),
        ("what is ADR-016 in C++ and foo_bar v1.2.3?", ["ADR-016", "C++", "foo_bar", "v1.2.3"]),
        ("the chain of events in Rob's life", ["Rob", "events", "life", "chain"]),
        ("boilers and the boiler", ["boilers"]),
        ("who runs?", []),
    ],
)
def test_names_come_before_nouns(text: str, expected: list[str]) -> None:
    """Names, identifiers and quotations precede nouns, generic nouns are last, and terms are distinct."""
    assert entities(text) == expected


def test_a_question_has_at_most_eight_entities() -> None:
    """A list of many names gives the first eight."""
    assert entities(", ".join(f"N{letter}x" for letter in "abcdefghij")) == [
        f"N{letter}x" for letter in "abcdefgh"
    ]


WHEN = (
    "When did Jon go?",
    "What year did Tim go?",
    "In which month did it rain?",
    "How long ago was it?",
    "Heinkel was a plane that was first developed when?",
    "Do you know when he left?",
    "what is the date of it",
)
NOT_WHEN = (
    "Where is it?",
    "How often does she run?",
    "What did John do when he was sad?",
    "When he was sad, what did John do?",
    "Did the man who left win?",
    "What game was Nate currently playing on November 7, 2022?",
    "boiler",
)


def test_whether_a_question_asks_when() -> None:
    """The interrogative and the words next to it decide."""
    asked = {text: analyze_question(text).asks_when for text in (*WHEN, *NOT_WHEN)}
    assert asked == dict.fromkeys(WHEN, True) | dict.fromkeys(NOT_WHEN, False)


def test_equal_questions_have_equal_analyses() -> None:
    """A repeated question returns the cached analysis."""
    text = "What did Caroline do last week?"
    assert analyze_question(text, now=1) == analyze_question(text, now=1)
    assert analyze_question(text) == analyze_question(text)
    assert analyze_question(text, now=1) != analyze_question(text)
