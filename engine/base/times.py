"""Conversion of times from and to text in ISO 8601; output is in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.base import limits
from engine.base.errors import InvalidInputError
from engine.base.validation import integer, quoted

Moment = int | datetime
"""The value of the option `--as-of`: the seq of an event, or a datetime with a time zone."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def shown_time(microseconds: int) -> str:
    """Return a time in ISO 8601, in UTC, with microseconds; for a year after 9999, the number of µs."""
    try:
        time = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs"
    return time.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def parse_time(text: str, what: str) -> datetime:
    """Return the datetime for a text in ISO 8601.

    A time without a time zone is in UTC. A date without a time means the first moment of that day.

    Raises:
        InvalidInputError: The text is not a date or time.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInputError(
            f"{what} {text!r} is not a date or time", hint="write 2026-11-20 or 2026-11-20T09:30:00+01:00"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def parse_moment(text: str, what: str) -> Moment:
    """Return the seq of an event if the text is a number; otherwise parse it as `parse_time` does.

    Raises:
        InvalidInputError: The text is neither a number nor a date or time; or the number has leading zeros or
            more than 20 digits.
    """
    if text.isascii() and text.isdigit():
        if text != str(int(text[:20])):
            raise InvalidInputError(
                f"{what} {text[:80]!r} is not the seq of an event",
                hint="write a number without leading zeros",
            )
        return int(text)
    return parse_time(text, what)


def created(value: object) -> int | None:
    """Return the time when a text was written, in µs since 1970 UTC; None if `value` is None.

    `value` is a number of µs since 1970 UTC or a datetime with a time zone.

    Raises:
        InvalidInputError: `value` is neither a number nor such a datetime, or the time is before the year 1.
        LimitError: the time is after the year 9999.
    """
    if isinstance(value, datetime):
        value = microseconds(value)
    return None if value is None else integer(value, "created", limits.CREATED_MAX, limits.CREATED_MIN)


def microseconds(value: object, what: str = "time") -> int:
    """Return the time `value` in µs since 1970 UTC (negative before 1970).

    `value` is a number of µs since 1970 UTC, or a datetime.

    Raises:
        InvalidInputError: `value` is neither a number nor a datetime, is below the range of an atom's
            `created`, or is a datetime without a time zone.
        LimitError: `value` is over 2^63 − 1.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise InvalidInputError(f"{what} {value.isoformat()} has no time zone; add one, such as +00:00")
        value = (value - _EPOCH) // timedelta(microseconds=1)
    if type(value) is not int:
        raise InvalidInputError(
            f"{what} must be a datetime with a time zone or a number of µs, not {quoted(value)}"
        )
    return integer(value, what, least=limits.CREATED_MIN)
