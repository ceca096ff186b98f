"""The estimate of token counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.text.token_estimate import estimate_tokens


def test_it_is_not_below_published_counts() -> None:
    """The four examples of OpenAI's counting guide cost at least their cl100k counts together."""
    counted = {
        "tiktoken is great!": 6,
        "お誕生日おめでとう": 9,
        "2 + 2 = 4": 7,
        "antidisestablishmentarianism": 6,
    }
    assert sum(map(estimate_tokens, counted)) >= sum(counted.values())


def test_prose_is_not_overcounted_by_half() -> None:
    """English prose costs between 1.15 and 2 tokens a word."""
    text = "Content goes in as small pieces, and every piece remembers where it came from. " * 10
    words = len(text.split())
    assert 1.15 * words <= estimate_tokens(text) <= 2 * words


def test_random_letters_cost_more_than_prose() -> None:
    """Random letters cost at least about one token for three characters."""
    text = "aGVsbG8gd29ybGQhIFRoaXMgaXMgYmFzZTY0IQ"
    assert estimate_tokens(text) >= len(text) / 3


@given(st.text(max_size=200))
def test_it_is_bounded_by_three_a_character(text: str) -> None:
    """A string of n characters costs at most 3n tokens."""
    assert 0 <= estimate_tokens(text) <= 3 * len(text)


@given(st.text(max_size=100).map(str.strip), st.text(max_size=100).map(str.strip))
def test_joined_lines_cost_at_most_their_parts_and_the_line_end(first: str, second: str) -> None:
    """A joined text costs at most as much as its lines and line ends together."""
    joined = estimate_tokens(first + "\n" + second)
    assert joined <= estimate_tokens(first + "\n") + estimate_tokens(second)
