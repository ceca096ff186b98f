"""Comments, badges and bare link lists are left out of the pieces; code, words and links are kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.files.ingest.documents import Document, Skipped
from engine.files.ingest.markdown import parse_markdown
from engine.files.ingest.markdown_structure import is_bare

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
        ("word\n\n- [[Alpha]]\n- [[Beta]], [[Gamma]]\n\nword", ["word\n\nword"]),
        ("word\n\n[one](a.md) | <https://b.example> | ![[c.png]]", ["word"]),
        ("word\n\n# Footer\n<span>[Edit](https://x.example)</span>", ["word"]),
        ("word\n\n# Footer\n%% nothing %%", ["word"]),
    ],
)
def test_what_is_no_text_is_left_out(text: str, kept: list[str]) -> None:
    """Comments, badges and bare link lists are in no piece, nor are headings above nothing else."""
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
        "- [[Alpha]]\n- a word about [[Beta]]",
        "# A heading\n## Another",
        "\\%% said %%",
    ],
)
def test_text_and_code_are_kept(text: str) -> None:
    """Code, tasks, captions, comments without an end and lists with a word stay as they are."""
    assert contents(text) == [text]
    assert parsed(text)[0].left_out == 0


def test_a_heading_above_links_to_pages_is_kept() -> None:
    """A heading describes the links under it, so its words stay although the list is left out."""
    (piece,) = parsed("# Books I loved\n\n- [[Dune]]\n- [[Emma]]\n")[0].pieces
    assert (piece.content, [link.target for link in piece.links]) == ("# Books I loved", ["Dune", "Emma"])


def test_the_links_of_a_list_belong_to_the_piece_before_it() -> None:
    """The links and tags of a list that is left out are kept with the text before it, or the first text."""
    first, second = parsed("[[Zero]]\n\none\n\n- [[One]] #x\n\n# H\ntwo\n\n[[Two]]")[0].pieces
    assert ([link.target for link in first.links], first.tags) == (["Zero", "One"], ("x",))
    assert [link.target for link in second.links] == ["Two"]


def test_a_page_without_text_is_its_title() -> None:
    """A file with nothing but links and comments has one piece: its title, with the links and URLs."""
    text = "---\naliases: [P]\n---\n%% todo %%\n- [[A]]\n\n[x](https://x.example/a_(b))"
    document, skipped = parsed(text)
    (piece,) = document.pieces
    assert (piece.content, piece.title, piece.aliases) == ("Page", "Page", ("P",))
    assert [link.target for link in piece.links] == ["A"]
    assert piece.meta == {"links": "https://x.example/a_(b)"}
    assert (document.left_out, skipped) == (3, ())


def test_a_blank_file_has_no_piece() -> None:
    """A file of white space is not a page."""
    assert parsed(" \n\n")[0].pieces == ()


def test_lines_are_counted_in_the_file() -> None:
    """A report names the line in the file, although comments and lists before it were left out."""
    text = "one\n\n%% a\nb\n%%\n\n- [[A]]\n- [[B]]\n\n# H\nlong " + "\u0301" * 31
    (skipped,) = parsed(text)[1]
    assert skipped.line == 10


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(BLOCKS), max_size=8), st.sampled_from((8, 20, 200)))
def test_nothing_else_is_lost(blocks: list[str], tokens_max: int) -> None:
    """Each word that is no comment, link or badge is in exactly as many pieces as it is in the file."""
    pieces = parsed("\n\n".join(blocks), tokens_max=tokens_max)[0].pieces
    joined = "\n".join(piece.content for piece in pieces)
    for word in ("a word", "code", "text", "Task"):
        expected = sum(block.replace("%%aside%%", "").count(word) for block in blocks)
        assert joined.count(word) == expected
    for word in ("a note", "over lines", "aside", "shields", "Alpha", "one"):
        assert word not in joined
    links = {link.target for piece in pieces for link in piece.links}
    assert ({"Alpha", "Beta"} <= links) == (BLOCKS[5] in blocks)


@pytest.mark.parametrize("mark", ["%%", "<!--", "`", "![", "[![a](b)](", "[", "<a", "```\n"])
def test_many_marks_without_an_end_are_text(mark: str) -> None:
    """A long run of opening marks is read, and what opens nothing is kept."""
    assert "".join(contents(mark * 3001)).count(mark.strip()) >= (1 if mark == "%%" else 3000)


def test_a_list_of_urls_is_bare() -> None:
    """URLs, embeds and HTML tags are not words; numbers of a list are not, either."""
    assert is_bare("1. https://a.example/x\n2. <https://b.example>\n\n<br/> ![[x.png]]")
    assert not is_bare("1. see https://a.example/x")
    assert not is_bare("no link")


@pytest.mark.parametrize("comment", ["%%later%%", "<!-- later -->"])
def test_a_heading_with_a_comment_in_its_line_is_kept(comment: str) -> None:
    """A heading without a body is left out only if a comment was left out below it."""
    document, _ = parse_markdown(f"# Oak {comment}\n\n# Ash\n\n{comment}\n\n# Elm\n\nTall.\n", "notes/a.md")
    assert [piece.content for piece in document.pieces] == ["# Oak \n\n# Elm\n\nTall."]
