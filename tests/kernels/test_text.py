"""The compiled analyzer gives the terms of its twin."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.text.analyzer import (
    CLIPPED_ENDINGS,
    STOP_WORDS,
    TEXT_CHARS_MAX,
    index_terms,
    stem_words,
    word_terms,
)
from engine.text.analyzer_fingerprint import probes
from tests.kernels.native import native

pytestmark = pytest.mark.slow

SIMPLE = st.text(alphabet="aAsSßéÉŸǅİıſΣςЁѐªµ²½’‐‑—“☐😀\xad\x01\u200b\u200c\ufe0f -._'@+#", max_size=40)
HOSTILE = st.text(alphabet="aAbBsSeEtThH019-._'@+#~ \n\0", max_size=60)
PROSE = st.lists(
    st.sampled_from(
        [
            "the",
            "Running",
            "ADR-016",
            "don't",
            "Anna's",
            "x@y.org",
            "C++",
            "PDFs",
            "aBcD",
            "__init__",
            "sha256",
        ]
    )
).map(" ".join)


def terms_of(texts: list[str]) -> list[list[str] | None]:
    """Return the terms that the compiled analyzer with an empty table gives for each text."""
    module = native()
    table = module.Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)
    first: list[list[str] | None] = module.index_terms_many(table, texts)
    # The second time, the table has all words.
    assert module.index_terms_many(table, texts) == first
    return first


@given(
    st.lists(st.one_of(HOSTILE, SIMPLE, PROSE, st.text(max_size=20)), max_size=12), st.sampled_from([1, 90])
)
@example([*probes()], 1)
@example(["a" * (TEXT_CHARS_MAX - 1) + " b c", "x-" * 40, "ing" * 60, "aB" * 9, "\ud800", "café"], 1)
def test_terms(texts: list[str], times: int) -> None:
    """Texts have the terms of the twin, also when there are enough texts for several threads.

    Only a text with characters that need tables of Unicode is declined.
    """
    module = native()
    for text, terms in zip(texts * times, terms_of(texts * times), strict=True):
        assert terms is not None or not text.isascii()
        assert (terms is not None) == module.is_simple_text(text)
        assert terms in (None, index_terms(text))


MANY = range(0x1F000, 0x1FB00)


@pytest.mark.parametrize(
    "pattern", ["{}", "{}{}-{}#", "\x01{}é {}\x01é", "a{}b", "-{}-", "é{}'s", "don{}t {}{}"]
)
def test_each_character(pattern: str) -> None:
    """Every character below U+3000 or among the emoji, and some special ones, has its place in words."""
    characters = [chr(code) for code in (*range(0x3000), *range(0xFE00, 0xFF00), 0xFF1A, 0xFFFD, *MANY)]
    texts = [pattern.replace("{}", character) for character in characters]
    found = terms_of(texts)
    assert sum(terms is not None for terms in found) > 2000
    for text, terms in zip(texts, found, strict=True):
        assert terms is None or terms == index_terms(text), text
