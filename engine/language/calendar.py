"""What a mention of a time means, as a half-open interval of µs UTC since 1970.

What is relative is resolved against the day of `today`, never against a clock: `last week` is the week
before that day's week, weeks begin on Monday, and a month or day without a year is the latest that has
begun. Where there is no answer (no `today`, 30 February, a year out of range) there is no interval.
"""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple, Protocol

Interval = tuple[int, int]
"""[start, end) in µs UTC since 1970."""

_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAY_US: Final = 86_400_000_000
_DISTANT: Final = (date.max.toordinal() - _EPOCH) * _DAY_US
"""Where an interval without an end stops: the last day of the year 9999."""


class Unit(Enum):
    """A length of time, in days or in months."""

    DAY = (1, 0)
    WEEK = (7, 0)
    MONTH = (0, 1)
    QUARTER = (0, 3)
    YEAR = (0, 12)
    DECADE = (0, 120)


class Side(Enum):
    """On which side of a time something is."""

    BEFORE = "before"
    UNTIL = "until"
    SINCE = "since"
    AFTER = "after"


class When(Protocol):
    """The meaning of a mention."""

    def __call__(self, today: date | None, /) -> Interval:
        """The interval, said on the day `today`; ValueError or OverflowError where it cannot be told."""


def day_of(now: int) -> date | None:
    """The UTC day of a moment in µs since 1970; None out of a calendar's range."""
    try:
        return _day(now)
    except (ValueError, OverflowError):
        return None


def resolve(when: When, today: date | None) -> Interval | None:
    """What `when` means on the day `today`; None if that cannot be told."""
    try:
        return when(today)
    except (ValueError, OverflowError):  # no such day, or beyond the years 1 to 9999
        return None


def _day(moment: int) -> date:
    return date.fromordinal(_EPOCH + moment // _DAY_US)


def _us(day: date) -> int:
    return (day.toordinal() - _EPOCH) * _DAY_US


def _known(today: date | None) -> date:
    if today is None:
        raise ValueError
    return today


def _add(day: date, count: int, unit: Unit) -> date:
    """`day` and so many units more; the last day of a month that is too short."""
    days, months = unit.value
    if days:
        return day + timedelta(days=days * count)
    years, month = divmod(day.year * 12 + day.month - 1 + months * count, 12)
    if not 1 <= years <= date.max.year:
        raise OverflowError
    return date(years, month + 1, min(day.day, calendar.monthrange(years, month + 1)[1]))


def _beginning(day: date, unit: Unit) -> date:
    """The first day of the calendar unit that contains `day`."""
    if unit is Unit.DAY:
        return day
    if unit is Unit.WEEK:
        return day - timedelta(days=day.weekday())
    months = unit.value[1]
    if months >= Unit.YEAR.value[1]:
        years = months // 12
        return date(max(1, day.year - day.year % years), 1, 1)
    return date(day.year, day.month - (day.month - 1) % months, 1)


def _from(first: date, count: int, unit: Unit) -> Interval:
    return _us(first), _us(_add(first, count, unit))


def unknown(today: date | None) -> Interval:
    """A time, but none that an interval could be given for."""
    raise ValueError


def exactly(instant: datetime, length: int) -> When:
    """So many µs from a moment, which is UTC where it names no zone."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    start = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return lambda today: (start, start + length)


class Dated(NamedTuple):
    """So many units from a day on: a day, a month, a year, a decade."""

    year: int
    month: int = 1
    day: int = 1
    unit: Unit = Unit.YEAR
    length: int = 1

    def __call__(self, today: date | None, /) -> Interval:
        """The same on every day."""
        return _from(date(self.year, self.month, self.day), self.length, self.unit)


class Yearless(NamedTuple):
    """A month, or a day of it: the latest that has begun; `turn` −1 is one before this month, +1 after."""

    month: int
    day: int | None = None
    turn: int = 0

    def in_year(self, year: int) -> Dated:
        """The same in a given year."""
        if self.day is None:
            return Dated(year, self.month, unit=Unit.MONTH)
        return Dated(year, self.month, self.day, Unit.DAY)

    def __call__(self, today: date | None, /) -> Interval:
        """The nearest one on its side of `today`; 29 February may be years away."""
        today = _known(today)
        if self.turn > 0:
            return self.in_year(today.year + (self.month <= today.month))(today)
        bound = today.replace(day=1) - timedelta(days=1) if self.turn else today
        for year in range(bound.year, max(0, bound.year - 9), -1):
            last_day = calendar.monthrange(year, self.month)[1]
            if (self.day or 1) <= last_day and date(year, self.month, self.day or 1) <= bound:
                return self.in_year(year)(today)
        raise ValueError


class Weekday(NamedTuple):
    """A day of the week, 0 for Monday, or `length` days from it: a weekend is two from a Saturday."""

    weekday: int
    turn: int | None = 0
    length: int = 1

    def __call__(self, today: date | None, /) -> Interval:
        """The latest up to `today`; `turn` −1: the latest that is over, +1: the next, None: of this week."""
        today = _known(today)
        if self.turn is None:
            return _from(_beginning(today, Unit.WEEK) + timedelta(days=self.weekday), self.length, Unit.DAY)
        back = (today.weekday() - self.weekday) % 7
        if self.turn < 0 and back < self.length:
            back += 7
        return _from(today + timedelta(days=7 - back if self.turn > 0 else -back), self.length, Unit.DAY)


def turned(unit: Unit, turn: int) -> When:
    """The calendar unit of `today`, or the one so many turns before (−) or after it: two months ago."""
    return lambda today: _from(_add(_beginning(_known(today), unit), turn, unit), 1, unit)


def rolling(count: int, unit: Unit, *, ahead: bool = False) -> When:
    """The last so many units up to the end of `today`; with `ahead`, the next ones."""

    def interval(today: date | None) -> Interval:
        day = _known(today)
        other = _add(day, count if ahead else -count, unit)
        return _us(min(day, other)), _us(max(day, other)) + _DAY_US

    return interval


def offset(base: When, count: int, unit: Unit, side: Side) -> When:
    """The unit that is so many before or after another time: two weeks before 11 August."""

    def interval(today: date | None) -> Interval:
        first, last = map(_day, base(today))
        if side is Side.BEFORE:
            return _us(_add(first, -count, unit)), _us(_add(first, 1 - count, unit))
        return _us(_add(last, count - 1, unit)), _us(_add(last, count, unit))

    return interval


def neighbour(base: When, weekday: Weekday, side: Side) -> When:
    """The weekday, or weekend, that is over last before another time or begins first after it."""

    def interval(today: date | None) -> Interval:
        start, end = base(today)
        if side is Side.BEFORE:
            return weekday._replace(turn=-1)(_day(start))
        return weekday._replace(turn=1)(_day(end - 1))

    return interval


def bounded(base: When, side: Side) -> When:
    """All the time before, until, since or after another; from 1970, or from that time if it is earlier."""

    def interval(today: date | None) -> Interval:
        start, end = base(today)
        if side in {Side.BEFORE, Side.UNTIL}:
            edge = end if side is Side.UNTIL else start
            return min(0, edge), edge
        return end if side is Side.AFTER else start, _DISTANT

    return interval


def through(first: When, last: When) -> When:
    """From the start of one time to the end of another; never backwards."""

    def interval(today: date | None) -> Interval:
        start, end = first(today)[0], last(today)[1]
        if start >= end:
            raise ValueError
        return start, end

    return interval


def said_on(base: When, day: When) -> When:
    """A relative time as it was said on another day: "last week, as mentioned on 6 November 2023"."""
    return lambda today: base(_day(day(today)[0]))
