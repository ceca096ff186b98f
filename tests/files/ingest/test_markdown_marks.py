"""Tags and links in a paragraph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.ingest.documents import Reference
from engine.files.ingest.markdown_metadata import marks, without_markup


def _tags(text: str) -> list[str]:
    return [mark for _, mark in marks(text, 0, len(text)) if isinstance(mark, str)]


def _links(text: str) -> list[Reference]:
    return [mark for _, mark in marks(text, 0, len(text)) if isinstance(mark, Reference)]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#tag and #two", ["tag", "two"]),
        ("#project/alpha/ x", ["project/alpha"]),
        ("#2021-06-04 #y1984 #a_b", ["2021-06-04", "y1984", "a_b"]),
        ("#тег #标签 #हिन्दी #café", ["тег", "标签", "हिन्दी", "café"]),
        ("(line)\n#tag, next", ["tag"]),
        ("#1984 #- #_ #/ ## # #", []),
        ("a#tag (#tag) ##tag", []),
        ("`#tag` ``x ` #tag`` \\#tag", []),
        ("http://x.org/#frag [[a #b]] [x](y.md#tag)", []),
        ("` #open", ["open"]),
        ("#" + "a" * 300, []),
    ],
)
def test_tags_are_found_by_obsidians_rule(text: str, tags: list[str]) -> None:
    """A tag follows white space, is not only digits, and is not in code or in a link."""
    assert _tags(text) == tags


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[Page]]", [Reference("Page", None, "wiki")]),
        ("![[Page#Part|shown]]", [Reference("Page", "Part", "wiki")]),
        ("[[a/b^block]] [[c#^d]]", [Reference("a/b", "^block", "wiki"), Reference("c", "^d", "wiki")]),
        ("| [[a\\|b]] |", [Reference("a", None, "wiki")]),
        ("[[[x]]", [Reference("x", None, "wiki")]),
        ("[[]] [[#h]] [[a\nb]] `[[c]]` [[d", []),
        ("[x](../b.md#h)", [Reference("../b.md", "h", "relative")]),
        (
            "[x](a%20b.md) [y](<c d.md>)",
            [Reference("a b.md", None, "relative"), Reference("c d.md", None, "relative")],
        ),
        ('[x](a(1).md "title")', [Reference("a(1).md", None, "relative")]),
        ("[x](http://a) [x](mailto:a@b) [x](/a) [x](#h) [x](//a) [x]() [x] (a)", []),
        ("no](a.md) \\[x](b.md) [x](%00)", []),
    ],
)
def test_links_are_wiki_links_and_relative_ones(text: str, links: list[Reference]) -> None:
    """Links have decoded targets without alias and separate fragments; other links are ignored."""
    assert _links(text) == links


@given(st.text("`[]()#\\<>!|^ab\n é漢"))
def test_every_mark_is_at_its_place(text: str) -> None:
    """For any text, marks are in order, and each tag is at its offset."""
    found = list(marks(text, 0, len(text)))
    assert [at for at, _ in found] == sorted(at for at, _ in found)
    assert all(text[at] == "#" for at, mark in found if isinstance(mark, str))


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("A *b* `c` __d__ snake_case", "A b c d snake_case"),
        ("See [[Page|this]] and [that](x.md)", "See this and that"),
        ("[[open [x] ![[Embed]]", "open x !Embed"),
    ],
)
def test_a_heading_is_shown_without_markup(heading: str, shown: str) -> None:
    """Headings are shown with the text of links, without emphasis and backticks."""
    assert without_markup(heading) == shown
