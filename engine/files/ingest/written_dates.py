"""The dates that people write in file names, headings and frontmatter (docs/files.md lists the forms).

A date without a time means the first moment of its day, week, month or quarter in UTC. Forms in which the day
cannot be told from the month, such as 10/11/2023, are no dates.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePosixPath
from typing import Final

from engine.files.ingest.field_values import EPOCH, created_from_number, created_from_text

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_MONTH: Final = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY: Final = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?"
_YEAR: Final = r"(?P<year>(?:1[5-9]|20)[0-9]{2})"
_DAY: Final = r"(?P<day>[0-3]?[0-9])"
_NUMBERS: Final = rf"{_YEAR}(?P<gap>[-_./ ])(?P<month>[01]?[0-9])(?P=gap){_DAY}"
_DAYS: Final = (
    _NUMBERS,
    r"(?P<year>(?:19|20)[0-9]{2})(?P<month>[01][0-9])(?P<day>[0-3][0-9])",
    rf"{_DAY}\.[ ]?(?P<month>[01]?[0-9])\.[ ]?{_YEAR}",
    rf"{_MONTH} {_DAY}(?:st|nd|rd|th)?,? {_YEAR}",
    rf"{_DAY}(?:st|nd|rd|th|\.)?(?: of)?[ -]{_MONTH},?[ -]{_YEAR}",
)
_PERIODS: Final = (
    rf"{_YEAR}[-_](?P<month>[01][0-9])",
    rf"{_YEAR}-?W(?P<week>[0-5][0-9])",
    rf"{_YEAR}[- ]?Q(?P<quarter>[1-4])",
    rf"{_MONTH},? {_YEAR}",
)


def _pattern(forms: tuple[str, ...]) -> list[re.Pattern[str]]:
    return [
        re.compile(rf"(?:{_WEEKDAY},? )?{form}(?:,? \(?{_WEEKDAY}\)?)?", re.IGNORECASE | re.ASCII)
        for form in forms
    ]


_DAY_FORMS: Final = _pattern(_DAYS)
_PERIOD_FORMS: Final = _pattern(_PERIODS)
_AT_START: Final = [
    re.compile(form, re.ASCII)
    for form in (rf"{_NUMBERS}(?![0-9])", rf"{_DAYS[1]}(?:[0-9]{{4}}|[0-9]{{6}})?(?![0-9A-Za-z])")
]
_AT_END: Final = re.compile(rf"(?<![0-9]){_NUMBERS}$", re.ASCII)
_CLOCK: Final = re.compile(r",?[ T](?P<hour>[0-2]?[0-9]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9]))?$")

_DAY_US: Final = 86_400_000_000
_ZONES_US: Final = 14 * 3_600_000_000
"""The largest difference between the time of a place and UTC."""


def date_in_heading(text: str) -> int | None:
    """Return the day of a heading that is a date or begins with one in numbers, in µs UTC, or None."""
    line = " ".join(text.split())
    day = _first(_DAY_FORMS, line, whole=True)
    return _first(_AT_START[:1], line, whole=False) if day is None else day


def time_of_page(source: str, stated: int | None) -> int | None:
    """Return the time of a file in µs UTC, from its name and the time that it states, or None.

    A file whose whole name is a day is of that day, at the stated time if this time can be on the day. All
    other dates in a name count only if the file states no time.
    """
    name = " ".join(PurePosixPath(source).stem.split())
    day = _first(_DAY_FORMS, name, whole=True)
    if day is not None:
        near = stated is not None and day - _ZONES_US <= stated < day + _DAY_US + _ZONES_US
        return stated if near else day
    if stated is not None:
        return stated
    found = _first(_PERIOD_FORMS, name, whole=True)
    if found is None:
        found = _first(_AT_START, name, whole=False)
    match = _AT_END.search(name) if found is None else None
    return found if match is None else _moment(match)


def stated_time(text: str) -> int | None:
    """Return the time that a value of frontmatter states, in µs UTC, or None.

    The value is in ISO 8601, a year, a date in one of the forms of file names with or without a time of the
    day, or a number of seconds or milliseconds since 1970.
    """
    written = " ".join(text.split())
    if (exact := created_from_text(written)) is not None:
        return exact
    if written.isascii() and written.isdigit() and len(written) > 8:
        return created_from_number(int(written[:20]))
    clock = _CLOCK.search(written)
    day = _first(_DAY_FORMS, written[: clock.start()] if clock else written, whole=True)
    if day is None:
        return _first(_PERIOD_FORMS, written, whole=True)
    if clock is None:
        return day
    hour, minute, second = (int(part or 0) for part in clock.groups())
    return day + (hour * 3600 + minute * 60 + second) * 1_000_000 if hour < 24 else None


def _first(patterns: list[re.Pattern[str]], text: str, *, whole: bool) -> int | None:
    """Return the moment of the first pattern that matches the whole text or its start, or None."""
    for pattern in patterns:
        match = pattern.fullmatch(text) if whole else pattern.match(text)
        if match is not None and (moment := _moment(match)) is not None:
            return moment
    return None


def _moment(match: re.Match[str]) -> int | None:
    """Return the first moment of a matched date, or None if there is no such day."""
    parts = match.groupdict()
    name, week, quarter = parts.get("name"), parts.get("week"), parts.get("quarter")
    month = _MONTHS.index(name[:3].lower()) + 1 if name else int(parts.get("month") or 1)
    try:
        if week:
            day = date.fromisocalendar(int(parts["year"]), int(week), 1)
        else:
            month = 3 * int(quarter) - 2 if quarter else month
            day = date(int(parts["year"]), month, int(parts.get("day") or 1))
    except ValueError:
        return None
    return (datetime(day.year, day.month, day.day, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
