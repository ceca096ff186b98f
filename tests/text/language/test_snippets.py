"""Snippets show the part of a text with the question's words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text.analyzer import index_terms
from engine.text.language import snippets
from engine.text.language.snippets import ELLIPSIS, READ_CHARS_MAX, Snippets, beginning, part_of

WORDS = ["sea", "seas", "ship-yard", "ADR-016", "日本語", "a", "x" * 70, "The", "mast,", "é" * 30]
WEIGHTS = {"sea": 0.5, "ship": 1.0, "yard": 0.3, "adr-016": 1.1, "日本": 0.7, "mast": 0.2}


def plain_start(words: list[str], weights: dict[str, float], chars: int) -> int:
    """The word at which the heaviest part begins, found by weighing every part."""
    best, best_weight = 0, 0.0
    for at in range(len(words)):
        if not set(index_terms(words[at])) & weights.keys():
            continue
        last = at
        while last < len(words) and len(" ".join(words[at : last + 1])) <= chars:
            last += 1
        said = {term for word in words[at:last] for term in index_terms(word)} & weights.keys()
        weight = sum(weights[term] for term in sorted(said))
        if weight > best_weight:
            best, best_weight = at, weight
    return best


@settings(max_examples=200)
@given(
    words=st.lists(st.sampled_from(WORDS), max_size=40),
    asked=st.sets(st.sampled_from(sorted(WEIGHTS))),
    chars=st.sampled_from([1, 2, 5, 10, 40, 75, 200]),
)
def test_a_snippet_begins_where_the_terms_weigh_most(words: list[str], asked: set[str], chars: int) -> None:
    """A snippet begins where a naive search finds the first heaviest part."""
    weights = {term: WEIGHTS[term] for term in asked}
    cutter = Snippets(weights, chars)
    start = plain_start(words, weights, chars - chars // 5)
    assert cutter._heaviest(words, chars - chars // 5) == start
    shown = cutter.around("  ".join(words))
    assert len(shown) <= chars
    if words and start < len(words) and len(words[start]) + 2 <= chars * 4 // 5 and start:
        assert words[start] in shown


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.integers(1, 120))
def test_whole_words_are_shown_as_far_as_they_fit(words: list[str], chars: int) -> None:
    """A beginning is the whole text, or whole words and an ellipsis, or part of the first word."""
    text = " ".join(words)
    shown = beginning(text, chars)
    if len(text) < chars:
        assert shown == text
        return
    assert shown.endswith(ELLIPSIS)
    fitting = [n for n in range(1, len(words) + 1) if len(" ".join(words[:n])) < chars]
    assert shown[:-1] == (" ".join(words[: fitting[-1]]) if fitting else words[0][: chars - 1])


def test_the_words_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of words stays bounded and does not change snippets."""
    text = " ".join(f"word{number}" for number in range(50)) + " " + "y" * 100 + " sea"
    expected = Snippets({"sea": 1.0}, 30).around(text)
    monkeypatch.setattr(snippets, "WORDS_MAX", 10)
    monkeypatch.setattr(snippets, "_WORDS", snippets._Words())
    assert Snippets({"sea": 1.0}, 30).around(text) == expected
    assert len(snippets._WORDS) <= 10
    assert "y" * 100 not in snippets._WORDS


def test_a_long_text_is_analysed_around_the_rarest_term() -> None:
    """Of a long text, a part of bounded length with the heaviest term that occurs is analysed."""
    filler = "Lorem ipsum é " * READ_CHARS_MAX
    text = f"{filler}the Qqmast of the qqsea {filler}"
    part = part_of(text, {"qqsea": 1.0, "qqmast": 2.0, "absent": 3.0})
    assert len(part.text) <= READ_CHARS_MAX
    assert part.before
    assert part.after
    assert part.text in text
    assert " Qqmast " in part.text[:1100]
    assert Snippets({"qqsea": 1.0}, 40).around(text) == "…of the qqsea Lorem ipsum é Lorem ipsum…"


def test_a_part_of_a_long_text_consists_of_whole_words() -> None:
    """A part begins and ends between two words, and is the beginning of the text if no term occurs in it."""
    text = " ".join(f"word{number}" for number in range(READ_CHARS_MAX))
    for weights in ({"word40000": 1.0}, {"absent": 1.0}, {}):
        part = part_of(text, weights)
        assert set(part.text.split()) <= set(text.split())
        assert part.before == ("word40000" in weights)
        assert part.after
        assert Snippets(weights, 30).around(text).endswith(ELLIPSIS)
    assert part_of(text, {}).text == text[: len(part.text)]


def test_an_ordinary_text_is_analysed_whole() -> None:
    """A text of READ_CHARS_MAX characters is its own part; one more character makes it a long text."""
    text = "x" * (READ_CHARS_MAX - 4) + " sea"
    assert part_of(text, {"sea": 1.0}) == (text, False, False)
    assert part_of("y" + text, {"sea": 1.0}) == ("sea", True, False)
