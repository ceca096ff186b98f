"""The dreamer's reading of a text: names, pairs of words, and linear time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import EngineError
from engine.base.validation import tag
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.name_uses import Names
from engine.knowledge.dreaming.tokenized_text import TokenizedText, tokens_of_name

CONFIG = DreamConfig()
ID = bytes([1]) * 16


def page(text: str) -> TokenizedText:
    """A text without a title."""
    return TokenizedText(None, text, CONFIG.chars)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met Ada Lovelace there.", ["Ada Lovelace"]),
        ("It was Dr. Seuss's idea.", ["Seuss"]),
        ("a letter by J. K. Rowling", ["J. K. Rowling"]),
        ("Yesterday Ada came.", ["Ada"]),
        ("the University of life, in April, on Friday", []),
        ("see TODO and Chapter IV of it", []),
        ("and so I did, I said", []),
        ("only small letters", []),
    ],
)
def test_candidates_are_capitalised_runs(text: str, names: list[str]) -> None:
    """Capitalised runs are candidates; times, stop words and numerals are not."""
    assert [tokens.text for tokens in page(text).names(CONFIG)] == names


@pytest.mark.parametrize(
    ("name", "text", "there"),
    [
        ("Ada Lovelace", "ADA lovelace's notes", True),
        ("Ada", "So ada came", False),
        ("Ada", "and so ada came", True),
        ("Ada", "ADA", False),
        ("Bristol", "BRISTOL, Monday", True),
        ("Will", "so will it rain", False),
        ("Otter", "saw an otter there", False),
        ("Ada", "Ada's", True),
        ("unix socket", "The Unix Socket", True),
        ("redis", "Redis is up", True),
        ("Ada", "Adam", False),
        ("C++", "more C++ code", True),
        ("東京", "昨日東京へ", True),
    ],
)
def test_a_known_name_is_found_as_it_is_written(name: str, text: str, there: bool) -> None:
    """Names of several words match in any case, single words as written or as the whole text is written."""
    names = Names()
    names.add(name, ID)
    assert bool(names.found_in(page(text), 9)) is there


def test_the_longest_name_is_meant() -> None:
    """A known name within a longer known name is not mentioned."""
    names = Names()
    names.add("New York", ID)
    names.add("New York Times", bytes([2]) * 16)
    assert [name.text for name in names.found_in(page("the New York Times"), 9)] == ["New York Times"]


@given(st.text(max_size=200))
def test_every_text_can_be_read(text: str) -> None:
    """Any text can be read, and its names and phrases are valid."""
    read = page(text)
    for tokens in read.names(CONFIG):
        assert tokens_of_name(tokens.text).words == tokens.words
        assert len(tokens.text) <= CONFIG.name_chars_max
    pairs = list(pairwise(read.words))
    assert all(pair in pairs for pair in read.phrases())


@given(st.text(min_size=1, max_size=60), st.text(max_size=60))
def test_every_name_can_be_looked_for(name: str, text: str) -> None:
    """Any name is found in a text that is the name."""
    names = Names()
    known = names.add(name, ID)
    names.found_in(page(text), 9)
    if known is not None and name.isalnum() and name.isascii():
        assert names.found_in(page(name), 9) == [known]


@given(st.from_regex(r"[A-Z][a-z]{2,9}( [A-Z][a-z]{2,9}){0,3}", fullmatch=True))
def test_names_become_tags_in_their_kept_form(name: str) -> None:
    """A name becomes the tag that validation makes of it."""
    try:
        kept = tag(name)
    except EngineError:
        return
    assert tag(kept) == kept
