"""A strict JSON parser (RFC 8259, restricted to I-JSON, RFC 7493), a JSON writer, and results as JSON values.

Python's own parser keeps the last of two equal keys, reads `1e999` as infinity, and accepts lone surrogates,
which UTF-8 cannot encode. This parser rejects such documents. It also rejects documents that are too large or
nested too deeply.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum, IntEnum
from functools import cache
from pathlib import PurePath
from typing import Any, Final, NoReturn

from engine.base.characters import INVISIBLE, is_needed, lazy
from engine.base.errors import InvalidInputError

DEPTH_MAX: Final = 64
"""The maximum nesting depth of arrays and objects."""

BYTES_MAX: Final = 64 << 20

_WHITE: Final = lazy(r"[ \t\r\n]*")
_ESCAPE: Final = lazy(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F])|.)", re.DOTALL
)
_SURROGATE: Final = lazy("(?P<lone>[\ud800-\udfff])")
_ESCAPED: Final = lazy(f"[<>\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffc-\uffff{INVISIBLE}]")
"""The characters that are escaped: the markup characters `<` and `>`, terminal control characters, and
invisible characters, which a language model would still read."""


def dumped(
    value: object, *, indent: int | None = None, spaces: bool = False, ascii_only: bool = False
) -> str:
    r"""Return `value` as JSON, with `<`, `>`, DEL, C1 controls and invisible characters escaped as `\uXXXX`.

    If `indent` is None, the result is one line. It has spaces after `,` and `:` only with `spaces`.
    """
    separators = (",", ":") if indent is None and not spaces else None
    return escaped(json.dumps(value, ensure_ascii=ascii_only, separators=separators, indent=indent))


def escaped(text: str) -> str:
    """Escape in a JSON text the characters that `dumped` escapes. The value of the JSON does not change."""
    return _ESCAPED.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character > "\x7f" and is_needed(match.string, match.start()):
        return character
    # `json.dumps` writes a character above U+FFFF as two surrogates.
    return f"\\u{ord(character):04x}" if character < "\x80" else json.dumps(character)[1:-1]


class JsonError(InvalidInputError):
    """A text is not valid JSON, or breaks one of the parser's additional rules."""


def parse(source: bytes | str, *, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX) -> Any:
    """Parse one JSON document and return its value.

    Args:
        source: One JSON text, as UTF-8 or already decoded; white space around it is allowed.
        bytes_max: The maximum length of `source` in bytes, or in characters if `source` is a `str`.
        depth_max: The maximum nesting depth of arrays and objects.

    Raises:
        JsonError: `source` is too large, nested too deeply, not UTF-8 or not JSON; an object has the same key
            twice; a number is too large for a float or has thousands of digits; a string contains a lone
            surrogate.
    """
    text = _decoded(source, bytes_max)
    value, end = _value(text, 0, depth_max)
    if end < len(text):
        raise _error_at(text, end, "not JSON: unexpected text after the value")
    return value


def parse_several(
    source: bytes | str, *, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX
) -> Iterator[Any]:
    """Yield the values of a sequence of JSON documents, with or without white space between them.

    Raises:
        JsonError: see `parse`. The values that precede the error have already been yielded.
    """
    text = _decoded(source, bytes_max)
    end = _skip_white(text, 0)
    while end < len(text):
        value, end = _value(text, end, depth_max)
        yield value


def _decoded(source: bytes | str, bytes_max: int) -> str:
    if len(source) > bytes_max:
        raise JsonError(f"the JSON text is over {bytes_max:,} bytes long")
    if isinstance(source, str):
        return source
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start}") from None


def _value(text: str, start: int, depth_max: int) -> tuple[Any, int]:
    """Return the value that begins at or after `start`, and the position of the text after it."""
    begin = _skip_white(text, start)
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        raise _error_at(text, error.pos, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise _too_deep(depth_max) from None
    except ValueError:  # Python does not parse integers of over 4,300 digits
        raise _error_at(text, begin, "not JSON: a number has thousands of digits") from None
    if text.count("[", begin, end) + text.count("{", begin, end) > depth_max and _depth(value) > depth_max:
        raise _too_deep(depth_max)
    for pattern in (_ESCAPE, _SURROGATE):
        for match in pattern.finditer(text, begin, end):
            if match["lone"]:
                raise _error_at(text, match.start(), "a string has a lone surrogate: it is not valid Unicode")
    return value, _skip_white(text, end)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique:
            raise JsonError(f"the key {key[:80]!a} occurs twice in an object")
        unique[key] = value
    return unique


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise JsonError(f"the number {digits[:40]} is too large")
    return value


def _reject_constant(name: str) -> NoReturn:
    raise JsonError(f"not JSON: {name}")


def _too_deep(depth_max: int) -> JsonError:
    return JsonError(f"nested more than {depth_max} levels deep")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_reject_constant
)


def _depth(value: Any) -> int:
    """Return the maximum nesting depth of arrays and objects in `value`."""
    depth, level = 0, [value]
    while level := [part for part in level if isinstance(part, (dict, list))]:
        depth += 1
        level = [item for part in level for item in (part.values() if isinstance(part, dict) else part)]
    return depth


def _skip_white(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    return at if match is None else match.end()


def _error_at(text: str, at: int, reason: str) -> JsonError:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    multiline = "\n" in text.strip()
    return JsonError(f"{reason} ({f'line {line}, ' if multiline else ''}column {column})")


TIME_FIELDS: Final = frozenset(
    {"at", "created", "created_at", "last_event", "scrubbed_at", "time", "updated"}
)
"""The names of the fields of results that contain times, in µs since 1970, UTC."""


def encode(value: Any, field: str = "") -> Any:
    """Return `value` as a JSON value.

    Dataclasses become objects, enums their names in lower case or their texts, times ISO 8601, and bytes
    base64 (RFC 4648).

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
        return _time(value) if field in TIME_FIELDS else value
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


def _time(value: int) -> str:
    from engine.base.times import shown_time  # not needed at the start of a server, which this module is

    return shown_time(value)


def _number(value: int, field: str) -> Any:
    if isinstance(value, IntEnum):
        return value.name.lower()
    return _time(value) if field in TIME_FIELDS and not isinstance(value, bool) else int(value)


def _object(value: object, names: tuple[str, ...]) -> dict[str, Any]:
    members = {}
    for name in names:
        item = getattr(value, name)
        # Most fields are plain: a call for each of them took a third of the time for an answer.
        if type(item) in _PLAIN:
            members[name] = item
        else:
            members[name] = encode(item, name)
    return members


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
