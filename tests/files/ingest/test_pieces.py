"""Splitting text to the size of atoms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.ingest.pieces import Block, Section, split, trimmed
from engine.text.token_estimate import estimate_tokens

_PIECES = st.lists(
    st.sampled_from(
        ["a", "word ", "Ende. ", "\n", "\n\n", "  ", "漢字。", "é", "\u0301", "😀", "x" * 40, "- i\n"]
    ),
    max_size=120,
)
_TEXTS = st.one_of(st.text(max_size=300), _PIECES.map("".join))


def _whole(text: str, tokens_max: int) -> list[str]:
    blocks = (Block(0, len(text)),) if text else ()
    return [text[start:end] for (start, end), _ in split(text, [Section((), blocks)], tokens_max)]


@given(_TEXTS, st.integers(8, 60))
def test_nothing_is_lost(text: str, tokens_max: int) -> None:
    """For any text, the concatenated spans are the text except for white space."""
    assert "".join("".join(_whole(text, tokens_max)).split()) == "".join(text.split())


@given(_TEXTS, st.integers(8, 60))
def test_no_span_is_too_large_or_blank(text: str, tokens_max: int) -> None:
    """No span is blank or over the limit."""
    assert all(estimate_tokens(part) <= tokens_max and part.strip() for part in _whole(text, tokens_max))


@given(st.lists(st.text("ab c", min_size=1, max_size=9), max_size=40), st.integers(8, 30))
def test_lines_that_fit_stay_whole(lines: list[str], tokens_max: int) -> None:
    """A line that fits stays whole, including the spaces at its ends."""
    parts = _whole("\n".join(lines), tokens_max)
    found = [line for part in parts for line in part.split("\n") if line.strip()]
    assert found == [line for line in lines if line.strip()]


def test_a_long_line_is_cut_after_a_sentence() -> None:
    """A line that is too long is split after sentences."""
    text = "One two three four five. Six seven eight nine ten. Eleven twelve thirteen."
    assert _whole(text, 9) == [
        "One two three four five.",
        "Six seven eight nine ten.",
        "Eleven twelve thirteen.",
    ]


def test_a_long_sentence_is_cut_between_words() -> None:
    """A sentence that is too long is split between words."""
    text = " ".join(["word"] * 20)
    assert set(" ".join(_whole(text, 8)).split()) == {"word"}


def test_a_long_word_is_not_cut_before_an_accent() -> None:
    """A combining mark is not separated from its letter."""
    parts = _whole("e\u0301" * 50, 8)
    assert not any(part.startswith("\u0301") for part in parts)


def test_a_whole_block_that_fits_is_moved_not_broken() -> None:
    """A block marked as whole is moved to the next span, even if its heading is then alone."""
    text = "# H\n" + "a b c\n" * 3
    sections = [Section((Block(0, 4),), (Block(4, len(text), whole=True),))]
    limit = estimate_tokens(text) - 1
    assert [text[a:b] for (a, b), _ in split(text, sections, limit)] == ["# H", text[4:-1]]


def test_a_heading_keeps_the_start_of_its_paragraph() -> None:
    """A paragraph that does not fit with its heading is split, so that the heading is not alone."""
    text = "# H\n" + "a b c\n" * 3
    sections = [Section((Block(0, 4),), (Block(4, len(text)),))]
    limit = estimate_tokens(text) - 1
    first = next(text[a:b] for (a, b), _ in split(text, sections, limit))
    assert first.startswith("# H\na b c")


def test_indentation_of_the_first_line_stays() -> None:
    """Blank lines at the ends are removed; spaces in the first and last line are kept."""
    text = " \n\n  code \n \n"
    assert trimmed(text, 0, len(text)) == (3, 10)


def test_a_limit_too_small_to_hold_a_character_is_refused() -> None:
    """A limit that is too small for a single character is refused."""
    with pytest.raises(ValueError, match="at least 8"):
        list(split("a", [], 7))
