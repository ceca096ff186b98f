"""Splitting plain text into pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.files.ingest.pieces import parse_plain
from engine.text.token_estimate import estimate_tokens


def test_paragraphs_are_packed() -> None:
    """Paragraphs are joined while they fit, and are not split unnecessarily."""
    paragraph = "one two three four five six"
    document, _ = parse_plain("\n\n".join([paragraph] * 4), "s/My file.txt", tokens_max=14)
    assert [piece.content for piece in document.pieces] == [f"{paragraph}\n\n{paragraph}"] * 2
    assert [(piece.title, piece.occurrence) for piece in document.pieces] == [("My file", 0), ("My file", 1)]


def test_marks_mean_nothing() -> None:
    """Plain text has no tags, links, headings or frontmatter."""
    (piece,) = parse_plain("---\ntags: a\n---\n# b #c [[d]]", "s/f.txt")[0].pieces
    assert (piece.tags, piece.links, piece.content[:3]) == ((), (), "---")


@given(st.text(max_size=300), st.sampled_from([8, 30]))
def test_nothing_is_lost(text: str, tokens_max: int) -> None:
    """Any text is completely in pieces of bounded size, or reported."""
    document, skipped = parse_plain(text, "s/f.txt", tokens_max=tokens_max)
    joined = "".join("".join(piece.content for piece in document.pieces).split())
    assert skipped or joined == "".join(text.split())
    assert all(estimate_tokens(piece.content) <= tokens_max for piece in document.pieces)
