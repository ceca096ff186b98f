"""Drawings: titles, texts and tags are always labels."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.base.characters import INVISIBLE, is_needed
from engine.cli.shown_parts import shown
from engine.files.ingest.field_values import content_problem
from engine.query.graph.bright import BrightGraph, BrightNode, Relation, RelationKind
from engine.query.graph.drawing import LABEL_CHARS, dot, mermaid
from tests.query.graph.parsers import Line, Node, read_dot, read_mermaid
from tests.query.recall.support import id_of
from tests.support.shared_data import needs

HOSTILE = [
    "end",
    '"]; click n1 "javascript:alert(1)"',
    "a --> b",
    'n1["x"] --> n2',
    '%%{init: {"theme": "dark"}}%%',
    "two\nlines\r\n%% and a comment",
    "`**bold**`",
    "1. a list",
    "2) a list",
    "- a list",
    "#35; #quot; &lt;b&gt; &amp;",
    "<script>alert(1)</script>",
    "\\",
    '\\N \\" \\',
    "direction TB",
    "style n1 fill:#f9f",
    "classDef default fill:#f00",
    "ﬂ°°35¶ß",
    "\u202eevil\u2066 \x1b[2J\x9b",
    "東京 🏴‍☠️ é e\u0301",
    "   ",
]
TEXTS = st.lists(st.sampled_from([*HOSTILE, *'"#;:%{}[]()|<>&\\`~=+*_-. \n']), max_size=6).map(
    "".join
) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


def graph(texts: list[str]) -> BrightGraph:
    """A graph of nodes with these titles, connected by all kinds of relations with these names."""
    nodes = tuple(
        BrightNode(id_of(n), 1 / (n + 1), text or None, text, (), (), None, None, 0)
        for n, text in enumerate(texts)
    )
    kinds = list(RelationKind)
    relations = tuple(
        Relation(
            kind=kinds[n % len(kinds)],
            src=id_of(n),
            dst=id_of(n + 1),
            directed=kinds[n % len(kinds)] in (RelationKind.EDGE, RelationKind.NEXT_IN_SOURCE),
            strength=0.5,
            names=(text,),
            weight=None,
        )
        for n, text in enumerate(texts[:-1])
    )
    return BrightGraph("q", nodes, relations, 1)


def cut(text: str) -> str:
    """The label of a text: one line, no invisible characters, 48 characters."""
    seen = [
        char
        for at, char in enumerate(text)
        if char.isspace()
        or is_needed(text, at)
        or not (char < " " or "\x7f" <= char < "\xa0" or re.match(f"[{INVISIBLE}]", char))
    ]
    line = " ".join("".join(seen).split())
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"


def expected(drawn: BrightGraph, arrows: dict[RelationKind, str]) -> tuple[list[Node], list[Line]]:
    """The nodes and lines that a drawing must have."""
    names = {node.id: f"n{number}" for number, node in enumerate(drawn.nodes, 1)}
    nodes = [
        (names[node.id], f"{cut(node.title or node.snippet) or node.id} {round(100 * node.brightness)}%")
        for node in drawn.nodes
    ]
    lines = []
    for one in drawn.relations:
        what = cut(one.names[0])
        if one.kind is not RelationKind.EDGE:
            what = f"{one.kind.value.replace('_', ' ')}: {what}"
        lines.append((names[one.src], arrows[one.kind], names[one.dst], f"{what} 0.50"))
    return nodes, lines


MERMAID = dict.fromkeys(RelationKind, "---") | {
    RelationKind.EDGE: "-->",
    RelationKind.NEXT_IN_SOURCE: "-.->",
}
DOT = dict.fromkeys(RelationKind, "none") | {
    RelationKind.EDGE: "forward",
    RelationKind.NEXT_IN_SOURCE: "forwarddotted",
}


@settings(deadline=None)
@example(HOSTILE)
@given(st.lists(TEXTS, max_size=7))
def test_mermaid_says_what_the_graph_says(texts: list[str]) -> None:
    """The flowchart has exactly the nodes and relations, with exact labels."""
    drawn = graph(texts)
    assert read_mermaid(mermaid(drawn)) == expected(drawn, MERMAID)


@settings(deadline=None)
@example(HOSTILE)
@given(st.lists(TEXTS, max_size=7))
def test_dot_says_what_the_graph_says(texts: list[str]) -> None:
    """The digraph has exactly the nodes and relations, with exact labels."""
    drawn = graph(texts)
    assert read_dot(dot(drawn)) == expected(drawn, DOT)


@settings(deadline=None)
@example(HOSTILE)
@given(st.lists(TEXTS, max_size=7))
def test_a_drawing_has_nothing_that_a_terminal_would_obey(texts: list[str]) -> None:
    """A drawing contains no characters that printing would change."""
    for drawing in (mermaid(graph(texts)), dot(graph(texts))):
        assert shown(drawing) == drawing


def test_naughty_strings_are_labels() -> None:
    """Every naughty string that is a valid title comes out as a label in both languages."""
    strings = json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8"))
    drawn = graph([text for text in strings if text.strip() and content_problem(text) is None])
    assert read_mermaid(mermaid(drawn)) == expected(drawn, MERMAID)
    assert read_dot(dot(drawn)) == expected(drawn, DOT)


@pytest.mark.parametrize(
    ("reader", "bad"),
    [
        (read_mermaid, 'flowchart LR\n    n1["a"b"]\n'),
        (read_mermaid, 'flowchart LR\n    n1["a#b"]\n'),
        (read_mermaid, 'flowchart LR\n    n1["direction TB"]\n'),
        (read_mermaid, 'flowchart LR\n    n1["1. a"]\n'),
        (read_mermaid, "flowchart LR\n    n1[a]\n"),
        (read_dot, 'digraph bright {\n    n1 [label="a"b"];\n}\n'),
        (read_dot, 'digraph bright {\n    n1 [label="a\\N"];\n}\n'),
        (read_dot, 'digraph bright {\n    n1 [label="a\\"];\n}\n'),
        (read_dot, 'digraph bright {\n    n1 [label="&lt;"];\n}\n'),
    ],
)
def test_the_readers_refuse_what_would_be_misread(reader: object, bad: str) -> None:
    """The parsers reject a label that breaks out of its quotes or would be shown differently."""
    assert callable(reader)
    with pytest.raises((AssertionError, KeyError, ValueError)):
        reader(bad)
