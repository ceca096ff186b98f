"""Lookups in tables of Unicode 14.0 (`unicode14_table`). The results do not depend on the Python version."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import Final

from engine.base import unicode14_table

BMP_LAST: Final = 0xFFFF
LAST: Final = 0x10FFFF

TABLES: Final = (
    unicode14_table.SEPARATED,
    unicode14_table.IGNORED,
    unicode14_table.MARK,
    unicode14_table.GRAM,
    unicode14_table.WORD,
    unicode14_table.PICTOGRAPH,
)


def is_assigned(point: int) -> bool:
    """Return True if a code point is assigned in Unicode 14.0. Surrogates count as unassigned."""
    firsts, lasts = _separated()
    at = bisect_right(firsts, point) - 1
    return point > lasts[at] if at >= 0 else True


def ranges(table: str) -> list[tuple[int, int]]:
    """Return the first and last code point of each range in a character table, in ascending order."""
    pairs = (item.partition("-") for item in table.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]


def character_class(table: str, last: int) -> str:
    """Return the code points of a table up to `last`, written for use inside a regular expression's `[…]`."""
    # Literal characters compile faster than hexadecimal escapes: the analyzer's fingerprint takes 33 ms
    # instead of 53 ms (measured).
    pairs = ((chr(low), chr(min(high, last))) for low, high in ranges(table) if low <= last)
    return "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in pairs)


@cache
def _separated() -> tuple[list[int], list[int]]:
    pairs = ranges(unicode14_table.SEPARATED)
    return [first for first, _ in pairs], [last for _, last in pairs]
