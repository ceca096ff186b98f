"""Strict parsers of the two drawing languages, which reject everything they do not know."""

from __future__ import annotations

import re
from collections.abc import Iterator

Node = tuple[str, str]
"""Name and label."""

Line = tuple[str, str, str, str]
"""Name, arrow, name, label."""

_MERMAID_TEXT = r"(?:[0-9A-Za-z ,.()?'/-]|#[0-9]+;|[^\x00-\x9f\u00b0\u00b6\u00df\ufb02\u2028\u2029])*"
_MERMAID_NODE = re.compile(rf'    (n[0-9]+)\["({_MERMAID_TEXT})"\]')
_MERMAID_LINE = re.compile(rf'    (n[0-9]+) (-->|---|-\.->)\|"({_MERMAID_TEXT})"\| (n[0-9]+)')
_MERMAID_LIST = re.compile(r"[0-9]+[.)] |[-+*] ")


def read_mermaid(text: str) -> tuple[list[Node], list[Line]]:
    """Return the nodes and lines of a flowchart, with labels as they are shown."""
    first, *rest, last = text.split("\n")
    assert (first, last) == ("flowchart LR", "")
    nodes: list[Node] = []
    lines: list[Line] = []
    for line in rest:
        if node := _MERMAID_NODE.fullmatch(line):
            nodes.append((node[1], _mermaid_label(node[2])))
        else:
            arrow = _MERMAID_LINE.fullmatch(line)
            assert arrow is not None, line
            lines.append((arrow[1], arrow[2], arrow[4], _mermaid_label(arrow[3])))
    return nodes, lines


def _mermaid_label(raw: str) -> str:
    assert not _MERMAID_LIST.match(raw), raw
    # Mermaid's lexer looks for this word in whole lines, quotes or not.
    assert "direction" not in raw.lower()
    return re.sub("#([0-9]+);", lambda code: chr(int(code[1])), raw)


_DOT_TOKENS = re.compile(r'"(?:[^"\\]|\\["\\])*"|->|[{}\[\];,=]|[A-Za-z_][A-Za-z_0-9]*|[0-9]+')


def read_dot(text: str) -> tuple[list[Node], list[Line]]:
    """Return the nodes and lines of a digraph, with labels as shown and arrows from style and direction."""
    tokens = list(_dot_tokens(text))
    assert tokens[:3] == ["digraph", "bright", "{"]
    assert tokens[-1] == "}"
    nodes: list[Node] = []
    lines: list[Line] = []
    statement: list[str] = []
    for part in tokens[3:-1]:
        if part != ";":
            statement.append(part)
            continue
        if statement[1:2] == ["->"]:
            fields = _dot_fields(statement[3:])
            arrow = fields.get("dir", "forward") + fields.get("style", "")
            lines.append((statement[0], arrow, statement[2], fields["label"]))
            assert 1 <= int(fields["weight"]) <= 10
        elif re.fullmatch("n[0-9]+", statement[0]):
            nodes.append((statement[0], _dot_fields(statement[1:])["label"]))
        else:
            assert statement in (["rankdir", "=", "LR"], ["node", "[", "shape", "=", "box", "]"])
        statement = []
    assert not statement
    return nodes, lines


def _dot_tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        if text[at] in " \n":
            at += 1
            continue
        token = _DOT_TOKENS.match(text, at)
        assert token is not None, text[at : at + 20]
        assert "\n" not in token[0]
        yield token[0]
        at = token.end()


def _dot_fields(tokens: list[str]) -> dict[str, str]:
    """`[name=value, …]`."""
    assert (tokens[0], tokens[-1]) == ("[", "]")
    fields = {}
    for start in range(1, len(tokens) - 1, 4):
        name, equals, value, *comma = tokens[start : min(start + 4, len(tokens) - 1)]
        assert (equals, comma) in (("=", [","]), ("=", []))
        fields[name] = _dot_label(value) if value.startswith('"') else value
    return fields


def _dot_label(quoted: str) -> str:
    """Return the label that Graphviz shows, after undoing the escapes of the string and of the label."""
    string = quoted[1:-1].replace('\\"', '"')
    assert re.fullmatch(r"(?:[^\\&]|\\\\|&amp;)*", string), string
    return string.replace("\\\\", "\\").replace("&amp;", "&")
