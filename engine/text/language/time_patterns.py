"""The spellings of times in English: pairs of a pattern and a function that returns the meaning of a match.

Longer patterns come first. Patterns are matched against the text, not against words, so the result does not
depend on the tokenizer. Every repetition in a pattern is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Final

from engine.base.characters import lazy
from engine.text.language.calendar import (
    Dated,
    Unit,
    Weekday,
    When,
    Yearless,
    exactly,
    rolling,
    shifted,
    unknown,
)

_MONTH_NAMES: Final = "january february march april may june july august september october november december"
_MONTHS: Final = _MONTH_NAMES.split()
_MONTH_NUMBERS: Final = {
    short: number
    for number, name in enumerate(_MONTHS, 1)
    for short in (name, name[:3], *(["sept"] if name == "september" else []))
}
_WORD_OR_NAME: Final = frozenset({"march", "april", "may", "june", "august", "mar"})
"""Names of months that are also words or given names. Without a day or year, they count as months only after
a preposition."""
_WEEKDAY_NAMES: Final = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS: Final = _WEEKDAY_NAMES.split()
_COUNT_NAMES: Final = "a|an|one,two|a couple of,three,four,five,six,seven,eight,nine,ten,eleven,twelve"
_COUNTS: Final = {
    name: count for count, names in enumerate(_COUNT_NAMES.split(","), 1) for name in names.split("|")
}
_TURNS: Final = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_DAYS: Final = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_ORDINALS: Final = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
COUNT: Final = rf"(?P<count>[0-9]{{1,3}}|{'|'.join(sorted(_COUNTS, reverse=True))}|a few|several|some)"
WEEKDAY: Final = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_MONTH: Final = rf"(?P<month>{'|'.join(_MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_DAY: Final = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:1[0-9]|20)[0-9][0-9])"
_GAP: Final = r"[\s,]{1,3}"
_SEASON: Final = "(?:spring|summer|autumn|fall|winter)"
_PART: Final = "(?: morning| afternoon| evening| night)?"
_LEADING_WORDS: Final = lazy(
    r"\b(?ai:in|since|until|till|during|by|last|next|this|every|each|from|before|after|early|late|mid|between|"
    r"and|or|to|through|around|of)[\s-]$"
)
_CERTAIN_LEADING_WORDS: Final = lazy(r"\b(?ai:in|since|until|during|last|next|early|late|mid)[\s-]$")
"""After these words, "may" or "march" in lower case counts as a month. After other prepositions, it counts as
a verb."""
_COUNTED_NOUN: Final = lazy(r"\s(?:[a-z]+s|people|men|women|children)\b")
_PREPOSITION_CHARS: Final = 12


def unit_pattern(group: str) -> str:
    """Return a pattern that matches a unit of time and captures it in a group with the name `group`."""
    return rf"(?P<{group}>day|week|month|quarter|year|decade)s?"


def count_of(text: str) -> int | None:
    """Return the number that `COUNT` matched, or None for a vague number such as "several"."""
    text = text.lower()
    return int(text) if text.isdecimal() else _COUNTS.get(text)


def unit_of(text: str) -> Unit:
    """Return the unit that `unit_pattern` matched."""
    return Unit[text.upper()]


def weekday_of(text: str) -> Weekday:
    """Return the weekday that `WEEKDAY` matched, or the weekend for "weekend"."""
    return Weekday(5, length=2) if text.lower() == "weekend" else Weekday(_WEEKDAYS.index(text.lower()))


def _is_preceded(match: re.Match[str], pattern: re.Pattern[str] = _LEADING_WORDS) -> bool:
    """Return True if a word that `pattern` matches, such as a preposition, is directly before `match`."""
    return pattern.search(match.string, max(0, match.start() - _PREPOSITION_CHARS), match.start()) is not None


def _month_of(match: re.Match[str]) -> int:
    return _MONTH_NUMBERS[match["month"].lower().rstrip(".")]


def _day_or_moment(match: re.Match[str]) -> When | None:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    if match["clock"] is None:
        return Dated(year, month, day, Unit.DAY)
    try:
        written = f"{year}-{month:02}-{day:02}T{match['clock']}{(match['zone'] or '').upper()}"
        return exactly(
            datetime.fromisoformat(written), 1_000_000 if match["clock"].count(":") == 2 else 60_000_000
        )
    except (ValueError, OverflowError):
        return unknown


def _numeric(match: re.Match[str]) -> When:
    """Return the day that a date such as `5/6/2023` means, or `unknown` if both 5 and 6 can be the day.

    In a date with dots, such as `5.6.2023`, the first number is the day.
    """
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if first > 12 or first == second or match["sep"] == ".":
        return Dated(year, second, first, Unit.DAY) if second <= 12 else unknown
    return Dated(year, first, second, Unit.DAY) if second > 12 else unknown


def _day_of_month(match: re.Match[str]) -> When | None:
    month, day, year = _month_of(match), int(match["day"]), match["year"]
    if not year and match["month"].lower() in {"may", "march", "mar"} and match["month"].islower():
        return None  # "option 2 may fail"
    last = int(match["to"]) if match["to"] else day
    if not 1 <= day <= last <= 31:
        return unknown
    if year:
        return Dated(int(year), month, day, Unit.DAY, last - day + 1)
    return Yearless(month, day) if last == day else unknown


def _month_of_year(match: re.Match[str]) -> When:
    month = int(match["month"]) if match["month"].isdecimal() else _month_of(match)
    return Dated(int(match["year"]), month, unit=Unit.MONTH)


def _quarter(match: re.Match[str]) -> When:
    quarter = _ORDINALS.get(match["nth"].lower()) or int(match["nth"])
    return Dated(int(match["year"]), 3 * quarter - 2, unit=Unit.QUARTER)


def _year(match: re.Match[str]) -> When | None:
    """Return the year, or None if the number is not a year.

    A number below 1500, or a number before a plural such as "people", is a year only after a preposition.
    """
    counts = _COUNTED_NOUN.match(match.string, match.end()) is not None
    return (
        None if (counts or match["year"] < "1500") and not _is_preceded(match) else Dated(int(match["year"]))
    )


def _decade(match: re.Match[str]) -> When:
    year = match["decade"]
    return Dated(int(year) if len(year) == 4 else 1900 + int(year), unit=Unit.DECADE)


def _century(match: re.Match[str]) -> When:
    return Dated(int(match["nth"]) * 100 - 99, unit=Unit.DECADE, length=10)


def _ago(match: re.Match[str]) -> When:
    count = count_of(match["count"])
    return unknown if count is None else shifted(unit_of(match["unit"]), -count)


def _rolling(match: re.Match[str]) -> When:
    count = count_of(match["count"])
    return (
        unknown if count is None else rolling(count, unit_of(match["unit"]), ahead=match["ahead"] is not None)
    )


def _shifted(match: re.Match[str]) -> When:
    turn = _TURNS[match["turn"].lower()]
    if match["unit"]:
        return shifted(unit_of(match["unit"]), turn)
    if match["month"]:
        return Yearless(_month_of(match), turn=turn)
    if match["named"]:
        day = weekday_of(match["named"])
        return Weekday(day.weekday, turn or None, day.length)
    return unknown  # a season


def _month(match: re.Match[str]) -> When | None:
    name = match["month"]
    if name.lower() in _WORD_OR_NAME and not _is_preceded(
        match, _CERTAIN_LEADING_WORDS if name.islower() else _LEADING_WORDS
    ):
        return None
    return Yearless(_MONTH_NUMBERS[name.lower()])


def _season(match: re.Match[str]) -> When | None:
    return None if match.string.startswith(" of", match.end()) else unknown


_SAME_DAY: Final = "|".join(sorted(_DAYS, key=len, reverse=True))
_CLOCK: Final = r"[0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?"
_ZONE: Final = r"Z|[+-][0-2][0-9]:?[0-5][0-9]"
_ISO: Final = (
    rf"{_YEAR}(?P<sep>[-/.])(?P<month>[01]?[0-9])(?P=sep)(?P<day>[0-3]?[0-9])"
    rf"(?:[T ](?P<clock>{_CLOCK})(?P<zone>{_ZONE})?)?"
)
_NUMERIC: Final = rf"(?P<first>[0-3]?[0-9])(?P<sep>[-/.])(?P<second>[0-3]?[0-9])(?P=sep){_YEAR}"
_ON: Final = rf"(?:{WEEKDAY}{_GAP})?"
_TO: Final = r"(?P<to>[0-3]?[0-9])(?:st|nd|rd|th)?"
_DAY_FIRST: Final = (
    rf"{_ON}(?:the )?{_DAY}(?:\s?(?:[-\u2013]|to|and)\s?{_TO})?(?: of)?[\s-]{_MONTH}(?:[\s,-]{{1,3}}{_YEAR})?"
)
_MONTH_FIRST: Final = rf"{_ON}{_MONTH}\s(?:the )?{_DAY}(?:\s?[-\u2013]\s?{_TO})?(?:{_GAP}{_YEAR})?(?![:0-9])"
_SHIFTED: Final = (
    rf"(?:(?:earlier|later|early|late) )?(?:this )?(?P<turn>{'|'.join(_TURNS)}) (?:{unit_pattern('unit')}"
    rf"|(?P<named>weekend|{'|'.join(_WEEKDAYS)}){_PART}|(?P<month>{'|'.join(_MONTHS)})|{_SEASON})"
)
_PARTLY: Final = r"(?:(?:early|late|mid)[\s-])?"
_YEAR_ALONE: Final = (
    # The year must not be part of a number, a price, a path or a name; in "mid-2023" it is allowed.
    r"(?<![$\u20ac\u00a3#/.:,])(?:(?<![a-z]-)|(?<=mid-)|(?<=late-)|(?<=early-)|(?<=pre-)|(?<=post-))"
    rf"{_YEAR}(?![/:%]|[.,][0-9])"
)
_OF_THE_DAY: Final = (
    r"(?:[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?(?:\s?[ap]\.?m)?|[01]?[0-9]\s?[ap]\.?m|[01]?[0-9] o'clock"
    r"|noon|midnight)"
)
_IN_NUMBERS: Final = tuple("0123456789")
_IN_MONTHS: Final = tuple(name[:3] for name in _MONTHS)
_IN_SEASONS: Final = ("spring", "summer", "autumn", "fall", "winter")
_IN_TURNS: Final = ("past ", *(f"{turn} " for turn in _TURNS))
_IN_QUARTERS: Final = ("q1", "q2", "q3", "q4", "quarter")
_IN_DAYS: Final = ("day", "night", "this ", "tomorrow")
_ROLLING: Final = rf"(?:the )?(?:last|past|previous|(?P<ahead>next|coming)) {COUNT} {unit_pattern('unit')}"
_NAMED_DAY: Final = rf"(?P<named>{_SAME_DAY}){_PART}"
READERS: Final[tuple[tuple[str, Callable[[re.Match[str]], When | None], tuple[str, ...]], ...]] = (
    (_ISO, _day_or_moment, _IN_NUMBERS),
    (_NUMERIC, _numeric, _IN_NUMBERS),
    (_DAY_FIRST, _day_of_month, _IN_MONTHS),
    (_MONTH_FIRST, _day_of_month, _IN_MONTHS),
    (rf"{_YEAR}-(?P<month>0[1-9]|1[0-2])", _month_of_year, _IN_NUMBERS),
    (rf"{_MONTH}{_GAP}(?:of )?{_YEAR}", _month_of_year, _IN_MONTHS),
    (rf"Q(?P<nth>[1-4]){_GAP}(?:of )?{_YEAR}", _quarter, _IN_QUARTERS),
    (rf"{_YEAR}{_GAP}Q(?P<nth>[1-4])", _quarter, _IN_QUARTERS),
    (rf"(?P<nth>{'|'.join(_ORDINALS)}) quarter (?:of |in )?{_YEAR}", _quarter, _IN_QUARTERS),
    # A season of a year means the whole year, because its months depend on the hemisphere.
    (rf"{_SEASON}{_GAP}(?:of )?{_YEAR}", lambda match: Dated(int(match["year"])), _IN_SEASONS),
    (_NAMED_DAY, lambda match: shifted(Unit.DAY, _DAYS[match["named"].lower()]), _IN_DAYS),
    (rf"{COUNT} {unit_pattern('unit')}(?: and a half)? ago", _ago, (" ago",)),
    (_ROLLING, _rolling, _IN_TURNS),
    (rf"the past {unit_pattern('unit')}", lambda match: rolling(1, unit_of(match["unit"])), _IN_TURNS),
    (_SHIFTED, _shifted, _IN_TURNS),
    (rf"(?:the )?{_PARTLY}(?P<decade>(?:1[0-9]|20)[0-9]0)['\u2019]?s", _decade, _IN_NUMBERS),
    (rf"the {_PARTLY}['\u2019]?(?P<decade>[3-9]0)['\u2019]?s", _decade, _IN_NUMBERS),
    (r"(?P<nth>[1-9]|1[0-9]|2[01])(?:st|nd|rd|th)[\s-]century", _century, ("century",)),
    (rf"(?P<month>{'|'.join(_MONTHS)})", _month, _IN_MONTHS),
    (rf"(?:{'|'.join(_WEEKDAYS)})s", lambda match: unknown, ("days",)),
    (rf"{WEEKDAY}{_PART}", lambda match: weekday_of(match["weekday"]), ("day",)),
    (rf"(?:in|during|since|every|the|that|this) (?:the )?{_SEASON}", _season, _IN_SEASONS),
    (_YEAR_ALONE, _year, _IN_NUMBERS),
    (_OF_THE_DAY, lambda match: unknown, (*_IN_NUMBERS, "noon", "midnight")),
)
"""A pattern, a function, and parts of words. The function returns the meaning of a match, or None if the
match is not a time. The patterns match at the start of a word and ignore case. Each match has one of the
parts in lower case: most texts lack them, and looking for them takes less time than looking for the
pattern."""

Reader = tuple[re.Pattern[str], Callable[[re.Match[str]], When | None]]


def time_readers(text: str) -> list[Reader]:
    """Return the pairs of a compiled pattern and a function that may find a time in the text."""
    has = text.lower().__contains__
    return [reader for parts, reader in _compiled() if any(map(has, parts))]


@cache
def _compiled() -> list[tuple[tuple[str, ...], Reader]]:
    """Return `READERS` with patterns that are compiled when they are first used."""
    return [(parts, (lazy(rf"\b(?ai:{pattern})(?!\w)"), read)) for pattern, read, parts in READERS]
