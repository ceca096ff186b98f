"""Conversion of values in files to values that the engine accepts: contents, sources, titles, tags, dates.

The engine's own rules are applied without raising the engine's errors, because one invalid piece must not
make a whole file fail. Dates are read exactly, to microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.base import validation as rules
from engine.base.errors import InvalidInputError
from engine.base.limits import CREATED_MAX, CREATED_MIN, SOURCE_BYTES_MAX, TITLE_BYTES_MAX
from engine.base.validation import content

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MILLISECONDS_FROM = 10**11
"""The smallest number that is read as milliseconds since 1970; smaller numbers are read as seconds.

In milliseconds, this number is a time in March 1973. In seconds, it would be a time in the year 5138.
"""
_YEAR = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")


def content_problem(text: str) -> str | None:
    """Return the reason why `text` is not valid as content, or None if it is valid."""
    return _problem(content, text)


def source_problem(source: str) -> str | None:
    """Return the reason why `source` is not valid as a source, or None if it is valid."""
    return _problem(rules.optional_line, source, "source", SOURCE_BYTES_MAX)


def is_line(text: str, bytes_max: int) -> bool:
    """Return True if `text` can be stored as one line of at most `bytes_max` bytes."""
    return _problem(rules.line, text, "text", bytes_max) is None


def _problem(rule: Callable[..., object], *arguments: object) -> str | None:
    try:
        rule(*arguments)
    except InvalidInputError as error:
        return str(error)
    return None


def checked_content(text: str) -> str:
    """Return `text`, or raise BadItemError if it is not valid as content."""
    return _checked(text, content_problem(text))


def checked_source(text: str) -> str:
    """Return `text`, or raise BadItemError if it is not valid as a source."""
    return _checked(text, source_problem(text))


def _checked(text: str, reason: str | None) -> str:
    if reason is not None:
        from engine.files.ingest.documents import BadItemError

        raise BadItemError(reason)
    return text


def title_of(text: str) -> str | None:
    """Return `text` as a title, on one line and cut to `TITLE_BYTES_MAX`; None if it is blank or invalid."""
    line = " ".join(text[:TITLE_BYTES_MAX].split())
    title = line.encode("utf-8", "replace")[:TITLE_BYTES_MAX].decode("utf-8", "ignore").rstrip()
    try:
        return rules.optional_line(title, "title", TITLE_BYTES_MAX) if title else None
    except InvalidInputError:
        return None


def tag_of(text: str) -> str | None:
    """Return `text` as a tag in its stored form, without outer slashes; None if it is not a valid tag."""
    try:
        return rules.tag(text.strip().lstrip("#").strip("/"))
    except InvalidInputError:
        return None


def created_from_text(text: str) -> int | None:
    """Return an ISO 8601 date or time (RFC 3339 included) as µs UTC, or None if it is invalid.

    The years 1 to 9999 are valid. A year alone means the start of the year. A year with a month means the
    start of the month. A time without an offset is taken as UTC: the local time zone must not affect what is
    stored.
    """
    written = text.strip()
    if _YEAR.fullmatch(written):
        written += "-01-01"[len(written) - 4 :]
    try:
        moment = datetime.fromisoformat(written)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        created = (aware - EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None
    return created if CREATED_MIN <= created <= CREATED_MAX else None


def created_from_number(number: float) -> int | None:
    """Convert a number of seconds since 1970 to µs UTC. A negative number is a time before 1970.

    A number of at least 1e11, or at most -1e11, is taken as milliseconds. Return None if the time is not in
    the years 1 to 9999.
    """
    if not -CREATED_MAX <= number <= CREATED_MAX:  # also excludes NaN and huge integers
        return None
    scale = 1_000 if abs(number) >= _MILLISECONDS_FROM else 1_000_000
    created = number * scale if isinstance(number, int) else round(number * scale)
    return created if CREATED_MIN <= created <= CREATED_MAX else None


def created_from_value(value: Any) -> int | None:
    """Convert a JSON string (ISO 8601) or number (seconds or milliseconds since 1970) to µs UTC.

    Return None if the value is not a valid time.
    """
    if isinstance(value, str):
        return created_from_text(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return created_from_number(value) if is_number else None
