"""What files say as what the engine takes: its own rules for text, asked instead of enforced, and dates.

One bad piece must not spoil a file. Dates are read exactly, to microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.base import validation as rules
from engine.base.errors import InvalidInputError
from engine.base.limits import SOURCE_BYTES_MAX, TITLE_BYTES_MAX
from engine.transfer.ingest.documents import BadItemError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MILLISECONDS_FROM = 10**11
"""As seconds this is the year 5138, as milliseconds March 1973."""
_MICROSECONDS_MAX = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND


def content_problem(text: str) -> str | None:
    """Why the engine would refuse `text` as content, or None if it would take it."""
    return _fault(rules.content, text)


def source_fault(source: str) -> str | None:
    """Why the engine would refuse `source` as a source, or None if it would take it."""
    return _fault(rules.optional_line, source, "source", SOURCE_BYTES_MAX)


def is_line(text: str, bytes_max: int) -> bool:
    """Whether `text` could be stored as one line of at most `bytes_max` bytes."""
    return _fault(rules.line, text, "text", bytes_max) is None


def _fault(rule: Callable[..., object], *given: object) -> str | None:
    try:
        rule(*given)
    except InvalidInputError as error:
        return str(error)
    return None


def checked_content(text: str) -> str:
    """`text`, or BadItemError if the engine would refuse it as content."""
    return _taken(text, content_problem(text))


def checked_source(text: str) -> str:
    """`text`, or BadItemError if the engine would refuse it as a source."""
    return _taken(text, source_fault(text))


def _taken(text: str, reason: str | None) -> str:
    if reason is not None:
        raise BadItemError(reason)
    return text


def title_of(text: str) -> str | None:
    """`text` as a title: on one line, cut to `TITLE_BYTES_MAX`; None if blank or not fit to be stored."""
    line = " ".join(text[:TITLE_BYTES_MAX].split())
    title = line.encode("utf-8", "replace")[:TITLE_BYTES_MAX].decode("utf-8", "ignore").rstrip()
    try:
        return rules.optional_line(title, "title", TITLE_BYTES_MAX) if title else None
    except InvalidInputError:
        return None


def tag_of(text: str) -> str | None:
    """`text` as a tag in its kept form, without slashes at its ends; None if it cannot be one."""
    try:
        return rules.tag(text.strip().lstrip("#").strip("/"))
    except InvalidInputError:
        return None


def created_of_text(text: str) -> int | None:
    """µs UTC of an ISO 8601 date or time (RFC 3339 included); None if it is none, or before 1970.

    Without an offset it is UTC: the reader's own time zone must not reach what is stored.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        created = (aware - EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None
    return created if created >= 0 else None


def created_of_number(number: float) -> int | None:
    """µs UTC of seconds since 1970, or of milliseconds if it is 1e11 or more; None out of range."""
    if not 0 <= number <= _MICROSECONDS_MAX:  # nor a NaN; a whole number may be too large for a float
        return None
    scale = 1_000 if number >= _MILLISECONDS_FROM else 1_000_000
    created = number * scale if isinstance(number, int) else round(number * scale)
    return created if created <= _MICROSECONDS_MAX else None


def created_of_value(value: Any) -> int | None:
    """µs UTC of a value of JSON: a text or a number as above; None for anything else."""
    if isinstance(value, str):
        return created_of_text(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return created_of_number(value) if is_number else None
