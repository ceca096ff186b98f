"""Comments and badges are left out of the pieces; code, words, links and bookmarks are kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.files.ingest.documents import Document, Skipped
from engine.files.ingest.markdown import parse_markdown

BADGE = "[![Stars](https://img.shields.io/github/stars/a/b)](https://github.com/a/b)"
BLOCKS = (
    "a word",
    "# Heading",
    "## Lower",
    "%% a note\n\nover lines %%",
    "<!-- a note -->",
    "- [[Alpha]]\n- [[Beta|b]]",
    "[one](https://a.example) | [two](https://b.example)",
    "```\n%% code %%\n```",
    "text %%aside%% and text",
    "- [ ] [[Task]]",
    "---",
    BADGE,
)


def parsed(text: str, **options: int) -> tuple[Document, tuple[Skipped, ...]]:
    """Return the document of the file `notes/Page.md`."""
    return parse_markdown(text, "notes/Page.md", **options)


def contents(text: str) -> list[str]:
    """Return the contents of the pieces."""
    return [piece.content for piece in parsed(text)[0].pieces]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("one %%hidden%% two", ["one  two"]),
        ("one\n%% hidden\n\nhidden %%\ntwo", ["one\ntwo"]),
        ("one <!-- hidden --> two\n<!--\nhidden\n-->\n", ["one  two"]),
        (f"one {BADGE} two", ["one  two"]),
        ("one ![](https://x.example/badge.svg) two", ["one  two"]),
        ("word\n\n# Footer\n%% nothing %%", ["word\n\n# Footer"]),
    ],
)
def test_what_is_no_text_is_left_out(text: str, kept: list[str]) -> None:
    """Comments and badges are in no piece."""
    assert contents(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "```\n%% code %%\n<!-- code -->\n```",
        "`%% code %%` and `<!-- code -->`",
        "    %%time\n    %%",
        "50%% of it",
        "<!-- no end",
        "~~~\n%% no end of the code %%",
        "![A sunset over the lake](https://x.example/lake.jpg)",
        "- [ ] [[Buy milk]]\n- [x] [[Pay]]",
        "- [[go]] https://go.example/a_(b)",
        "[one](a.md) | <https://b.example> | ![[c.png]]",
        "# A heading\n## Another",
        "\\%% said %%",
    ],
)
def test_text_and_code_are_kept(text: str) -> None:
    """Code, tasks, captions, bookmarks, and comments without an end stay as they are."""
    assert contents(text) == [text]
    assert parsed(text)[0].left_out == 0


def test_links_and_tags_belong_to_the_piece_in_which_they_begin() -> None:
    """A list of links is text like any other text, with the links and tags in it."""
    first, second = parsed("[[Zero]]\n\none\n\n- [[One]] #x\n\n# Books\n\n- [[Dune]]\n")[0].pieces
    assert ([link.target for link in first.links], first.tags) == (["Zero", "One"], ("x",))
    assert (second.content, [link.target for link in second.links]) == ("# Books\n\n- [[Dune]]", ["Dune"])


@pytest.mark.parametrize(
    "footer", ["https://b.example", '<b>[Edit](https://x.example/e "e") |\n<https://y.example></b>']
)
def test_a_section_of_addresses_belongs_to_the_text_before_it(footer: str) -> None:
    """A footer with links is no atom of its own, which would be found in place of the page."""
    text = f"# Oak\n\nTall.\n\n# This page\n\n{footer}"
    assert contents(f"{text}\n\n# Ash\n\nFast.") == [text, "# Ash\n\nFast."]
    assert contents(f"{text} word") == ["# Oak\n\nTall.", f"# This page\n\n{footer} word"]


@pytest.mark.parametrize("before", ["", "word " * 150])
def test_a_long_url_is_in_one_piece(before: str) -> None:
    """An address that is longer than a piece is not divided, so that it is found and can be copied."""
    url = f"https://x.example/?q={'ab12' * 600}"
    pieces = contents(f"{before}\n\n- [[Search]] {url}\n- [[Other]] more")
    assert sum(url in content for content in pieces) == 1


def test_a_page_without_text_is_its_title() -> None:
    """A file with nothing but comments has one piece: its title."""
    text = "---\naliases: [P]\n---\n%% todo %%\n"
    document, skipped = parsed(text)
    (piece,) = document.pieces
    assert (piece.content, piece.title, piece.aliases) == ("Page", "Page", ("P",))
    assert (piece.meta, document.left_out, skipped) == (None, 1, ())


def test_a_blank_file_has_no_piece() -> None:
    """A file of white space is not a page."""
    assert parsed(" \n\n")[0].pieces == ()


def test_lines_are_counted_in_the_file() -> None:
    """A report names the line in the file, although comments before it were left out."""
    text = "one\n\n%% a\nb\n%%\n\n- [[A]]\n- [[B]]\n\n# H\nlong " + "\u0301" * 31
    (skipped,) = parsed(text)[1]
    assert skipped.line == 10


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(BLOCKS), max_size=8), st.sampled_from((8, 20, 200)))
def test_nothing_else_is_lost(blocks: list[str], tokens_max: int) -> None:
    """Each word that is no comment or badge is in the pieces as often as it is in the file."""
    pieces = parsed("\n\n".join(blocks), tokens_max=tokens_max)[0].pieces
    joined = "\n".join(piece.content for piece in pieces)
    for word in ("a word", "code", "text", "Task", "Alpha", "https://b.example"):
        expected = sum(block.replace("%%aside%%", "").count(word) for block in blocks)
        assert joined.count(word) == expected
    for word in ("a note", "over lines", "aside", "shields"):
        assert word not in joined
    links = {link.target for piece in pieces for link in piece.links}
    assert ({"Alpha", "Beta"} <= links) == (BLOCKS[5] in blocks)


@pytest.mark.parametrize("mark", ["%%", "<!--", "`", "![", "[![a](b)](", "[", "<a", "```\n"])
def test_many_marks_without_an_end_are_text(mark: str) -> None:
    """A long run of opening marks is read, and what opens nothing is kept."""
    assert "".join(contents(mark * 3001)).count(mark.strip()) >= (1 if mark == "%%" else 3000)


@pytest.mark.parametrize("comment", ["%%later%%", "<!-- later -->"])
def test_a_heading_with_a_comment_is_kept(comment: str) -> None:
    """A heading stays if a comment was left out of its line or below it."""
    document, _ = parse_markdown(f"# Oak {comment}\n\n# Ash\n\n{comment}\n\n# Elm\n\nTall.\n", "notes/a.md")
    assert [piece.content for piece in document.pieces] == ["# Oak \n\n# Ash\n\n\n# Elm\n\nTall."]
