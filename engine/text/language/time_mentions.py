"""Mentions of times in a text, in the common English spellings (`engine.text.language.time_patterns`).

The patterns are tried in order, and a later pattern cannot match text that an earlier pattern matched. The
words before a mention, or between two mentions, are processed last (`two weeks before`, `from … to`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from engine.base.characters import lazy
from engine.text.language.calendar import (
    Dated,
    Side,
    When,
    Yearless,
    bounded,
    neighbour,
    offset,
    relative_to,
    through,
)
from engine.text.language.time_patterns import (
    COUNT,
    WEEKDAY,
    count_of,
    time_readers,
    unit_of,
    unit_pattern,
    weekday_of,
)

_HINT: Final = lazy(
    r"(?a:[0-9]|january|february|march|april|may\b|june|july|august|september|october|november|december|"
    r"day|night|noon|tomorrow|morning|afternoon|evening|\bago\b|week|month|year|decade|quarter|"
    r"spring|summer|autumn|fall\b|winter)"
)
"""Matches a text in lower case if it may mention a time. Ignoring case takes five times as long."""

_BEFORE: Final = lazy(
    rf"\b(?ai:(?:(?:(?:the )?{COUNT} {unit_pattern('unit')}|the {unit_pattern('one')}|the {WEEKDAY}|"
    r"(?:the |last )?(?P<weekend>weekend)) )?"
    r"(?P<side>before|prior to|until|till|up to|by|since|after|following)(?: the)?)\s{1,3}$"
)

_FROM: Final = lazy(r"\b(?ai:(?P<word>from|between)(?: the)?)\s{1,3}$")

_AS_MENTIONED: Final = lazy(
    r"\b(?ai:as (?:of|mentioned|said|stated|told|noted|discussed)(?: on| in| by)?)\s{1,3}$"
)

_THROUGH: Final = lazy(
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


class TimeMention(NamedTuple):
    """A mention of a time at `text[start:end]`, and its meaning."""

    start: int
    end: int
    when: When


def find_times(text: str) -> tuple[TimeMention, ...]:
    """Return the mentions of times in `text`, in order and without overlaps."""
    if _HINT.search(text.lower()) is None:
        return ()
    mentions = list(_join_ranges(text, _match_patterns(text)))
    extended = [_extend(text, mention) for mention in _resolve_as_mentioned(text, mentions)]
    # "the Sunday before 25 October" includes the Sunday, which was also found by itself.
    return tuple(
        mention
        for i, mention in enumerate(extended)
        if i + 1 == len(extended) or mention.end <= extended[i + 1].start
    )


def _match_patterns(text: str) -> list[TimeMention]:
    """Return the mentions that match one of the patterns, in the order of the text.

    They are not combined yet.
    """
    mentions: list[TimeMention] = []
    covered = bytearray(len(text))
    for pattern, read in time_readers(text):
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(covered[start:end]):
                continue
            when = read(match)
            if when is not None:
                mentions.append(TimeMention(start, end, when))
                covered[start:end] = b"\x01" * (end - start)
    return sorted(mentions, key=lambda mention: mention.start)


def _join_ranges(text: str, mentions: list[TimeMention]) -> Iterator[TimeMention]:
    """Yield `mentions`, with each `from A to B`, `between A and B` and `A–B` joined into one mention.

    If only B has a year, A gets its year from B (see `_dated_like`).
    """
    pending: TimeMention | None = None
    for mention in mentions:
        *separate, pending = [mention] if pending is None else _join(text, pending, mention)
        yield from separate
    if pending is not None:
        yield pending


def _join(text: str, first: TimeMention, last: TimeMention) -> list[TimeMention]:
    """Return one joined mention if two adjacent mentions form a range, else both mentions."""
    gap = text[first.end : last.start] if last.start - first.end <= _GAP_CHARS else "."
    between = _THROUGH.fullmatch(gap)
    if between is None:
        return [first, last]
    lead = _FROM.search(text, max(0, first.start - _LEAD_CHARS), first.start)
    first = first._replace(when=_dated_like(first.when, last.when))
    if (between["word"] or "to").lower() == "and" and not (lead and lead["word"].lower() == "between"):
        return [first, last]
    return [TimeMention(lead.start() if lead else first.start, last.end, through(first.when, last.when))]


def _dated_like(first: When, last: When) -> When:
    """Return `first` in the year of `last`, or in the previous year, so that it is not after `last`.

    If `first` has a year, or `last` does not have a year, return `first` unchanged.
    """
    if isinstance(first, Yearless) and isinstance(last, Dated):
        return first.in_year(last.year - (first.month > last.month))
    return first


def _resolve_as_mentioned(text: str, mentions: list[TimeMention]) -> list[TimeMention]:
    """Return `mentions` after resolving relative times against the day in a phrase "as mentioned on 6 May".

    If `text` does not have exactly one phrase of this form, return `mentions` unchanged.
    """
    days = [
        mention
        for mention in mentions
        if isinstance(mention.when, Dated)
        and _AS_MENTIONED.search(text, max(0, mention.start - _LEAD_CHARS), mention.start)
    ]
    if len(days) != 1:
        return mentions
    return [
        mention if mention is days[0] else mention._replace(when=relative_to(mention.when, days[0].when))
        for mention in mentions
    ]


def _extend(text: str, mention: TimeMention) -> TimeMention:
    """Return `mention` extended by words before it, such as `since` or `two weeks before`."""
    lead = _BEFORE.search(text, max(0, mention.start - _LEAD_CHARS), mention.start)
    if lead is None:
        return mention
    side = _SIDES[lead["side"].lower()]
    length = lead["unit"] or lead["one"]
    named = lead["weekday"] or lead["weekend"]
    if side not in {Side.BEFORE, Side.AFTER} or not (length or named):
        return TimeMention(lead.start("side"), mention.end, bounded(mention.when, side))
    if named:
        return TimeMention(lead.start(), mention.end, neighbour(mention.when, weekday_of(named), side))
    count = count_of(lead["count"]) if lead["count"] else 1
    if count is None:  # "some days before": the distance is unknown
        return mention
    return TimeMention(lead.start(), mention.end, offset(mention.when, count, unit_of(length), side))
