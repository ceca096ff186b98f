"""Functions that compute the interval of a mention of a time.

An interval is half-open, in µs UTC since 1970. Relative times are resolved against the day `today`, never
against a clock: `last week` is the week before the week of `today`. Weeks begin on Monday. A month or day
without a year means the latest month or day with this name that has begun. A mention has no interval if its
meaning cannot be determined (for example, without `today`), if the day does not exist (30 February), or if
the year is out of range.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple, Protocol

Interval = tuple[int, int]
"""A half-open interval [start, end) in µs UTC since 1970."""

_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAY_US: Final = 86_400_000_000
_DISTANT: Final = (date.max.toordinal() - _EPOCH) * _DAY_US
"""The end of an unbounded interval: the last day of the year 9999."""


class Unit(Enum):
    """A unit of time. The value is the length of the unit: a number of days and a number of months."""

    DAY = (1, 0)
    WEEK = (7, 0)
    MONTH = (0, 1)
    QUARTER = (0, 3)
    YEAR = (0, 12)
    DECADE = (0, 120)


class Side(Enum):
    """The position of an interval relative to a mentioned time: before, until, since or after that time."""

    BEFORE = "before"
    UNTIL = "until"
    SINCE = "since"
    AFTER = "after"


class When(Protocol):
    """The meaning of a mention of a time: a function that maps the day of the question to an interval."""

    def __call__(self, today: date | None, /) -> Interval:
        """Return the interval of the mention on the day `today`.

        Raises:
            ValueError: the interval cannot be determined, or there is no such day.
            OverflowError: the interval is beyond the years 1 to 9999.
        """


def day_of(now: int) -> date | None:
    """Return the UTC day of a moment in µs since 1970, or None if it is beyond the years 1 to 9999."""
    try:
        return _day(now)
    except (ValueError, OverflowError):
        return None


def resolve(when: When, today: date | None) -> Interval | None:
    """Return the interval that `when` means on the day `today`, or None if there is no such interval."""
    try:
        return when(today)
    except (ValueError, OverflowError):
        return None


def first_and_last(interval: Interval) -> tuple[date | None, date | None]:
    """Return the first and the last day of an interval; None for an end without a bound."""
    start, end = interval
    return _day(start) if start else None, _day(end - 1) if end < _DISTANT else None


def _day(moment: int) -> date:
    return date.fromordinal(_EPOCH + moment // _DAY_US)


def _us(day: date) -> int:
    return (day.toordinal() - _EPOCH) * _DAY_US


def _required(today: date | None) -> date:
    if today is None:
        raise ValueError
    return today


def _length(year: int, month: int) -> int:
    """Return the number of days of a month."""
    from calendar import monthrange  # it takes 2 ms, and most texts need no such number

    return monthrange(year, month)[1]


def _add(day: date, count: int, unit: Unit) -> date:
    """Return `day` plus `count` units, or the last day of the resulting month if that month is too short."""
    days, months = unit.value
    if days:
        return day + timedelta(days=days * count)
    years, month = divmod(day.year * 12 + day.month - 1 + months * count, 12)
    if not 1 <= years <= date.max.year:
        raise OverflowError
    return date(years, month + 1, min(day.day, _length(years, month + 1)))


def _beginning(day: date, unit: Unit) -> date:
    """Return the first day of the calendar unit that contains `day`."""
    if unit is Unit.DAY:
        return day
    if unit is Unit.WEEK:
        return day - timedelta(days=day.weekday())
    months = unit.value[1]
    if months >= Unit.YEAR.value[1]:
        years = months // 12
        return date(max(1, day.year - day.year % years), 1, 1)
    return date(day.year, day.month - (day.month - 1) % months, 1)


def _span(first: date, count: int, unit: Unit) -> Interval:
    return _us(first), _us(_add(first, count, unit))


def unknown(today: date | None) -> Interval:
    """The meaning of a mention that has no definite interval: a function that always raises ValueError."""
    raise ValueError


def exactly(instant: datetime, length: int) -> When:
    """Return the meaning of a fixed time: the interval of `length` µs that begins at `instant`.

    An `instant` without a time zone is in UTC.
    """
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    start = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return lambda today: (start, start + length)


class Dated(NamedTuple):
    """An interval that begins on a given date and is `length` units long, such as one month or two days."""

    year: int
    month: int = 1
    day: int = 1
    unit: Unit = Unit.YEAR
    length: int = 1

    def __call__(self, today: date | None, /) -> Interval:
        """Return the interval, which does not depend on `today`."""
        return _span(date(self.year, self.month, self.day), self.length, self.unit)


class Yearless(NamedTuple):
    """A month, or a day of a month, without a year.

    Its year depends on `turn`. If `turn` is 0, the month or day is the latest that has begun. If `turn` is
    −1, it is the latest before the current month. If `turn` is 1, it is the first after the current month.
    """

    month: int
    day: int | None = None
    turn: int = 0

    def in_year(self, year: int) -> Dated:
        """Return this month or day in a given year."""
        if self.day is None:
            return Dated(year, self.month, unit=Unit.MONTH)
        return Dated(year, self.month, self.day, Unit.DAY)

    def __call__(self, today: date | None, /) -> Interval:
        """Return the interval of the month or day that `turn` selects.

        The next 29 February may be several years away.
        """
        today = _required(today)
        if self.turn > 0:
            return self.in_year(today.year + (self.month <= today.month))(today)
        bound = today.replace(day=1) - timedelta(days=1) if self.turn else today
        for year in range(bound.year, max(0, bound.year - 9), -1):
            last_day = _length(year, self.month)
            if (self.day or 1) <= last_day and date(year, self.month, self.day or 1) <= bound:
                return self.in_year(year)(today)
        raise ValueError


class Weekday(NamedTuple):
    """A day of the week (0 is Monday), or a weekend: `length` days, of which `weekday` is the first."""

    weekday: int
    turn: int | None = 0
    length: int = 1

    def __call__(self, today: date | None, /) -> Interval:
        """Return the interval of the day or weekend that `turn` selects.

        If `turn` is 0, the result is the latest day or weekend that begins on or before `today`. If `turn` is
        −1, it is the latest that has ended. If `turn` is 1, it is the first that begins after `today`. If
        `turn` is None, it is the day or weekend in the week of `today`.
        """
        today = _required(today)
        if self.turn is None:
            return _span(_beginning(today, Unit.WEEK) + timedelta(days=self.weekday), self.length, Unit.DAY)
        back = (today.weekday() - self.weekday) % 7
        if self.turn < 0 and back < self.length:
            back += 7
        return _span(today + timedelta(days=7 - back if self.turn > 0 else -back), self.length, Unit.DAY)


def shifted(unit: Unit, turn: int) -> When:
    """Return the meaning of a phrase such as "last month" (`turn` is −1) or "next year" (`turn` is 1).

    The phrase means the calendar unit that contains `today`, moved by `turn` units.
    """
    return lambda today: _span(_add(_beginning(_required(today), unit), turn, unit), 1, unit)


def rolling(count: int, unit: Unit, *, ahead: bool = False) -> When:
    """Return the meaning of a phrase such as "the last two weeks": the interval up to the end of `today`.

    If `ahead` is True, the phrase is "the next two weeks" or similar, and the interval begins with `today`.
    """

    def interval(today: date | None) -> Interval:
        day = _required(today)
        other = _add(day, count if ahead else -count, unit)
        return _us(min(day, other)), _us(max(day, other)) + _DAY_US

    return interval


def offset(base: When, count: int, unit: Unit, side: Side) -> When:
    """Return the meaning of a phrase such as "two weeks before 11 August".

    The interval is one `unit` long and lies `count` units before or after the interval of `base`.
    """

    def interval(today: date | None) -> Interval:
        first, last = map(_day, base(today))
        if side is Side.BEFORE:
            return _us(_add(first, -count, unit)), _us(_add(first, 1 - count, unit))
        return _us(_add(last, count - 1, unit)), _us(_add(last, count, unit))

    return interval


def neighbour(base: When, weekday: Weekday, side: Side) -> When:
    """Return the meaning of a phrase such as "the Sunday before May".

    If `side` is BEFORE, the phrase means the last `weekday` before the interval of `base`. Otherwise it means
    the first `weekday` after that interval.
    """

    def interval(today: date | None) -> Interval:
        start, end = base(today)
        if side is Side.BEFORE:
            return weekday._replace(turn=-1)(_day(start))
        return weekday._replace(turn=1)(_day(end - 1))

    return interval


def bounded(base: When, side: Side) -> When:
    """Return the meaning of a phrase such as "since May": all time before, until, since or after `base`.

    For BEFORE and UNTIL, the interval begins in 1970, or is empty if its end is before 1970.
    """

    def interval(today: date | None) -> Interval:
        start, end = base(today)
        if side in {Side.BEFORE, Side.UNTIL}:
            edge = end if side is Side.UNTIL else start
            return min(0, edge), edge
        return end if side is Side.AFTER else start, _DISTANT

    return interval


def through(first: When, last: When) -> When:
    """Return the meaning of a phrase such as "from May to July".

    The phrase means the interval from the start of `first` to the end of `last`. The end must be after the
    start.
    """

    def interval(today: date | None) -> Interval:
        start, end = first(today)[0], last(today)[1]
        if start >= end:
            raise ValueError
        return start, end

    return interval


def relative_to(base: When, day: When) -> When:
    """Return the meaning of a phrase such as "last week, as mentioned on 6 November".

    The phrase means the interval of `base` if `today` is the first day of the interval of `day`.
    """
    return lambda today: base(_day(day(today)[0]))
