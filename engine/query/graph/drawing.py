"""Render a `BrightGraph` as text for drawing programs: Mermaid, or Graphviz in the dot language.

Titles, snippets and tags are content. They occur only between quotes, and every character that has a special
meaning between quotes is written as its code (Mermaid) or escaped (dot). The names of nodes, n1, n2, …, are
generated.
"""

from __future__ import annotations

import re
from typing import Final

from engine.base.characters import INVISIBLE, is_needed, lazy
from engine.query.graph.bright import BrightGraph, BrightNode, Relation, RelationKind

LABEL_CHARS: Final = 48
"""The largest number of characters in a label. A longer text is cut and ends in `…`."""

_UNSEEN: Final = lazy(f"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff{INVISIBLE}]")
"""Matches a character that is removed: a terminal or a parser might interpret the character, or the character
is invisible. A joiner that an emoji or a word needs is not removed."""

_SPECIAL: Final = re.compile(
    "[^0-9A-Za-z ,.()?'/\x80-\U0010ffff-]|[\u00b0\u00b6\u00df\ufb02]|(?i:(?<=directio)n)"
)
"""Matches a character that Mermaid (11.17) interprets even within quotes. It is written as a code.

Three groups of characters match. The first group is ASCII punctuation without a few harmless characters. The
second group consists of the letters that Mermaid substitutes for `#` and `;` while it parses. The third group
is the last letter of the word `direction`, which Mermaid interprets as a keyword.
"""

_LIST: Final = re.compile(r"^(?:([0-9]+)[.)]|([-+*]))(?= )")
"""Matches a list mark of Markdown, such as `1.` or `-`, at the beginning of a text. Mermaid reads labels as
Markdown, so the last character of the mark is written as a code."""


def mermaid(graph: BrightGraph) -> str:
    """Return the graph as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html).

    The text ends with a line end.

    Edges are drawn as arrows. Relations between neighbours in a source are drawn as dotted arrows. All other
    relations are drawn as plain lines.
    """
    names = _names(graph)
    lines = ["flowchart LR"]
    lines += [f'    {names[node.id]}["{_encoded(_label(node))}"]' for node in graph.nodes]
    for one in graph.relations:
        line = f'{_arrow(one)}|"{_encoded(_caption(one))}"|'
        lines.append(f"    {names[one.src]} {line} {names[one.dst]}")
    return "\n".join(lines) + "\n"


def dot(graph: BrightGraph) -> str:
    """Return the graph as a Graphviz digraph (https://graphviz.org/doc/info/lang.html).

    The text ends with a line end.

    Edges and relations are drawn with the same kinds of lines as in `mermaid`. A stronger relation has a
    higher weight, so Graphviz draws a shorter line.
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
    text = names if relation.kind is RelationKind.EDGE else f"{relation.kind.replace('_', ' ')}: {names}"
    return f"{text} {relation.strength:.2f}"


def _arrow(relation: Relation) -> str:
    if relation.kind is RelationKind.NEXT_IN_SOURCE:
        return "-.->"
    return "-->" if relation.directed else "---"


def _style(relation: Relation) -> str:
    if relation.kind is RelationKind.NEXT_IN_SOURCE:
        return ", style=dotted"
    return "" if relation.directed else ", dir=none"


def _short(text: str) -> str:
    """Return a text on one line, without invisible characters, cut to at most LABEL_CHARS characters."""
    line = " ".join(_UNSEEN.sub(_needed, text).split())
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"


def _needed(found: re.Match[str]) -> str:
    return found[0] if is_needed(found.string, found.start()) else ""


def _encoded(text: str) -> str:
    """Return a text for a quoted Mermaid label, with special characters written as `#code;`."""
    begin = _LIST.match(text)
    if begin is not None:
        return text[: begin.end() - 1] + f"#{ord(text[begin.end() - 1])};" + _encoded(text[begin.end() :])
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", text)


def _quoted(text: str) -> str:
    """Return a text as a quoted string of the dot language, with quotes, backslashes and `&` escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{escaped}"'
