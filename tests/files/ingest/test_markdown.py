"""Splitting Markdown into pieces."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.limits import TAGS_PER_ATOM_MAX, TITLE_BYTES_MAX
from engine.files.ingest import markdown
from engine.files.ingest.documents import Document, Reference
from engine.files.ingest.markdown import parse_markdown
from engine.text.token_estimate import estimate_tokens

_LINES = st.sampled_from(
    [
        "# One",
        "## Two #tag",
        "text [[Link]]",
        "- item",
        "  - sub #deep",
        "> quote",
        "```",
        "| a | b |",
        "|---|---|",
        "",
        "",
        "",
        "    code #no",
        "1. first",
        "===",
        "---",
        "<div>",
        "word " * 30,
        "\ttab",
        "[a]: b",
        "équipe 漢字",
    ]
)
_DOCUMENTS = st.lists(_LINES, max_size=40).map("\n".join)
_SHORT_BLOCKS = st.lists(
    st.sampled_from(
        ["# H", "a [[b]]", "- i", "  - j", "> q", "```\n#x\n\ny\n```", "|a|\n|-|\n|b|", "===", "", "", ""]
    ),
    min_size=40,
    max_size=80,
).map("\n".join)
_TEXTS = st.one_of(st.text(max_size=200), _DOCUMENTS)


def _parsed(text: str, tokens_max: int = 200) -> Document:
    return parse_markdown(text, "folder/file.md", tokens_max=tokens_max)[0]


def _contents(text: str, tokens_max: int = 200) -> list[str]:
    return [piece.content for piece in _parsed(text, tokens_max).pieces]


@given(_TEXTS.map(lambda text: "\n" + text.replace("\r", "")), st.sampled_from([8, 20, 200]))
def test_nothing_is_lost(text: str, tokens_max: int) -> None:
    """The pieces and the refused parts contain the whole text except for white space."""
    document, skipped = parse_markdown(text, "s/f.md", tokens_max=tokens_max)
    joined = "".join("".join(piece.content for piece in document.pieces).split())
    assert skipped or joined == "".join(text.split())


@given(_DOCUMENTS.map(lambda text: "\n" + text))
def test_every_line_is_in_one_piece_in_order(text: str) -> None:
    """Lines that are not blank are in exactly one piece, in order."""
    lines = [line for content in _contents(text) for line in content.split("\n") if line.strip()]
    assert lines == [line for line in text.split("\n") if line.strip()]


@given(_DOCUMENTS, st.sampled_from([8, 20, 200]))
def test_pieces_are_of_bounded_size(text: str, tokens_max: int) -> None:
    """No piece has more tokens than the limit."""
    assert all(estimate_tokens(content) <= tokens_max for content in _contents(text, tokens_max))


@given(_DOCUMENTS)
def test_occurrences_count_equal_contents(text: str) -> None:
    """The occurrence of a piece is the number of earlier equal pieces."""
    seen: Counter[str] = Counter()
    for piece in _parsed(text, 8).pieces:
        assert piece.occurrence == seen[piece.content]
        seen[piece.content] += 1


@settings(max_examples=50)
@given(_SHORT_BLOCKS, st.integers(0, 30))
def test_the_window_of_the_parser_does_not_show(text: str, window: int) -> None:
    """Parsing in windows gives the same blocks as parsing the whole text."""
    whole = markdown._Outline([], [])
    markdown._add(whole, text, 0, len(text))
    longest = max((part.block.end - part.block.start for part in whole.blocks), default=0)
    parts = markdown._Outline([], [])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "_WINDOW", 2 * longest + window)
        markdown._add(parts, text, 0, len(text))
    assert parts == whole


def test_a_file_is_cut_at_its_headings() -> None:
    """Each section is a piece with its heading as title, and text before the first has the file's."""
    document = _parsed("before\n\n# One *x*\na\n\nTwo\n---\nb\n")
    assert [(piece.title, piece.content) for piece in document.pieces] == [
        ("file", "before"),
        ("One x", "# One *x*\na"),
        ("Two", "Two\n---\nb"),
    ]


