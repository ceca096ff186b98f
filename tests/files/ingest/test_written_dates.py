"""Dates in the names of files, in headings and in frontmatter."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.files.ingest.written_dates import date_in_heading, stated_time, time_of_page
from tests.files.ingest.folder import ELM, OAK, Folder

DAY = datetime(2023, 10, 22, tzinfo=UTC)
WRITTEN = """2023-10-22; 2023_10_22; 2023.10.22; 2023 10 22; 20231022; 22.10.2023; October 22nd, 2023
    ; Oct 22 2023; 22 October 2023; 22nd of October 2023; 22-Oct-2023
    ; Sunday, October 22nd, 2023; 2023-10-22 (Sunday)"""
DAYS = [" ".join(one.split()) for one in WRITTEN.split(";")]
BEGUN = ["2023-10-22 shed", "2023-10-22-shed", "2023-10-22T10_00_00"]
PERIODS = {"2023-10": (10, 1), "2023-W43": (10, 23), "2023-Q4": (10, 1), "October 2023": (10, 1)}
NONE = [
    "10/11/2023",
    "10-11-2023",
    "2023-13-01",
    "2023-02-30",
    "12345678",
    "a2023-10-22b",
    "2023-10-221",
    "May 3",
]


def us(moment: datetime) -> int:
    """Return a moment in µs since 1970."""
    return int(moment.timestamp()) * 1_000_000


@pytest.mark.parametrize("text", DAYS)
def test_a_day_may_be_written_in_many_ways(text: str) -> None:
    """The same forms are read in names, headings and frontmatter."""
    found = [time_of_page(f"notes/{text}.md", None), date_in_heading(text), stated_time(text)]
    assert found == [us(DAY)] * 3


@pytest.mark.parametrize("text", [*BEGUN, "shed 2023-10-22", "journal.2023.10.22", "202310221430 shed"])
def test_a_date_may_be_a_part_of_a_name(text: str) -> None:
    """It counts if the file states no time itself. A heading may begin with such a date."""
    other = us(datetime(2020, 1, 1, tzinfo=UTC))
    assert time_of_page(f"notes/{text}.md", None) == us(DAY)
    assert time_of_page(f"notes/{text}.md", other) == other
    assert date_in_heading(text) == (us(DAY) if text in BEGUN else None)


@pytest.mark.parametrize("text", PERIODS)
def test_a_week_month_or_quarter_stands_for_its_first_day(text: str) -> None:
    """Such names and values of frontmatter are read; a heading must name a day."""
    month, day = PERIODS[text]
    first = us(DAY.replace(month=month, day=day))
    assert [time_of_page(f"notes/{text}.md", None), stated_time(text)] == [first] * 2
    assert date_in_heading(text) is None


@pytest.mark.parametrize("text", NONE)
def test_what_is_ambiguous_or_no_day_is_no_date(text: str) -> None:
    """A day and a month that could be exchanged, and days that do not exist, are left alone."""
    assert [time_of_page(f"notes/{text}.md", None), date_in_heading(text), stated_time(text)] == [None] * 3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2023/10/22 14:30", 52_200), ("Oct 22, 2023, 14:30:05", 52_205), ("1697985000", 52_200),
     ("1697985000000", 52_200), ("2023-10-22T14:30:00Z", 52_200)],
)  # fmt: skip
def test_frontmatter_may_state_a_time_of_the_day(text: str, seconds: int) -> None:
    """The time is in ISO 8601, follows the date, or is a number of seconds or milliseconds since 1970."""
    assert stated_time(text) == us(DAY) + seconds * 1_000_000


@pytest.mark.parametrize(("hour", "kept"), [(-13, True), (8, True), (35, True), (-48, False), (90, False)])
def test_a_page_named_by_a_day_is_of_that_day(hour: int, kept: bool) -> None:
    """A time that the page states is used only if it can be on this day, somewhere on earth."""
    stated = us(DAY) + hour * 3_600_000_000
    assert time_of_page("notes/2023-10-22.md", stated) == (stated if kept else us(DAY))


def test_pages_and_sections_are_found_by_their_days(notes: Folder) -> None:
    """Files of all formats with a date as their name, and dated sections, pass `since` and `until`."""
    notes.write("2023-10-22.md", f"{OAK}\n")
    notes.write("2023-10-22.txt", f"{ELM}\n")
    days = "# Log\n\nBefore.\n\n## [[2023-10-22]]\n\nOn the day.\n\n### Shed\n\nIn the shed.\n\n"
    notes.write("log.md", f"{days}## 2023-10-23\n\nA day later.\n\n# Other\n\nUndated.\n")
    notes.ingest()
    found = notes.engine.find(since=us(DAY), until=us(DAY) + 86_400_000_000, form="full")
    texts = {one.atom.content.split("\n\n")[-1] for one in found if one.atom is not None}
    assert texts == {OAK, ELM, "On the day.", "In the shed."}
    notes.remove("2023-10-22.md")
    notes.write("2023-10-23.md", f"{OAK}\n")
    assert (notes.ingest().revised, notes.ingest().changed) == (1, False)
    assert notes.atoms("2023-10-23.md")[0].created == us(DAY) + 86_400_000_000
