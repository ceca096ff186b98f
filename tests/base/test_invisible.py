"""Invisible characters are escaped, except where a script or an emoji needs them."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.invisible import is_plain, visible
from engine.base.json_text import dumped
from engine.cli.shapes import shown
from engine.query.budget import body, on_one_line

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
