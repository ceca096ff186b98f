"""A graph of lit atoms as text that drawing programs read: Mermaid, and dot of Graphviz.

Titles, snippets and tags are content. They stand between quotes only, with every sign that could mean
something there written as its number (Mermaid) or escaped (dot); nodes are called n1, n2, … by us.
"""

from __future__ import annotations

import re
from typing import Final

from engine.query.graph.bright import BrightGraph, BrightNode, Relation, RelationKind

LABEL_CHARS: Final = 48
"""A longer label is cut, and ends in `…`."""

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""What nobody can see and a terminal or a parser might obey. Joiners stay: emoji consist of them."""

_MEANING: Final = re.compile(
    "[^0-9A-Za-z ,.()?'/\x80-\U0010ffff-]|[\u00b0\u00b6\u00df\ufb02]|(?i:(?<=directio)n)"
)
"""For Mermaid: ASCII signs but for a few that mean nothing within quotes; the letters that Mermaid itself
writes in place of `#` and `;` while it reads; and a word that it sees in quotes, too (11.17)."""

_LIST: Final = re.compile(r"^(?:([0-9]+)[.)]|([-+*]))(?= )")
"""Mermaid reads a label as Markdown, in which this begins a list."""


def mermaid(graph: BrightGraph) -> str:
    """A flowchart of Mermaid (https://mermaid.js.org/syntax/flowchart.html); ends with a line end.

    Edges have an arrow, neighbours in a source a dotted one, what is shared a plain line.
    """
    names = _names(graph)
    lines = ["flowchart LR"]
    lines += [f'    {names[node.id]}["{_numbered(_label(node))}"]' for node in graph.nodes]
    for one in graph.relations:
        line = f'{_arrow(one)}|"{_numbered(_caption(one))}"|'
        lines.append(f"    {names[one.src]} {line} {names[one.dst]}")
    return "\n".join(lines) + "\n"


def dot(graph: BrightGraph) -> str:
    """A digraph of Graphviz (https://graphviz.org/doc/info/lang.html); ends with a line end.

    Lines as in `mermaid`; the stronger a relation, the more it draws its ends together.
    """
    names = _names(graph)
    lines = ["digraph bright {", "    rankdir=LR;", "    node [shape=box];"]
    lines += [f"    {names[node.id]} [label={_quoted(_label(node))}];" for node in graph.nodes]
    for one in graph.relations:
        ends = f"{names[one.src]} -> {names[one.dst]}"
        weight = max(1, round(10 * one.strength))
        lines.append(f"    {ends} [label={_quoted(_caption(one))}, weight={weight}{_style(one)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _names(graph: BrightGraph) -> dict[str, str]:
    return {node.id: f"n{number}" for number, node in enumerate(graph.nodes, 1)}


def _label(node: BrightNode) -> str:
    return f"{_short(node.title or node.snippet) or node.id} {round(100 * node.brightness)}%"


def _caption(relation: Relation) -> str:
    names = _short(", ".join(relation.names))
    what = names if relation.kind is RelationKind.EDGE else f"{relation.kind.replace('_', ' ')}: {names}"
    return f"{what} {relation.strength:.2f}"


def _arrow(relation: Relation) -> str:
    if relation.kind is RelationKind.NEXT_IN_SOURCE:
        return "-.->"
    return "-->" if relation.directed else "---"


def _style(relation: Relation) -> str:
    if relation.kind is RelationKind.NEXT_IN_SOURCE:
        return ", style=dotted"
    return "" if relation.directed else ", dir=none"


def _short(text: str) -> str:
    """On one line, without what cannot be seen, cut to LABEL_CHARS."""
    line = " ".join(_UNSEEN.sub("", text).split())
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"


def _numbered(text: str) -> str:
    """For a quoted label of Mermaid: what has a meaning as `#code;`."""
    begin = _LIST.match(text)
    if begin is not None:
        return text[: begin.end() - 1] + f"#{ord(text[begin.end() - 1])};" + _numbered(text[begin.end() :])
    return _MEANING.sub(lambda sign: f"#{ord(sign[0])};", text)


def _quoted(text: str) -> str:
    """For dot: quoted, and without entities and escapes, which it knows within quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{escaped}"'
