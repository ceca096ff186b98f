"""Finds the mentions of times in a text, in the spellings that are common in English.

Matching is over the text, not over words, so that it finds the same whatever cut the words. Every
repetition in a pattern is bounded. The patterns are tried in order, and what one has found no later one
sees; what stands before or between two mentions (`two weeks before`, `from … to`) is read last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

from engine.language.calendar import Dated, Side, When, Yearless, bounded, neighbour, offset, said_on, through
from engine.language.spellings import COUNT, READERS, WEEKDAY, count_of, unit_of, unit_pattern, weekday_of

_HINT: Final = re.compile(
    r"(?ai:[0-9]|january|february|march|april|may\b|june|july|august|september|october|november|december|"
    r"day|night|noon|tomorrow|morning|afternoon|evening|\bago\b|week|month|year|decade|quarter|"
    r"spring|summer|autumn|fall\b|winter)"
)
_BEFORE: Final = re.compile(
    rf"\b(?ai:(?:(?:(?:the )?{COUNT} {unit_pattern('unit')}|the {unit_pattern('one')}|the {WEEKDAY}|"
    r"(?:the |last )?(?P<weekend>weekend)) )?"
    r"(?P<side>before|prior to|until|till|up to|by|since|after|following)(?: the)?)\s{1,3}$"
)
_FROM: Final = re.compile(r"\b(?ai:(?P<word>from|between)(?: the)?)\s{1,3}$")
_SAID: Final = re.compile(
    r"\b(?ai:as (?:of|mentioned|said|stated|told|noted|discussed)(?: on| in| by)?)\s{1,3}$"
)
_THROUGH: Final = re.compile(
    r"\s{0,3}(?:[-\u2010-\u2014]|\b(?ai:(?P<word>to|until|till|through|and))\b)(?ai:\s{1,3}the\b)?\s{0,3}"
)
_LEAD_CHARS: Final = 48
_GAP_CHARS: Final = 16
_SIDES: Final = {
    "before": Side.BEFORE,
    "prior to": Side.BEFORE,
    "until": Side.UNTIL,
    "till": Side.UNTIL,
    "up to": Side.UNTIL,
    "by": Side.UNTIL,
    "since": Side.SINCE,
    "after": Side.AFTER,
    "following": Side.AFTER,
}


class Mark(NamedTuple):
    """A mention of a time at `text[start:end]`, and what it means."""

    start: int
    end: int
    when: When


def find_times(text: str) -> tuple[Mark, ...]:
    """The mentions of times in `text`, in order, none inside another."""
    if _HINT.search(text) is None:
        return ()
    marks = list(_ranges(text, _found(text)))
    led = [_led(text, mark) for mark in _said(text, marks)]
    # "the Sunday before 25 October" has taken in the Sunday, which was found alone as well.
    return tuple(mark for i, mark in enumerate(led) if i + 1 == len(led) or mark.end <= led[i + 1].start)


def _found(text: str) -> list[Mark]:
    """What the patterns find, each alone."""
    found: list[Mark] = []
    taken = bytearray(len(text))
    for pattern, read in _readers():
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            when = read(match)
            if when is not None:
                found.append(Mark(start, end, when))
                taken[start:end] = b"\x01" * (end - start)
    return sorted(found, key=lambda mark: mark.start)


@cache
def _readers() -> list[tuple[re.Pattern[str], Callable[[re.Match[str]], When | None]]]:
    """Compiled on first use."""
    return [(re.compile(rf"\b(?ai:{pattern})(?!\w)"), read) for pattern, read in READERS]


def _ranges(text: str, marks: list[Mark]) -> Iterator[Mark]:
    """`marks` with every `from A to B`, `between A and B` and `A–B` made one; A borrows the year of B."""
    held: Mark | None = None
    for mark in marks:
        if held is not None:
            joined = _joined(text, held, mark)
            if len(joined) == 2:
                yield joined[0]
            held = joined[-1]
        else:
            held = mark
    if held is not None:
        yield held


def _joined(text: str, first: Mark, last: Mark) -> list[Mark]:
    """Two neighbours made one if they are a range, else both."""
    gap = text[first.end : last.start] if last.start - first.end <= _GAP_CHARS else "."
    between = _THROUGH.fullmatch(gap)
    if between is None:
        return [first, last]
    lead = _FROM.search(text, max(0, first.start - _LEAD_CHARS), first.start)
    first = first._replace(when=_dated_like(first.when, last.when))
    if (between["word"] or "to").lower() == "and" and not (lead and lead["word"].lower() == "between"):
        return [first, last]
    return [Mark(lead.start() if lead else first.start, last.end, through(first.when, last.when))]


def _dated_like(first: When, last: When) -> When:
    """`first` in the year of `last`, or the one before it, if only `last` names one."""
    if isinstance(first, Yearless) and isinstance(last, Dated):
        return first.in_year(last.year - (first.month > last.month))
    return first


def _said(text: str, marks: list[Mark]) -> list[Mark]:
    """`marks`, the relative ones as said on the day of "as mentioned on …", where there is one."""
    days = [
        mark
        for mark in marks
        if isinstance(mark.when, Dated) and _SAID.search(text, max(0, mark.start - _LEAD_CHARS), mark.start)
    ]
    if len(days) != 1:
        return marks
    return [
        mark if mark is days[0] else mark._replace(when=said_on(mark.when, days[0].when)) for mark in marks
    ]


def _led(text: str, mark: Mark) -> Mark:
    """`mark` with what stands before it: `since`, `two weeks before`, `the Sunday after`."""
    lead = _BEFORE.search(text, max(0, mark.start - _LEAD_CHARS), mark.start)
    if lead is None:
        return mark
    side = _SIDES[lead["side"].lower()]
    length = lead["unit"] or lead["one"]
    named = lead["weekday"] or lead["weekend"]
    if side not in {Side.BEFORE, Side.AFTER} or not (length or named):
        return Mark(lead.start("side"), mark.end, bounded(mark.when, side))
    if named:
        return Mark(lead.start(), mark.end, neighbour(mark.when, weekday_of(named), side))
    count = count_of(lead["count"]) if lead["count"] else 1
    if count is None:  # "some days before": near it, and nobody knows how near
        return mark
    return Mark(lead.start(), mark.end, offset(mark.when, count, unit_of(length), side))
