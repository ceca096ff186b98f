"""The parts of a result that is printed as text: lines, tables and fields. Control characters are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from engine.base.characters import INVISIBLE, escape_match, lazy

Span = tuple[str, str]
"""A text, and `bold`, `dim`, a colour or "". The style is used only on a terminal."""

Line = tuple[Span, ...]
"""One line of output; line breaks inside the texts are escaped."""

_CONTROL = f"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{INVISIBLE}"
_UNSAFE = lazy(f"[{_CONTROL}]")
_UNSAFE_IN_LINE = lazy(f"[\t\n{_CONTROL}]")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers. A terminal gets aligned columns; other output gets tabs and no headers."""

    headers: tuple[str, ...]
    rows: Iterable[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Fields:
    """A line of fields separated by tabs.

    On a terminal, the fields are separated by two spaces, and empty fields are omitted.
    """

    spans: Line


Shown = str | Line | Table | Fields
"""A block of text with line breaks, a line, a table, or the fields of a line."""


def line(name: str, value: str) -> Line:
    """Return a line with a name and its value; the values of successive lines are aligned."""
    return ((f"{name:<12} ", "bold"), (value, ""))


def shown(text: str, *, line: bool = False) -> str:
    r"""Return `text` with control characters escaped as `\x1b` and invisible characters as `\u202e`.

    Escapes C0 (newline and tab only if `line`), DEL, C1, the line and paragraph separators, invisible
    characters (`engine.base.characters`), and lone surrogates. Other characters do not change.
    """
    return (_UNSAFE_IN_LINE if line else _UNSAFE).sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return {"\t": "\\t", "\n": "\\n"}.get(match[0]) or escape_match(match)