def test_a_heading_without_text_goes_with_the_next() -> None:
    """A section without a body is joined to the next one, whose heading is the title."""
    document = _parsed("# A\n\n## B\nb\n\n## C\n")
    assert [(piece.title, piece.content) for piece in document.pieces] == [("B", "# A\n\n## B\nb\n\n## C")]


def test_headings_alone_are_a_piece() -> None:
    """A file that consists only of headings is one piece."""
    assert _contents("# Only\n") == ["# Only"]


def test_frontmatter_is_not_content() -> None:
    """The tags of frontmatter come first on all pieces, its title is the default, its date is on all."""
    document = _parsed("---\ntitle: T\ntags: [f]\ndate: 1970-01-01T00:00:01Z\n---\na #x\n# H\nb #F\n")
    assert document.title == "T"
    assert [(piece.title, piece.tags, piece.created) for piece in document.pieces] == [
        ("T", ("f", "x"), 1_000_000),
        ("H", ("f",), 1_000_000),
    ]


def test_tags_and_links_stand_in_their_piece() -> None:
    """Tags and links belong to the piece that contains them; code and HTML have none."""
    text = "one #a [[A]] two three\nfour #b [[B]] [[B]] five\n"
    text += "\n```\n#no [[no]]\n```\n\n<div #no>\n[[no]]\n</div>\n"
    pieces = _parsed(text, 15).pieces
    assert [piece.tags for piece in pieces if piece.tags] == [("a",), ("b",)]
    assert [piece.links for piece in pieces if piece.links] == [(Reference(n, None, "wiki"),) for n in "AB"]


def test_tags_are_read_in_tables_lists_and_quotes() -> None:
    """Tags in tables, lists and quotes are found."""
    text = "| a | b |\n|---|---|\n| #t | [[x\\|y]] |\n\n> - #q\n"
    (piece,) = _parsed(text).pieces
    assert (piece.tags, piece.links) == (("t", "q"), (Reference("x", None, "wiki"),))


def test_fences_and_tables_that_fit_stay_whole() -> None:
    """A fence or table that fits is moved to the next piece instead of being split."""
    fence = "```\n" + "a b c\n" * 6 + "```"
    assert fence in _contents("# H\n" + "word " * 20 + "\n\n" + fence + "\n", 40)


def test_a_list_is_cut_between_items() -> None:
    """A long list is split between items."""
    items = "".join(f"- item {number} is\n  two lines\n" for number in range(10))
    assert all(content.startswith("- item") for content in _contents(items, 25))


def test_too_many_tags_are_reported() -> None:
    """A piece keeps the first tags up to the limit, and the rest is reported."""
    text = "---\ntags: " + " ".join(f"t{n}" for n in range(TAGS_PER_ATOM_MAX + 1)) + "\n---\na\n"
    document, skipped = parse_markdown(text, "s/f.md")
    assert len(document.pieces[0].tags) == TAGS_PER_ATOM_MAX
    assert [item.line for item in skipped] == [4]


def test_a_piece_that_the_engine_refuses_is_left_out() -> None:
    """A refused piece is reported with its line, and the others are ingested."""
    document, skipped = parse_markdown("# A\na\n\n# B\n\uffff\n\n# C\nc\n", "s/f.md")
    assert [piece.title for piece in document.pieces] == ["A", "C"]
    assert [(item.source, item.line) for item in skipped] == [("s/f.md", 4)]


def test_a_long_heading_is_cut_to_a_title() -> None:
    """A long heading is cut to the byte limit of titles at a whole character."""
    (title, *_) = [piece.title for piece in _parsed("# " + "é" * 600 + "\n").pieces]
    assert title is not None
    assert len(title.encode()) == TITLE_BYTES_MAX
