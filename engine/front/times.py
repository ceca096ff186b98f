"""Times as text: ISO 8601 as input, ISO 8601 in UTC as output."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.base.errors import InvalidInputError

Moment = int | datetime
"""The value of `--as-of`: the seq of an event, or a time with a zone."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def shown_time(microseconds: int) -> str:
    """Return a time in ISO 8601, UTC, with microseconds; after the year 9999, the number of microseconds."""
    try:
        time = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs"
    return time.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def parse_time(text: str, what: str) -> datetime:
    """Return the datetime that a text in ISO 8601 describes.

    Without a zone the time is UTC; a date alone stands for its first moment.

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
    """Return the seq of an event, or a date or time as `parse_time` does.

    Raises:
        InvalidInputError: The text is neither.
    """
    if text.isascii() and text.isdigit():
        return int(text[:20])
    return parse_time(text, what)
