"""Reading the YAML block at the start of a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.ingest.markdown import parse_markdown
from engine.files.ingest.markdown_metadata import FRONTMATTER_BYTES_MAX, read_frontmatter


def test_title_tags_and_date_are_read() -> None:
    """The supported keys are read in their usual forms."""
    found = read_frontmatter(
        "---\ntitle: No\ntags: [a, '#b', c d]\ndate: 1970-01-02\nother: {x: 1}\n---\nbody"
    )
    assert (found.title, found.tags, found.created) == ("No", ("a", "b", "c-d"), 86_400_000_000)


@pytest.mark.parametrize(
    ("block", "aliases"),
    [
        ("aliases: [MOC, Map of maps]", ("MOC", "Map of maps")),
        ("aliases:\n- MOC\n- '@home'\n- 1958\n- MOC", ("MOC", "@home", "1958")),
        ("aliases: MOC, Map of  maps", ("MOC", "Map of maps")),
        ("alias: one\naliases: two", ("two", "one")),
        ("aliases:", ()),
        ("aliases: []", ()),
        ("aliases: null", ()),
        ("aliases:\n-", ()),
        ("aliases: {a: b}", ()),
        (f"aliases: [{', '.join(map(str, range(40)))}]", tuple(map(str, range(32)))),
        (f"aliases: [a, {'b' * 513}]", ("a",)),
    ],
)
def test_aliases_are_a_list_or_names_with_commas(block: str, aliases: tuple[str, ...]) -> None:
    """Other names are read as Obsidian reads them: each once, at most 32, none that is too long."""
    assert read_frontmatter(f"---\n{block}\n---\n").aliases == aliases


@pytest.mark.parametrize(
    ("date", "created"),
    [
        ("1969-12-31", -86_400_000_000),
        ("1958-03", -373_593_600_000_000),
        ("1958", -378_691_200_000_000),
        ("0001-01-01", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ],
)
def test_a_date_may_be_in_any_year(date: str, created: int) -> None:
    """Dates before 1970 are read, and a year or a month stands for its first moment."""
    assert read_frontmatter(f"---\ndate: {date}\n---\n").created == created


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
