"""Times in JSON: ISO 8601, in UTC. Which integers are times is told by the names of their fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.time_text import parse_time, shown_time

FIELDS: Final = frozenset({"at", "created", "created_at", "last_event", "scrubbed_at", "time", "updated"})
"""The names of the fields of results that contain times, in µs since 1970, UTC."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT: Final = " µs"


def microseconds_of(text: str, where: str) -> int:
    """Return the time that `engine.base.time_text.shown_time` shows as `text`, in µs since 1970, UTC.

    Raises:
        InvalidInputError: `text` is not a time.
    """
    if text.endswith(_UNIT):
        number = text.removesuffix(_UNIT)
        if not number.removeprefix("-").isdecimal():
            raise InvalidInputError(f"{where}: {text!r} is not a time")
        return int(number)
    return (parse_time(text, where) - _EPOCH) // timedelta(microseconds=1)


__all__ = ["FIELDS", "microseconds_of", "shown_time"]
