"""A graph of lit atoms as text that drawing programs read: Mermaid and Graphviz.

Titles and tags are content: they are put between quotes with every character that could mean
something written as its number (Mermaid) or escaped (dot), so none of them can end a label.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from engine.retrieval.bright import BrightGraph, BrightNode, Relation

LABEL_CHARS: Final = 48

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,")


def mermaid(graph: BrightGraph) -> str:
    """A Mermaid flowchart: https://mermaid.js.org/syntax/flowchart.html; ends with a line end."""
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [f'    {names[node.id]}["{_numbered(_label(node))}"]' for node in graph.nodes]
    for one in graph.relations:
        arrow = "-->" if one.directed else "---"
        lines.append(f'    {names[one.src]} {arrow}|"{_numbered(_caption(one))}"| {names[one.dst]}')
    return "\n".join(lines) + "\n"


def dot(graph: BrightGraph) -> str:
    """A Graphviz digraph: https://graphviz.org/doc/info/lang.html; ends with a line end."""
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["digraph bright {", "    rankdir=LR;", "    node [shape=box];"]
    lines += [f"    {names[node.id]} [label={_quoted(_label(node))}];" for node in graph.nodes]
    for one in graph.relations:
        undirected = "" if one.directed else ", dir=none"
        lines.append(
            f"    {names[one.src]} -> {names[one.dst]} [label={_quoted(_caption(one))}, "
            f"weight={max(1, round(10 * one.strength))}{undirected}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _label(node: BrightNode) -> str:
    return f"{_short(node.title or node.snippet or node.id)} {round(100 * node.brightness)}%"


def _caption(relation: Relation) -> str:
    return f"{relation.kind}: {_short(', '.join(relation.names))} {relation.strength:.2f}"


def _short(text: str) -> str:
    """On one line, without what cannot be seen, cut to LABEL_CHARS."""
    seen = "".join(
        " " if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") else char for char in text
    )
    line = " ".join(seen.split())
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"


def _numbered(text: str) -> str:
    """For a quoted Mermaid label: all but ASCII letters, digits and spaces as `#code;`."""
    return "".join(char if char in _PLAIN else f"#{ord(char)};" for char in text)


def _quoted(text: str) -> str:
    """A quoted string of dot; a backslash would begin an escape there."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
