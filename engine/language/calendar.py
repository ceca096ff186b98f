"""What a mention of a time means, as a half-open interval of µs UTC since 1970.

What is relative is resolved against the day of `today`, never against a clock: `last week` is the week
before that day's week, weeks begin on Monday, and a month or day without a year is the latest that has
begun. Where there is no answer (no `today`, 30 February, a year out of range) there is no interval.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Final, Protocol

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

    def interval(self, today: date | None) -> Interval | None:
        """What it means, said on the day `today`; None if that cannot be told."""


def day_of(now: int) -> date | None:
    """The UTC day of a moment in µs since 1970; None out of a calendar's range."""
    try:
        return date.fromordinal(_EPOCH + now // _DAY_US)
    except (ValueError, OverflowError):
        return None


def resolve(when: When, today: date | None) -> Interval | None:
    """What `when` means on the day `today`; None if that cannot be told."""
    try:
        return when.interval(today)
    except (ValueError, OverflowError):  # no such day, or beyond the years 1 to 9999
        return None


def moment(instant: datetime) -> int:
    """µs UTC of a time; UTC where it names no zone."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _us(day: date) -> int:
    return (day.toordinal() - _EPOCH) * _DAY_US


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


@dataclass(frozen=True, slots=True)
class Unknown:
    """A time, but none that an interval could be given for."""

    def interval(self, today: date | None) -> Interval | None:
        """None, always."""
        return None


@dataclass(frozen=True, slots=True)
class Exactly:
    """From a moment on for a length, both in µs."""

    start: int
    length: int

    def interval(self, today: date | None) -> Interval | None:
        """As it stands."""
        return self.start, self.start + self.length


@dataclass(frozen=True, slots=True)
class Dated:
    """So many units from a day on: a day, a month, a year, a decade."""

    year: int
    month: int = 1
    day: int = 1
    unit: Unit = Unit.YEAR
    count: int = 1

    def interval(self, today: date | None) -> Interval | None:
        """The same on every day."""
        return _from(date(self.year, self.month, self.day), self.count, self.unit)


@dataclass(frozen=True, slots=True)
class Yearless:
    """A month, or a day of it: the latest that has begun; `turn` −1 is one before this month, +1 after."""

    month: int
    day: int | None = None
    turn: int = 0

    def in_year(self, year: int) -> Dated:
        """The same in a given year."""
        if self.day is None:
            return Dated(year, self.month, unit=Unit.MONTH)
        return Dated(year, self.month, self.day, Unit.DAY)

    def interval(self, today: date | None) -> Interval | None:
        """The nearest one on its side of `today`; 29 February may be years away."""
        if today is None:
            return None
        if self.turn > 0:
            return self.in_year(today.year + (self.month <= today.month)).interval(today)
        bound = today.replace(day=1) - timedelta(days=1) if self.turn else today
        for year in range(bound.year, max(0, bound.year - 9), -1):
            last_day = calendar.monthrange(year, self.month)[1]
            if (self.day or 1) <= last_day and date(year, self.month, self.day or 1) <= bound:
                return self.in_year(year).interval(today)
        return None


@dataclass(frozen=True, slots=True)
class Turn:
    """The calendar unit of `today`, or the one so many turns before (−) or after it."""

    unit: Unit
    turn: int = 0

    def interval(self, today: date | None) -> Interval | None:
        """Yesterday, this week, two months ago."""
        if today is None:
            return None
        return _from(_add(_beginning(today, self.unit), self.turn, self.unit), 1, self.unit)


@dataclass(frozen=True, slots=True)
class Rolling:
    """The last so many units, `today` included; with `ahead`, the next ones."""

    count: int
    unit: Unit
    ahead: bool = False

    def interval(self, today: date | None) -> Interval | None:
        """From the day so many units before up to the end of `today`, or the mirror of it."""
        if today is None:
            return None
        other = _add(today, self.count if self.ahead else -self.count, self.unit)
        return _us(min(today, other)), _us(max(today, other)) + _DAY_US


@dataclass(frozen=True, slots=True)
class Weekday:
    """A day of the week, 0 for Monday: the latest up to `today`.

    `turn` −1 is the latest that is over, +1 the next, None the one of this week.
    """

    weekday: int
    turn: int | None = 0
    length: int = 1

    def interval(self, today: date | None) -> Interval | None:
        """The day, or `length` days from it: a weekend is two from a Saturday."""
        if today is None:
            return None
        if self.turn is None:
            return _from(_beginning(today, Unit.WEEK) + timedelta(days=self.weekday), self.length, Unit.DAY)
        back = (today.weekday() - self.weekday) % 7
        if self.turn < 0 and back < self.length:
            back += 7
        return _from(today + timedelta(days=7 - back if self.turn > 0 else -back), self.length, Unit.DAY)


@dataclass(frozen=True, slots=True)
class Offset:
    """The unit that is so many before or after another time: two weeks before 11 August."""

    base: When
    count: int
    unit: Unit
    side: Side

    def interval(self, today: date | None) -> Interval | None:
        """One unit long, and `count` − 1 units away from the other time."""
        found = self.base.interval(today)
        first, last = map(day_of, found) if found else (None, None)
        if first is None or last is None:
            return None
        if self.side is Side.BEFORE:
            return _us(_add(first, -self.count, self.unit)), _us(_add(first, 1 - self.count, self.unit))
        return _us(_add(last, self.count - 1, self.unit)), _us(_add(last, self.count, self.unit))


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The day of the week, or weekend, that comes last before or first after another time."""

    base: When
    weekday: Weekday
    side: Side

    def interval(self, today: date | None) -> Interval | None:
        """Over before the other begins, or begun after it ended."""
        found = self.base.interval(today)
        edge = day_of(found[0] if self.side is Side.BEFORE else found[1] - 1) if found else None
        turn = -1 if self.side is Side.BEFORE else 1
        return Weekday(self.weekday.weekday, turn, self.weekday.length).interval(edge)


@dataclass(frozen=True, slots=True)
class Bounded:
    """All the time before, until, since or after another; from 1970 at the earliest."""

    base: When
    side: Side

    def interval(self, today: date | None) -> Interval | None:
        """Empty where the other time is before 1970 and this is before it."""
        found = self.base.interval(today)
        if found is None:
            return None
        if self.side in {Side.BEFORE, Side.UNTIL}:
            edge = found[self.side is Side.UNTIL]
            return min(0, edge), edge
        return found[self.side is Side.AFTER], _DISTANT


@dataclass(frozen=True, slots=True)
class Through:
    """From the start of one time to the end of another."""

    first: When
    last: When

    def interval(self, today: date | None) -> Interval | None:
        """None if it would run backwards."""
        first, last = self.first.interval(today), self.last.interval(today)
        return (first[0], last[1]) if first and last and first[0] < last[1] else None


@dataclass(frozen=True, slots=True)
class SaidOn:
    """A relative time as it was said on another day: "last week, as mentioned on 6 November 2023"."""

    base: When
    day: When

    def interval(self, today: date | None) -> Interval | None:
        """Resolved against that day."""
        said = self.day.interval(today)
        return self.base.interval(day_of(said[0])) if said else None
