"""The day on which a text was written stands beside the text, with the times that depend on it."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine
from engine.mcp.reading_tools import EXPLORE, RECALL
from engine.query.written_days import MENTIONS_MAX, note_of
from tests.query.recall.support import fillers, id_of, memory

DAY = date(2023, 5, 8)
SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
CHAT = [
    Add("Anna: I went to a pottery class yesterday.", id=id_of(1), source="chat", sequence=1, created=SAID),
    Add("Boris: How was it?", id=id_of(2), source="chat", sequence=2, created=SAID),
]


def shown_everywhere(engine: Engine, question: str) -> dict[str, str]:
    """What each way of asking shows."""
    explored = engine.explore(question)
    return {
        "answer": "".join(map(str, explored.answer)),
        "explore": explored.text,
        "explore over MCP": str(EXPLORE.run(engine, {"query": question, "budget": 1000, "steps": 10})),
        "recall over MCP": str(RECALL.run(engine, {"query": question, "budget": 600})),
        "context": engine.context(question, budget=300).text,
        "recall": engine.recall(question, limit=3).hits[0].when,
    }


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("We met yesterday.", "yesterday, i.e. 2023-05-07"),
        ("We met last week.", "last week, i.e. 2023-05-01 to 2023-05-07"),
        ("We met in March.", "March, i.e. 2023-03"),
        ("We will meet in March.", "March, i.e. 2024-03"),
        ("We met on Friday.", "Friday, i.e. 2023-05-05"),
        ("We're meeting on Friday.", "Friday, i.e. 2023-05-12"),
        ("We met last year.", "last year, i.e. 2022"),
        (
            "We met two days\nago. Tomorrow we rest.",
            "two days ago, i.e. 2023-05-06; Tomorrow, i.e. 2023-05-09",
        ),
        ("I have slept badly since last month.", "since last month, i.e. from 2023-04-01"),
    ],
)
def test_a_time_that_depends_on_the_day_is_resolved(text: str, meaning: str) -> None:
    """The note has the words of the text and the days that they mean, counted from the day of the text."""
    assert note_of(DAY, text.replace("\n", " "), asked=False) == f"2023-05-08; {meaning}"


@pytest.mark.parametrize("text", ["We met.", "We met in 2019.", "We meet today.", "We met a few days ago."])
def test_a_text_whose_times_do_not_depend_on_the_day_has_only_the_day_that_is_asked_for(text: str) -> None:
    """Without such a time, the note is empty, or the day alone if the question asks for a time."""
    assert (note_of(DAY, text, asked=False), note_of(DAY, text, asked=True)) == ("", "2023-05-08")


@given(st.text(), st.dates(), st.booleans())
@settings(max_examples=60)
def test_a_note_begins_with_the_day_and_resolves_a_few_times(text: str, day: date, asked: bool) -> None:
    """Whatever the text, a note is empty or begins with the day, on one line, and has a few times."""
    day_shown, *times = note_of(day, f"{text} yesterday", asked=asked).split("; ")
    assert day_shown in (("",) if not times and not asked else (day.isoformat(),))
    assert len(times) <= MENTIONS_MAX
    assert "\n" not in day_shown + "".join(times)


def test_every_way_of_asking_shows_the_day_of_a_text_and_what_yesterday_means() -> None:
    """Explore, recall over MCP, context and recall show the day beside the text, and never in it."""
    with memory([*CHAT, *fillers(30)]) as engine:
        shown = shown_everywhere(engine, "When did Anna go to a pottery class?")
    for way, text in shown.items():
        assert "2023-05-08; yesterday, i.e. 2023-05-07" in text, way
        assert way == "recall" or "I went to a pottery class yesterday." in text, way


def test_a_page_without_a_day_shows_none() -> None:
    """The day on which a file was read is not the day on which it was written."""
    page = [
        Add("The pottery opened yesterday.", id=id_of(1), source="notes/pottery.md", sequence=1),
        Add("The canoe sank yesterday.", id=id_of(2), source="notes/canoe.md", sequence=1, created=SAID),
    ]
    with memory([*page, *fillers(30)]) as engine:
        undated = shown_everywhere(engine, "When did the pottery open?")
        dated = shown_everywhere(engine, "When did the canoe sink?")
    assert not any("i.e." in text for text in undated.values())
    assert all("yesterday, i.e. 2023-05-07" in text for text in dated.values())


def test_a_window_shows_the_day_again_when_it_changes() -> None:
    """In a window of several atoms, a line with the day stands before the text of another day."""
    later = datetime(2023, 5, 20, tzinfo=UTC)
    chat = [*CHAT, Add("Anna: Wet.", id=id_of(3), source="chat", sequence=3, created=later)]
    with memory([*chat, *fillers(30)]) as engine:
        text = engine.context("When was the pottery class?", budget=500).text
    assert "  Boris: How was it?\n[2023-05-20]\n  Anna: Wet." in text
