"""Between the command line's words and the engine's values: times, stdin, and plain values for JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

from engine.base.errors import InvalidInputError, LimitError
from engine.base.limits import CONTENT_BYTES_MAX

if TYPE_CHECKING:
    from engine.store.past import AsOf

STDIN = "-"

_TIMES = frozenset({"at", "created", "created_at", "last_event", "time", "updated"})
"""Fields that hold µs UTC in the engine and ISO 8601 here."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def shown_time(microseconds: int) -> str:
    """A time in ISO 8601, UTC, as exact as it is kept; beyond the year 9999 the number itself."""
    try:
        time = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs"
    return time.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def plain(value: Any, name: str = "") -> Any:
    """`value` in the types of JSON: enums by name, times in ISO 8601, bytes in hex."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, IntEnum):
        return value.name.lower()
    if isinstance(value, Enum):
        return value.value
    if name == "meta":
        return value  # a key of it may be that of a time of ours
    if isinstance(value, Mapping):
        return {str(key): plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if name in _TIMES and type(value) is int:
        return shown_time(value)
    return value


def counted(number: int, what: str) -> str:
    """A number of things in words: `1 atom`, `1,200 atoms`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def parse_time(text: str, what: str) -> datetime:
    """A date or time in ISO 8601; without a zone it is UTC, a date alone is its first moment.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInputError(
            f"{what} {text!r} is not a date or time", hint="write 2026-11-20 or 2026-11-20T09:30:00+01:00"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def time_in_microseconds(text: str | None, what: str) -> int | None:
    """As `parse_time`, in µs UTC; None stays None."""
    if text is None:
        return None
    from engine.base.validation import microseconds

    return microseconds(parse_time(text, what))


def meta_entry(given: str) -> tuple[str, Any]:
    """Key and value of `--meta KEY=VALUE`: a text, number, true or false of JSON, else the text as it is.

    Raises:
        InvalidInputError: there is no `=`.
    """
    key, equals, value = given.partition("=")
    if not equals:
        raise InvalidInputError(f"--meta {given!r} is not KEY=VALUE")
    try:
        found = json.loads(value)
    except ValueError:
        return key, value
    return key, found if isinstance(found, (bool, int, float, str)) else value


def moment(text: str | None) -> AsOf | None:
    """The value of `--as-of`: the seq of an event, or a date or time; None stays None."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return int(text[:20])
    return parse_time(text, "--as-of")


def given_text(text: str) -> str:
    """`text` itself, or for `-` what stdin holds, without one line end at its end.

    Raises:
        LimitError: stdin holds more than a content may.
        InvalidInputError: stdin is not UTF-8.
    """
    if text != STDIN:
        return text
    raw = sys.stdin.buffer.read(CONTENT_BYTES_MAX + 3)
    if len(raw) > CONTENT_BYTES_MAX + 2:
        raise LimitError(
            f"stdin holds over {CONTENT_BYTES_MAX} bytes", hint="`engine ingest FILE` splits long texts"
        )
    try:
        given = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"stdin is not UTF-8: byte {error.start} is no part of a character") from None
    return given[:-2] if given.endswith("\r\n") else given.removesuffix("\n")


def canonical_data(text: str | None) -> bytes:
    """The value of `--data`, JSON, as the canonical CBOR that an edge holds; None is no data.

    Raises:
        InvalidInputError: not JSON.
    """
    if text is None:
        return b""
    from proofs.codec import pack

    try:
        return pack(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"--data is not JSON: {error}", hint="""as in --data '{"page": 3}'"""
        ) from None


def shown_data(raw: bytes) -> Any:
    """An edge's data as a plain value; None where there is none."""
    from engine.ledger.codec import unpack

    return plain(unpack(raw, "edge data")) if raw else None
