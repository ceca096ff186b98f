"""Reading the YAML block at the start of a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.transfer.ingest.frontmatter import FRONTMATTER_BYTES_MAX, read_frontmatter
from engine.transfer.ingest.markdown import parse_markdown


def test_title_tags_and_date_are_read() -> None:
    """The supported keys are read in their usual forms."""
    found = read_frontmatter(
        "---\ntitle: No\ntags: [a, '#b', c d]\ndate: 1970-01-02\nother: {x: 1}\n---\nbody"
    )
    assert (found.title, found.tags, found.created) == ("No", ("a", "b", "c-d"), 86_400_000_000)


def test_tags_may_be_words() -> None:
    """A string of tags is split at commas and spaces."""
    assert read_frontmatter("---\ntags: a, b c\ntag: 2021\n---\n").tags == ("a", "b", "c", "2021")


@pytest.mark.parametrize(
    "text", ["", "---", "--- \nx", "a\n---\nb\n---\n", " ---\na: b\n---\n", "----\na: b\n----\n"]
)
def test_without_both_fences_there_is_none(text: str) -> None:
    """A block that does not start in the first line or is not closed is not frontmatter."""
    assert read_frontmatter(text).end == 0


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("a: &x [1]\nb: *x", "anchors"),
        ("a: [" * 20, "nested"),
        ("[" * 5000, "nested"),
        ("- a", "mapping"),
        ("just words", "mapping"),
        ("a: b\na: c", "twice"),
        ("[a]: b", "scalar"),
        ("a: b: c", "not allowed"),
        ("a: '" + "x" * FRONTMATTER_BYTES_MAX + "'", "bytes"),
    ],
)
def test_a_broken_block_says_why(block: str, reason: str) -> None:
    """Aliases, deep nesting, large blocks, repeated keys and syntax errors are refused with a reason."""
    found = read_frontmatter(f"---\n{block}\n---\nbody")
    assert reason in (found.broken or "")
    assert (found.title, found.tags) == (None, ())


def test_a_broken_block_is_kept_and_reported() -> None:
    """A broken block is kept as content and reported."""
    text = "---\na: b: c\ntags: x\n---\n# Head\nbody\n"
    document, skipped = parse_markdown(text, "s/f.md")
    assert "\n".join(piece.content for piece in document.pieces) + "\n" == text
    assert [(item.line, item.reason[:31]) for item in skipped] == [(1, "the frontmatter is kept as text")]
    assert [piece.title for piece in document.pieces] == ["f", "Head"]


def test_python_tags_build_nothing() -> None:
    """YAML tags are ignored and construct no objects."""
    found = read_frontmatter("---\ntitle: !!python/object/apply:os.getcwd []\n---\n")
    assert (found.title, found.broken) == (None, None)


@given(st.text(max_size=100))
def test_it_is_total(block: str) -> None:
    """Any block is read or refused with a reason, without an exception."""
    found = read_frontmatter(f"---\n{block}\n---\n")
    assert found.broken is None or found.broken
