"""Values of `Engine` as JSON values."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum, IntEnum
from functools import cache
from pathlib import PurePath
from typing import Any, Final

from engine.base.unchanged import UNCHANGED
from engine.remote.wire.times import FIELDS, shown_time


def encode(value: Any, field: str = "") -> Any:
    """Return `value` as a JSON value.

    Dataclasses become objects, enums their names in lower case or their texts, times ISO 8601, and bytes
    base64 (RFC 4648). Fields with the value `UNCHANGED` are left out.

    Args:
        value: A value that a method of `Engine` returns or accepts.
        field: The name of the field that contains the value. It decides whether an integer is a time.

    Raises:
        TypeError: There is no JSON form for `value`.
    """
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind in _LISTS:
        return [encode(item) for item in value] if value else []
    if kind is int:
        return shown_time(value) if field in FIELDS else value
    names = _names(kind)
    if names is not None:
        return _object(value, names)
    return _uncommon(value, field)


_PLAIN: Final = frozenset({str, type(None), bool, float})
_LISTS: Final = frozenset({list, tuple})


def _uncommon(value: Any, field: str) -> Any:
    """Return the JSON value of an enum, of bytes, of a mapping, or of a subclass of a plain type."""
    if isinstance(value, (str, float)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, int):
        return _number(value, field)
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return _mapping(value, field)
    if isinstance(value, Collection):
        return [encode(item) for item in value]
    return _other(value)


def _number(value: int, field: str) -> Any:
    if isinstance(value, IntEnum):
        return value.name.lower()
    return shown_time(value) if field in FIELDS and not isinstance(value, bool) else int(value)


def _object(value: object, names: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for name in names:
        item = getattr(value, name)
        # Most fields are plain: a call for each of them took a third of the time for an answer.
        if type(item) in _PLAIN:
            found[name] = item
        elif item is not UNCHANGED:
            found[name] = encode(item, name)
    return found


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of a dataclass, or None for another class."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def _mapping(value: Mapping[Any, Any], field: str) -> dict[str, Any]:
    # The keys of `meta` are chosen by the caller: a key may have the name of a field that contains a time.
    if field not in {"meta", "detail", "fields"}:
        return {str(key): encode(item, str(key)) for key, item in value.items()}
    # The detail of an event contains the meta of an atom.
    return {str(key): encode(item, field if isinstance(item, Mapping) else "") for key, item in value.items()}


def _other(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
