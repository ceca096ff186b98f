"""Tests of the times that a question mentions."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.text.language.question import analyze_question
from engine.text.language.question_model import TimeSpan
from engine.text.language.time_patterns import READERS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400_000_000
WEDNESDAY = "2023-10-18T15:00:00"


def micros(written: str) -> int:
    """Return an ISO date or time in µs UTC."""
    return (datetime.fromisoformat(written).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def times(text: str, now: str | None = WEDNESDAY) -> tuple[TimeSpan, ...]:
    """Return the times of a question that is asked at `now`."""
    return analyze_question(text, now=None if now is None else micros(now)).times


def span(text: str, interval: str | None) -> TimeSpan:
    """Return a mention with its interval, written as `start end`."""
    if interval is None:
        return TimeSpan(text, None, None)
    start, end = interval.split()
    return TimeSpan(text, micros(start), micros(end))


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("13 October 2023", "2023-10-13 2023-10-14"),
        ("October 13, 2023", "2023-10-13 2023-10-14"),
        ("October 13 2023", "2023-10-13 2023-10-14"),
        ("2023-10-13", "2023-10-13 2023-10-14"),
        ("2023/10/13", "2023-10-13 2023-10-14"),
        ("the 13th of October 2023", "2023-10-13 2023-10-14"),
        ("Friday, 13 October, 2023", "2023-10-13 2023-10-14"),
        ("Oct. 13th, 2023", "2023-10-13 2023-10-14"),
        ("13-Oct-2023", "2023-10-13 2023-10-14"),
        ("13/10/2023", "2023-10-13 2023-10-14"),
        ("10/13/2023", "2023-10-13 2023-10-14"),
        ("5.6.2023", "2023-06-05 2023-06-06"),
        ("2023-10-13T12:30", "2023-10-13T12:30 2023-10-13T12:31"),
        ("2023-10-13 23:30:05-05:00", "2023-10-14T04:30:05 2023-10-14T04:30:06"),
        ("May 2023", "2023-05-01 2023-06-01"),
        ("Sept. 2023", "2023-09-01 2023-10-01"),
        ("december of 2023", "2023-12-01 2024-01-01"),
        ("2023-10", "2023-10-01 2023-11-01"),
        ("2023", "2023-01-01 2024-01-01"),
        ("Q3 2023", "2023-07-01 2023-10-01"),
        ("the third quarter of 2023", "2023-07-01 2023-10-01"),
        ("summer 2021", "2021-01-01 2022-01-01"),
        ("the 1950s", "1950-01-01 1960-01-01"),
        ("the 70's", "1970-01-01 1980-01-01"),
        ("19th century", "1801-01-01 1901-01-01"),
        ("August 11-15, 2023", "2023-08-11 2023-08-16"),
        ("11-15 August 2023", "2023-08-11 2023-08-16"),
        ("1945-1949", "1945-01-01 1950-01-01"),
        ("from May to July 2022", "2022-05-01 2022-08-01"),
        ("from November to February 2022", "2021-11-01 2022-03-01"),
        ("between August 11 and August 15 2023", "2023-08-11 2023-08-16"),
        ("before March 2021", "1970-01-01 2021-03-01"),
        ("by July 10, 2022", "1970-01-01 2022-07-11"),
        ("since 2020", "2020-01-01 9999-12-31"),
        ("after 5 May 2021", "2021-05-06 9999-12-31"),
        ("two weeks before August 11, 2023", "2023-07-28 2023-08-04"),
        ("the week before 16 November 2023", "2023-11-09 2023-11-16"),
        ("three days after 30 December 2022", "2023-01-02 2023-01-03"),
        ("the Sunday before October 25, 2022", "2022-10-23 2022-10-24"),
        ("last weekend before April 10, 2023", "2023-04-08 2023-04-10"),
    ],
)
def test_a_date_with_a_year_does_not_depend_on_now(text: str, interval: str) -> None:
    """A date with a year has the same interval with and without `now`."""
    expected = (span(text.removeprefix("the ") if "quarter" in text else text, interval),)
    assert times(f"What did she do {text}?") == times(f"What did she do {text}?", None) == expected


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("yesterday", "2023-10-17 2023-10-18"),
        ("the day before yesterday", "2023-10-16 2023-10-17"),
        ("today", "2023-10-18 2023-10-19"),
        ("this morning", "2023-10-18 2023-10-19"),
        ("last night", "2023-10-17 2023-10-18"),
        ("tomorrow", "2023-10-19 2023-10-20"),
        ("this week", "2023-10-16 2023-10-23"),
        ("last week", "2023-10-09 2023-10-16"),
        ("next week", "2023-10-23 2023-10-30"),
        ("this month", "2023-10-01 2023-11-01"),
        ("last month", "2023-09-01 2023-10-01"),
        ("last quarter", "2023-07-01 2023-10-01"),
        ("earlier this year", "2023-01-01 2024-01-01"),
        ("last year", "2022-01-01 2023-01-01"),
        ("two days ago", "2023-10-16 2023-10-17"),
        ("a week ago", "2023-10-09 2023-10-16"),
        ("a couple of months ago", "2023-08-01 2023-09-01"),
        ("10 years ago", "2013-01-01 2014-01-01"),
        ("the past week", "2023-10-11 2023-10-19"),
        ("the last 3 months", "2023-07-18 2023-10-19"),
        ("next two weeks", "2023-10-18 2023-11-02"),
        ("Friday", "2023-10-13 2023-10-14"),
        ("Wednesday", "2023-10-18 2023-10-19"),
        ("last Wednesday", "2023-10-11 2023-10-12"),
        ("this Friday", "2023-10-20 2023-10-21"),
        ("next Friday", "2023-10-20 2023-10-21"),
        ("last weekend", "2023-10-14 2023-10-16"),
        ("this weekend", "2023-10-21 2023-10-23"),
        ("in July", "2023-07-01 2023-08-01"),
        ("in October", "2023-10-01 2023-11-01"),
        ("in December", "2022-12-01 2023-01-01"),
        ("in may", "2023-05-01 2023-06-01"),
        ("last October", "2022-10-01 2022-11-01"),
        ("next October", "2024-10-01 2024-11-01"),
        ("on October 18", "2023-10-18 2023-10-19"),
        ("on the 19th of October", "2022-10-19 2022-10-20"),
        ("on 29 February", "2020-02-29 2020-03-01"),
        ("until yesterday", "1970-01-01 2023-10-18"),
        ("since last week", "2023-10-09 9999-12-31"),
    ],
)
def test_a_relative_time_is_resolved_against_now(text: str, interval: str) -> None:
    """A relative time has an interval only if `now` is given."""
    found = text.removeprefix("in ").removeprefix("on ")
    assert times(f"Who sang {text}?") == (span(found, interval),)
    assert times(f"Who sang {text}?", None) == (span(found, None),)


@pytest.mark.parametrize(
    "text",
    [
        "a few days ago",
        "last summer",
        "in the fall",
        "on Mondays",
        "at 5 pm",
        "at 10:30",
        "on 5/6/2023",
        "on 30 February 2023",
        "999 decades ago",
    ],
)
def test_an_ambiguous_time_has_no_interval(text: str) -> None:
    """A vague or ambiguous time, a season, an hour or an impossible date has no interval."""
    (found,) = times(f"Who sang {text}?")
    assert (found.start, found.end) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "What did April say?",
        "You may march on",
        "option 2 may fail",
        "the fall of Rome",
        "all 2000 people",
        "it cost $2000",
        "BWV 1033",
        "192.168.1.20",
        "ADR-2016",
        "number 1234567",
        "\u017funday",
    ],
)
def test_text_that_only_looks_like_a_time_is_ignored(text: str) -> None:
    """Names, verbs, prices, counts and codes are not times."""
    assert times(text) == ()


def test_the_words_of_a_time_are_times() -> None:
    """The words of a time are among the nouns, but not among the names."""
    question = analyze_question("What did Anna paint in June 2023?")
    assert (question.nouns, question.names) == (("anna", "june", "2023"), ("anna",))


def test_a_relative_time_is_resolved_against_the_mentioned_day() -> None:
    """A relative time "as mentioned on" a day is resolved against that day."""
    found = times("What was Tim's issue last week, as mentioned on November 6, 2023?")
    assert found == (
        span("last week", "2023-10-30 2023-11-06"),
        span("November 6, 2023", "2023-11-06 2023-11-07"),
    )


def test_two_times_joined_by_and_are_not_a_range() -> None:
    """Without "between", "and" does not form a range, but the first time takes the year of the second."""
    assert times("What happened in May and June 2022?", None) == (
        span("May", "2022-05-01 2022-06-01"),
        span("June 2022", "2022-06-01 2022-07-01"),
    )


def test_a_time_outside_the_core_is_ignored() -> None:
    """A time outside the core, such as a name in a greeting, is ignored."""
    assert times("Hey Friday, what did Anna sing?") == ()


@given(st.integers(-(1 << 66), 1 << 66))
@example((1 << 63) - 1)
@example(micros("9999-12-31"))
@example(-62135596800000000)
def test_any_now_is_accepted(now: int) -> None:
    """A `now` beyond the years 1 to 9999 gives no interval and no error."""
    question = "yesterday, next year, 3 decades ago, the last 12 months, in July, on Friday, since last week"
    for found in analyze_question(question, now=now).times:
        assert (found.start is None) == (found.end is None)


@given(st.integers(0, micros("9000-01-01")))
def test_yesterday_today_and_tomorrow_adjoin(now: int) -> None:
    """Yesterday, today and tomorrow are adjacent UTC days around `now`."""
    before, on, after = analyze_question("yesterday, today, tomorrow", now=now).times
    start = now - now % DAY
    assert (before.start, before.end) == (start - DAY, start)
    assert (on.start, on.end) == (start, start + DAY)
    assert (after.start, after.end) == (start + DAY, start + 2 * DAY)


@given(st.dates(date(1000, 1, 1), date(2099, 12, 31)))
def test_every_date_is_read_in_every_spelling(day: date) -> None:
    """All spellings of a date have the same interval."""
    month = day.strftime("%B")
    spellings = (
        f"on {day.day} {month} {day.year}",
        f"on {month} {day.day}, {day.year}",
        f"on the {day.day}th of {month[:3]} {day.year}",
        f"on {day.isoformat()}",
    )
    found = {(time.start, time.end) for text in spellings for time in times(text, None)}
    start = micros(day.isoformat())
    assert found == {(start, start + DAY)}


@given(
    st.sampled_from(READERS).flatmap(
        lambda one: st.tuples(
            st.just(one[2]), st.from_regex(re.compile(one[0], re.ASCII | re.IGNORECASE), fullmatch=True)
        )
    )
)
def test_a_spelling_has_one_of_the_parts_by_which_it_is_looked_up(found: tuple[tuple[str, ...], str]) -> None:
    """A text that a pattern of times matches contains one of the parts of words that stand beside it."""
    parts, text = found
    assert any(part in text.lower() for part in parts)
