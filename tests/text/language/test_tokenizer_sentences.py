"""How a text is cut into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.language.tokenizer import sentences_of


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("A line\nthat goes on. Next", ["A line that goes on.", "Next"]),
        ("One paragraph\n\nAnother", ["One paragraph", "Another"]),
        ("# Heading\n\nText.", ["Text."]),
        ("- one\n- two. Three\n1. four\n> five", ["one", "two.", "Three", "four", "five"]),
        ("Dr. Okafor met J. K. Rowling. Then she left.", ["Dr. Okafor met J. K. Rowling.", "Then she left."]),
        ("It costs 3.50 at example.org today.", ["It costs 3.50 at example.org today."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("日本です。東京です。", ["日本です。", "東京です。"]),
        ("```\na = 1\nb = 2\n```\nText", ["a = 1", "b = 2", "Text"]),
        ("", []),
    ],
)
def test_a_text_is_cut_at_the_ends_of_sentences(text: str, sentences: list[str]) -> None:
    """Sentences end at marks, paragraphs and items, but not at abbreviations."""
    assert sentences_of(text) == sentences


@given(st.text(alphabet=st.sampled_from("ab. \n!?-#>`。1*A"), max_size=60))
def test_sentences_are_parts_of_the_text_in_order(text: str) -> None:
    """Apart from white space, the letters of all sentences are letters of the text in order."""
    left = iter(text)
    assert all(one in left for sentence in sentences_of(text) for one in sentence if not one.isspace())
