"""Generates `engine/base/unicode14_table.py`. Run it as a script, with a Python that has Unicode 14.0 (3.11).

The table is committed so that all Python versions analyse text equally: 3.12 has Unicode 15.0 and 3.13 has
15.1. The comments in the table describe the classes.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

from engine.base import unicode14_table

UNICODE = "14.0.0"
LINE_CHARS_MAX = 100

IGNORED_BESIDES_FORMAT = (
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xE0100, 0xE01EF),  # variation selectors supplement
)
ZERO_WIDTH_SPACE = 0x200B

NO_SPACE_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul jamo
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3021, 0x303C),  # Hangzhou numerals, vertical kana marks
    (0x3041, 0x33FF),  # kana, Bopomofo, Hangul compatibility jamo
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA000, 0xA48F),  # Yi
    (0xA960, 0xA9FF),  # Hangul jamo extended-A, Javanese, Myanmar extended-B
    (0xAA60, 0xAADF),  # Myanmar extended-A, Tai Viet
    (0xAC00, 0xD7FF),  # Hangul syllables, jamo extended-B
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFFDC),  # halfwidth kana and Hangul
    (0x11700, 0x1174F),  # Ahom
    (0x16FE0, 0x18CFF),  # Tangut, Khitan
    (0x1AFF0, 0x1B2FF),  # kana extensions, Nushu
    (0x20000, 0x3FFFF),  # Han, extensions B and later
)
PICTOGRAPH_BLOCKS = ((0x2300, 0x23FF), (0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F000, 0x1FAFF))


def _within(point: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= point <= last for first, last in blocks)


def _ignored(point: int, category: str) -> bool:
    if point == ZERO_WIDTH_SPACE:
        return False
    return category == "Cf" or (category != "Cn" and _within(point, IGNORED_BESIDES_FORMAT))


def _gram(point: int, category: str) -> bool:
    letter = category[0] == "L" or category == "Nl"
    return letter and _within(point, NO_SPACE_BLOCKS) and not _ignored(point, category)


def _mark(point: int, category: str) -> bool:
    return category[0] == "M" and not _ignored(point, category)


def _word(point: int, category: str) -> bool:
    return category[0] in "LMN" and not _ignored(point, category) and not _gram(point, category)


CLASSES: dict[str, tuple[str, Callable[[int, str], bool]]] = {
    "SEPARATED": (
        "Unassigned code points and surrogates. They end a word, as a space does.",
        lambda _, category: category in ("Cn", "Cs"),
    ),
    "IGNORED": (
        "Invisible code points to remove: joiners, soft hyphens, variation selectors (U+200B is a space).",
        _ignored,
    ),
    "MARK": ("Combining marks (category M).", _mark),
    "GRAM": ("Letters of scripts written without spaces between words.", _gram),
    "WORD": ("Letters, marks and numbers that are in neither GRAM nor IGNORED.", _word),
    "PICTOGRAPH": (
        "Symbols (category So) of the blocks that hold emoji.",
        lambda point, category: category == "So" and _within(point, PICTOGRAPH_BLOCKS),
    ),
}


def ranges(belongs: Callable[[int, str], bool]) -> list[tuple[int, int]]:
    """Return the ranges of code points for which `belongs` is true, as first and last code point."""
    found: list[tuple[int, int]] = []
    for point in range(sys.maxunicode + 1):
        if belongs(point, unicodedata.category(chr(point))):
            if found and found[-1][1] == point - 1:
                found[-1] = (found[-1][0], point)
            else:
                found.append((point, point))
    return found


def table() -> str:
    """Return the source text of `unicode14_table.py`."""
    lines = [
        '"""Character classes of Unicode 14.0, written by `make_unicode14_table.py`; do not edit.',
        "",
        "Each class is a string of ranges of code points in hexadecimal: `first-last`, or one code point.",
        '"""',
        "",
        f'UNICODE = "{UNICODE}"',
    ]
    for name, (meaning, belongs) in CLASSES.items():
        lines += ["", f"{name} = ("]
        row = ""
        for first, last in ranges(belongs):
            item = f"{first:X} " if first == last else f"{first:X}-{last:X} "
            if len(row) + len(item) > LINE_CHARS_MAX:
                lines.append(f'    "{row}"')
                row = ""
            row += item
        lines += [f'    "{row.rstrip()}"', ")", f'"""{meaning}"""']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if unicodedata.unidata_version != UNICODE:
        sys.exit(f"this Python has Unicode {unicodedata.unidata_version}; the table is made from {UNICODE}")
    Path(unicode14_table.__file__).write_text(table(), encoding="ascii")
