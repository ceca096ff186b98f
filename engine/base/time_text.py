"""Conversion of times from and to text in ISO 8601; output is in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.base.errors import InvalidInputError

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
        InvalidInputError: The text is neither a number nor a date or time.
    """
    if text.isascii() and text.isdigit():
        return int(text[:20])
    return parse_time(text, what)
