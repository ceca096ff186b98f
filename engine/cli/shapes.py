"""What answers are made of: lines, tables, fields; and the one way from a text to what may be printed.

Content is data. Every string on its way out passes through `shown`, or through JSON with the same
characters escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Span = tuple[str, str]
"""A text and its Rich style; the style counts on a terminal only."""

Line = tuple[Span, ...]
"""One line, whatever its texts hold: line breaks in them are shown escaped."""

_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROL}]")
_UNSAFE_IN_LINE = re.compile(f"[\t\n{_CONTROL}]")
_RAW_IN_JSON = re.compile(f"[<>{_CONTROL}]")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers: lined up on a terminal, separated by tabs and without headers elsewhere."""

    headers: tuple[str, ...]
    rows: Iterable[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Fields:
    """One line of fields: separated by tabs; on a terminal by two spaces, without the empty ones."""

    spans: Line


Shown = str | Line | Table | Fields
"""A block of text that keeps its line breaks, a line, a table, or the fields of a line."""


def line(name: str, value: str) -> Line:
    """A named value, for lists of them."""
    return ((f"{name:<12} ", "bold"), (value, ""))


def shown(text: str, *, line: bool = False) -> str:
    r"""`text` as it may reach a terminal: control characters as `\x1b`, bidi overrides as `\u202e`.

    Escaped are C0 (newline and tab too if `line`), DEL, C1, the line and paragraph separators, the
    bidi embeddings, overrides and isolates, and lone surrogates. Printable text is left alone.
    """
    return (_UNSAFE_IN_LINE if line else _UNSAFE).sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return {9: "\\t", 10: "\\n"}.get(code) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def dumped(value: Any, *, ascii_only: bool = False) -> str:
    """`value` as JSON on one line: what `shown` escapes is a JSON escape, so nothing is lost.

    So are `<` and `>`: no text in it can pass for markup around it.
    """
    import json

    text = json.dumps(value, ensure_ascii=ascii_only, separators=(", ", ": "))
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def counted(number: int, what: str) -> str:
    """A number of things in words: `1 atom`, `1,200 atoms`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
