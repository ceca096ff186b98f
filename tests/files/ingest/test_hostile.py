"""Texts that try to crash or to slow down a parser."""

from __future__ import annotations

import pytest

from engine.files.ingest.markdown import parse_markdown
from engine.files.ingest.pieces import parse_plain

pytestmark = pytest.mark.slow

_N = 10_000
_HOSTILE = {
    "quotes": ">" * _N,
    "deeper quotes": "\n".join(">" * depth for depth in range(500)),
    "brackets": "[" * _N,
    "wiki brackets": "[[" * _N,
    "open links": "[a](<" * _N,
    "lists in one line": "- " * _N,
    "stairs of lists": "".join("  " * depth + "- a\n" for depth in range(500)),
    "quotes and lists": "> - " * _N,
    "backticks": "".join("`" * size + " " for size in range(200)),
    "hashes": "#" * _N,
    "tags": "#a/" * _N,
    "backslashes": "\\" * _N,
    "emphasis": "*a _b " * _N,
    "headings": "# a\n" * _N,
    "wide table": "|a" * 1000 + "\n" + "|-" * 1000 + "\n" + "|b|\n" * 20,
    "one word": "a" * 100_000,
    "one sentence": " a" * 50_000,
    "blank lines": "\n" * 100_000 + "a",
    "spaces": " " * 100_000 + "a",
    "html": "<!--\n" * _N,
    "link definitions": "[a]: b\n" * _N,
    "entities": "&amp;" * _N,
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_markdown_goes_in_whole(name: str) -> None:
    """Deep and repetitive Markdown is ingested without errors or lost characters."""
    text = _HOSTILE[name]
    document, skipped = parse_markdown(text, "s/f.md")
    joined = "".join(piece.content for piece in document.pieces)
    assert ("".join(joined.split()), skipped) == ("".join(text.split()), ())


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_text_goes_in_whole(name: str) -> None:
    """Deep and repetitive text is ingested without errors or lost characters."""
    text = _HOSTILE[name]
    joined = "".join(piece.content for piece in parse_plain(text, "s/f.txt")[0].pieces)
    assert "".join(joined.split()) == "".join(text.split())


def test_a_tower_of_accents_is_left_out_alone() -> None:
    """A refused run of combining marks costs only its own piece, not the file."""
    text = "# A\nfine\n\n# B\na" + "\u0301" * 31 + "\n\n# C\nfine too\n"
    document, skipped = parse_markdown(text, "s/f.md")
    assert [piece.title for piece in document.pieces] == ["A", "C"]
    assert len(skipped) == 1
