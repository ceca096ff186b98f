"""JSON read strictly, RFC 8259 within the bounds of I-JSON (RFC 7493), and JSON written for models.

Python's own reader keeps the last of two equal keys, reads `1e999` as infinity, and lets a lone surrogate
into a text that UTF-8 cannot hold. Here these are refused, and so is what is too large or nested too deep.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from engine.base.errors import InvalidInputError

DEPTH_MAX: Final = 64
"""Arrays and objects inside each other."""

BYTES_MAX: Final = 64 << 20

_WHITE: Final = re.compile(r"[ \t\r\n]*")
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F])|.)", re.DOTALL
)
_SURROGATE: Final = re.compile("(?P<lone>[\ud800-\udfff])")
_TOKEN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|NaN|-?Infinity|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|[^\s"\[\]{},:]',
    re.DOTALL,
)
"""Python's reader refuses a number or a constant before it looks at what follows, and so does this."""
_ESCAPED: Final = re.compile(
    "[<>\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff"
    "\U000e0000-\U000e0fff]"
)
"""Markup, terminal control characters, and invisible characters, which a language model would still read."""


def dumped(value: object, *, indent: int | None = None) -> str:
    r"""JSON on one line unless indented; `<`, `>`, DEL, C1 and invisible characters become `\uXXXX`."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, separators=separators, indent=indent)
    return _ESCAPED.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    # As two surrogates where it is beyond U+FFFF.
    return f"\\u{ord(character):04x}" if character < "\x80" else json.dumps(character)[1:-1]


class JsonError(InvalidInputError):
    """A text is no JSON that is taken.

    `line` and `column` say where, from 1; None where it is no matter of a place.
    """

    line: int | None = None
    column: int | None = None


def parse(given: bytes | str, *, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX) -> Any:
    """The value that a text is.

    Args:
        given: One JSON text, as UTF-8 or already decoded; white space around it is allowed.
        bytes_max: How many bytes (of a `str`, characters) it may have.
        depth_max: How many arrays and objects may be inside each other.

    Raises:
        JsonError: it is larger or deeper, no UTF-8, or not JSON; a key is twice in one object; a number is no
            finite float or has thousands of digits; a text holds a lone surrogate.
    """
    text = _text(given, bytes_max)
    value, end = _value(text, 0, depth_max)
    if end < len(text):
        raise _at(text, end, "not JSON: something after the value")
    return value


def parse_several(
    given: bytes | str, *, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX
) -> Iterator[Any]:
    """The values that stand one after another in a text, with or without white space between.

    Raises:
        JsonError: as `parse`; the values before have been yielded.
    """
    text = _text(given, bytes_max)
    end = _after_white(text, 0)
    while end < len(text):
        value, end = _value(text, end, depth_max)
        yield value


def _text(given: bytes | str, bytes_max: int) -> str:
    if len(given) > bytes_max:
        raise JsonError(f"over {bytes_max:,} bytes long")
    if isinstance(given, str):
        return given
    try:
        return given.decode()
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start}") from None


def _value(text: str, start: int, depth_max: int) -> tuple[Any, int]:
    """The value that begins at or after `start`, and where what follows it begins."""
    begin = _after_white(text, start)
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        raise _at(text, error.pos, f"not JSON: {error.msg}") from None
    except (_RefusedError, RecursionError):
        raise _refusal(text, begin, depth_max) from None
    except ValueError:  # Python reads no integer of over 4,300 digits
        raise _at(text, begin, "not JSON: a number has thousands of digits") from None
    if text.count("[", begin, end) + text.count("{", begin, end) > depth_max and _depth(value) > depth_max:
        raise _refusal(text, begin, depth_max)
    for pattern in (_ESCAPE, _SURROGATE):
        for found in pattern.finditer(text, begin, end):
            if found["lone"]:
                raise _at(text, found.start(), "a text has a lone surrogate: it is not valid Unicode")
    return value, _after_white(text, end)


class _RefusedError(Exception):
    """Valid JSON that is not taken; `_refusal` finds out where and why."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _RefusedError
    return made


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _RefusedError
    return value


def _no_constant(_: str) -> NoReturn:
    raise _RefusedError


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant
)


def _depth(value: Any) -> int:
    """How many arrays and objects are inside each other, looked at level by level."""
    depth, level = 0, [value]
    while level := [part for part in level if isinstance(part, (dict, list))]:
        depth += 1
        level = [item for part in level for item in (part.values() if isinstance(part, dict) else part)]
    return depth


def _refusal(text: str, begin: int, depth_max: int) -> JsonError:
    """Why the value that begins at `begin` is refused: the first reason in the order of the text.

    What comes before that reason is JSON, for else Python's reader would have stopped there.
    """
    keys: list[set[str] | None] = []
    before = ""
    for found in _TOKEN.finditer(text, begin):
        word, at = found[0], found.start()
        if word in ("[", "{"):
            keys.append(None if word == "[" else set())
            if len(keys) > depth_max:
                return _at(text, at, f"nested deeper than {depth_max}")
        elif word in ("]", "}") and keys:
            keys.pop()
        elif word.startswith('"'):
            if before in ("{", ",") and keys and (seen := keys[-1]) is not None:
                key = json.loads(word)
                if key in seen:
                    return _at(text, at, f"the key {key[:80]!a} is there twice")
                seen.add(key)
        elif word in ("NaN", "Infinity", "-Infinity"):
            return _at(text, at, f"not JSON: {word}")
        elif set(word) & set(".eE") and word[-1].isdigit() and not math.isfinite(float(word)):
            return _at(text, at, f"the number {word[:40]} is too large")
        before = word
    return _at(text, begin, "not JSON that is accepted here")


def _after_white(text: str, at: int) -> int:
    found = _WHITE.match(text, at)
    return at if found is None else found.end()


def _at(text: str, at: int, reason: str) -> JsonError:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    several = "\n" in text.strip()
    error = JsonError(f"{reason} ({f'line {line}, ' if several else ''}column {column})")
    error.line, error.column = line, column
    return error
