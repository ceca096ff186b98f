"""Reading the dates that people and programs write, exactly, to microseconds."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MILLISECONDS_FROM = 10**11
"""As seconds this is the year 5138, as milliseconds March 1973."""
_MICROSECONDS_MAX = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def created_of_text(text: str) -> int | None:
    """µs UTC of an ISO 8601 date or time (RFC 3339 included); None if it is none, or before 1970.

    Without an offset it is UTC: the reader's own time zone must not reach what is stored.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        created = (aware - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None
    return created if created >= 0 else None


def created_of_number(number: float) -> int | None:
    """µs UTC of seconds since 1970, or of milliseconds if it is 1e11 or more; None out of range."""
    if not math.isfinite(number) or number < 0:
        return None
    scale = 1_000 if number >= _MILLISECONDS_FROM else 1_000_000
    created = number * scale if isinstance(number, int) else round(number * scale)
    return created if created <= _MICROSECONDS_MAX else None
