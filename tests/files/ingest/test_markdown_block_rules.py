"""Selecting the block rules by the first character of a line does not change what is parsed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from engine.files.ingest.markdown import _parser

_PARTS = st.sampled_from(
    [
        *(
            "- ",
            "* ",
            "+ ",
            "1. ",
            "2) ",
            "> ",
            ">",
            "# ",
            "###### ",
            "```",
            "~~~",
            "---",
            "***",
            "_ __",
            "- - -",
        ),
        *("===", "|a|", "|-|", ":-:", "<div>", "<!--", "-->", "    ", "\t", "  ", " ", "a", "b c", "é", "-"),
        *("\n", "\n", "\n\n", "\\"),
    ]
)


def _plain() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").disable("reference")
    parser.core.ruler.enableOnly(["block"])
    return parser


@given(st.one_of(st.lists(_PARTS, max_size=40).map("".join), st.text("-+*>#`~|:=<1.) \t\na", max_size=60)))
@settings(max_examples=500)
def test_the_tokens_are_those_of_the_parser_without_selection(text: str) -> None:
    """The parser gives the same tokens as markdown-it alone."""
    assert _parser().parse(text) == _plain().parse(text)
