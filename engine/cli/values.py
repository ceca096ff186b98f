"""Between the command line's words and the engine's values: texts from stdin, and plain values for JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

from engine.base.errors import InvalidInputError, LimitError
from engine.base.limits import CONTENT_BYTES_MAX
from engine.front.times import shown_time

if TYPE_CHECKING:
    from engine.base.model import Receipt

STDIN = "-"

_TIMES = frozenset({"at", "created", "created_at", "last_event", "time", "updated"})
"""Fields that hold µs UTC in the engine and ISO 8601 here."""


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


def receipt_data(receipt: Receipt) -> dict[str, Any]:
    """The receipt of a command for `--json`."""
    return {**plain(receipt), "changed": receipt.changed}


def counted(number: int, what: str) -> str:
    """A number of things in words: `1 atom`, `1,200 atoms`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


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
