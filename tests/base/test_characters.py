"""Tests of the tables of Unicode 14.0, which make results independent of Python's own tables."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base import characters, unicode14_table
from engine.base.characters import is_plain, lazy, visible
from engine.base.json_text import dumped
from engine.cli.shown_parts import shown
from engine.query.prompt_text import body, on_one_line
from engine.text.analyzer import analyze_query, index_terms

pytestmark = pytest.mark.slow

EVERYTHING = "28ab1e3e4373b58bf87105f8b0b02774270921cce3d9a806ce10002d8d621402"


def test_the_table_is_the_output_of_its_script() -> None:
    """On a Python with Unicode 14.0, the script generates exactly the committed file."""
    if unicodedata.unidata_version != unicode14_table.UNICODE:
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}; the table is made from 14.0")
    from pathlib import Path

    from tests.base.make_unicode14_table import table

    assert Path(unicode14_table.__file__).read_text(encoding="ascii") == table()


def test_the_number_of_assigned_code_points_is_that_of_unicode() -> None:
    """Unicode 14.0 assigns 144,697 characters, 65 controls and 137,468 private-use characters."""
    assigned = sum(map(characters.is_assigned, range(0x110000)))
    assert assigned == 144_697 + 65 + 137_468


@pytest.mark.parametrize(
    ("point", "assigned"),
    [
        (0, True),
        (0x41, True),
        (0x378, False),
        (0xD800, False),
        (0xE000, True),
        (0x1FAE8, False),
        (0x10FFFF, False),
    ],
)
def test_is_assigned(point: int, assigned: bool) -> None:
    """Letters, controls and private use are assigned; gaps, surrogates and later additions are not."""
    assert characters.is_assigned(point) is assigned


def test_ranges_are_ascending_and_do_not_overlap() -> None:
    """The ranges of a table are ascending with gaps between them, and only MARK overlaps with WORD."""
    seen: dict[int, str] = {}
    for name, table in zip(
        ("SEPARATED", "IGNORED", "GRAM", "WORD", "PICTOGRAPH"),
        [t for t in characters.TABLES if t is not unicode14_table.MARK],
        strict=True,
    ):
        last = -2
        for low, high in characters.ranges(table):
            assert last + 1 < low <= high
            last = high
            for point in (low, high):
                assert seen.setdefault(point, name) == name


def test_terms_are_equal_on_every_python() -> None:
    """Terms around each code point of the first two planes are equal on Python 3.11, 3.12 and 3.13."""
    digest = hashlib.sha256()
    for start in range(0, 0x20000, 128):
        points = map(chr, range(start, start + 128))
        text = " ".join(f"a{point}b {point}\u0301 Z{point}" for point in points)
        digest.update(repr((index_terms(text), analyze_query(text))).encode())
    assert digest.hexdigest() == EVERYTHING


def test_a_lazy_pattern_finds_what_the_compiled_one_finds() -> None:
    """The source and the flags are those given, and each method can be called again."""
    pattern = lazy("(?P<word>[a-z]+)", re.IGNORECASE)
    for _ in range(2):
        assert [match["word"] for match in pattern.finditer("One, two")] == ["One", "two"]
        assert pattern.fullmatch("one ") is None


def test_a_malformed_pattern_fails_when_it_is_used() -> None:
    """Nothing is compiled before."""
    pattern = lazy("(")
    with pytest.raises(re.error):
        pattern.search("")


TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
SELECTORS = "".join(chr(0xFE00 + byte % 16) for byte in b"obey")
SUPPLEMENT = "".join(chr(0xE0100 + byte) for byte in b"obey")
FILLERS = "\u115f\u1160\u3164\uffa0"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\xad\u034f\u061c\u180e"

HIDDEN = [TAGS, SELECTORS, SUPPLEMENT, FILLERS, ZERO_WIDTH, "\u202e\u2066\u200e", "\u200c\u200d\u200c"]
"""Texts that a person does not see."""

NEEDED = [
    "🏴‍☠️ 👩🏽‍🔬 ❤️ ❤️‍🔥 ☎︎ 1️⃣",
    "می‌خواهم",
    "क्‍ष",
    "ភាសា\u200bខ្មែរ",
    "葛\U000e0100城",
    "\u1820\u180b",
]
"""Texts with invisible characters without which they would look different."""

ANY = st.text(st.characters(codec="utf-8"), max_size=40) | st.text(
    st.sampled_from([*"aé葛م❤1 <", *TAGS, *SELECTORS, *FILLERS, *ZERO_WIDTH]), max_size=12
)


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
def test_a_hidden_message_is_escaped(hidden: str) -> None:
    """No character of a hidden message is left, be it shown, in a prompt or in JSON."""
    text = f"Tea.{hidden} Milk."
    for form in (visible(text), shown(text), body(text), on_one_line(text), dumped(text)):
        assert not set(form) & set(hidden)
        assert f"{ord(hidden[0]):x}" in form or json.dumps(hidden[0])[1:-1] in form


@pytest.mark.parametrize("text", NEEDED)
def test_a_needed_character_is_left(text: str) -> None:
    """A joiner or a selector that changes how the text looks is not escaped."""
    assert visible(text) == shown(text) == on_one_line(text) == json.loads(dumped(text)) == text
    assert dumped(text) == f'"{text}"'


@pytest.mark.parametrize("text", ["❤\ufe0f\ufe0f", "م\u200c\u200c", "葛\U000e0100\U000e0101"], ids=ascii)
def test_only_one_is_needed(text: str) -> None:
    """In a run, every joiner or selector after the first is escaped."""
    assert visible(text)[:2] == text[:2]
    assert visible(text)[2:] == ascii(text[2])[1:-1]


def test_a_plain_text_has_only_visible_characters() -> None:
    """Every character that counts as plain is visible on one line, and no escape is made for it."""
    plain = [chr(number) for number in range(0x110000) if is_plain(chr(number))]
    assert len(plain) > 30_000
    assert all(map(str.isprintable, plain))
    assert shown("".join(plain), line=True) == "".join(plain)


@given(ANY)
def test_what_is_left_is_visible_or_needed(text: str) -> None:
    """Escaping twice is escaping once, JSON keeps the value, and no format character is left after ASCII."""
    assert visible(visible(text)) == visible(text)
    assert json.loads(dumped(text)) == text
    for before, character in zip(" " + visible(text), visible(text), strict=False):
        assert unicodedata.category(character) != "Cf" or not before.isascii() or character in "\u0600\u0605"
