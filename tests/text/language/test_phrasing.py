"""Tests of the subjects that a question lists side by side."""

import pytest

from engine.text.language.phrasing import is_asked_for, listed
from engine.text.language.question import analyze_question


def side_by_side(text: str) -> list[str]:
    """Return the entities that a question lists, as they are written."""
    question = analyze_question(text)
    return [entity.text for entity in listed(question.core, question.entities)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What do Anna, Boris and Clara do?", ["Anna", "Boris", "Clara"]),
        ("Tell me about Anna and about Boris.", ["Anna", "Boris"]),
        ("How are Anna/Boris related?", ["Anna", "Boris"]),
        ("Did both Anna's and Boris's brothers come?", ["Anna", "Boris"]),
        ("Kafka vs. Pulsar", ["Kafka", "Pulsar"]),
        ("Compare Kafka with Pulsar and Redis", ["Kafka", "Pulsar", "Redis"]),
        ("Rob, events, life", ["Rob", "events", "life"]),
        ("Which of the kettle, the lamp or the bicycle is broken?", ["kettle", "lamp", "bicycle"]),
    ],
)
def test_entities_with_only_commas_and_conjunctions_between_them_are_listed(
    text: str, expected: list[str]
) -> None:
    """A list consists of entities of one kind that follow one another."""
    assert side_by_side(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "When did Caroline go to the LGBTQ support group?",
        "What did Anna tell Boris?",
        "chain of events in Rob's life",
        "Anna",
        "and, and, and",
        "",
    ],
)
def test_entities_in_other_places_are_not_listed(text: str) -> None:
    """Entities that a verb or a preposition joins are no list."""
    assert side_by_side(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which city did Anna visit?", ["city"]),
        ("What kind of boat did Anna paint in the harbour?", ["boat", "kind"]),
        ("How many kettles are in the kitchen?", ["kettles"]),
        ("Where is the city that Anna visited?", []),
        ("Which Anna came?", []),
    ],
)
def test_the_kind_of_answer_follows_the_interrogative(text: str, expected: list[str]) -> None:
    """A noun right after "which", "what" or "how many" is the kind of answer; a name never is."""
    question = analyze_question(text)
    assert [one.text for one in question.entities if is_asked_for(question.core, one)] == expected
