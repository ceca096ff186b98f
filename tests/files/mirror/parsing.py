"""A parser of mirror pages, written from their description, to compare pages with the original atoms."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from engine.base.errors import EngineError, RefusedError
from engine.engine import Engine

HEADING = re.compile(r"## \[([0-9a-f-]{36})\] (.*)")
FENCE = re.compile(r"(`{3,})(text|escaped)")
ESCAPED = re.compile(r"\\(.)|⟨U\+([0-9A-F]{4,6})⟩")
WRITTEN_OUT = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
LINKED = re.compile(
    r'- (`?[a-z0-9._-]+`?) (?:\[.*\]\(.* "([0-9a-f-]{36})"\)|\[\[[^\[\]|#^]+#\^(a-[a-z2-7]{26})\|.*\]\])'
)


@dataclass
class Entry:
    """An atom as shown on a page."""

    id: str
    fields: dict[str, str]
    edges: list[tuple[str, str]]
    content: str | None
    """The content, or None if the atom appears in full on another page."""
    anchor: str = ""


@dataclass
class Parsed:
    """A parsed page."""

    head: list[str]
    entries: list[Entry] = field(default_factory=list)


def plain(text: str) -> str:
    """Return the text that an escaped line stands for."""
    return ESCAPED.sub(lambda found: found[1] or chr(int(found[2], 16)), text)


def parse(text: str) -> Parsed:
    """Parse a whole page; raise AssertionError if anything differs from the description."""
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    at = next(number for number, line in enumerate(lines) if HEADING.fullmatch(line))
    page = Parsed(lines[: at - 1])
    while True:
        entry, at = _entry(lines, at)
        page.entries.append(entry)
        if at == len(lines):
            return page
        assert lines[at : at + 3] == ["", "---", ""], lines[at : at + 3]
        at += 3


def _entry(lines: list[str], at: int) -> tuple[Entry, int]:
    found = HEADING.fullmatch(lines[at])
    assert found, lines[at]
    assert lines[at + 1] == ""
    at += 2
    entry = Entry(found[1], {}, [], None)
    while at < len(lines) and lines[at].startswith("- "):
        linked = LINKED.match(lines[at])
        name, colon, value = lines[at][2:].partition(": ")
        if linked:
            entry.edges.append((linked[1].strip("`"), linked[2] or linked[3]))
        else:
            assert colon, lines[at]
            entry.fields[name] = value
        at += 1
    if "see" in entry.fields:
        assert len(entry.fields) == 1
        assert entry.edges == []
        return entry, at
    assert lines[at] == ""
    at += 1
    if lines[at].startswith("^a-"):
        entry.anchor = lines[at]
        assert lines[at + 1] == ""
        at += 2
    entry.content, at = _body(lines, at)
    return entry, at


def _body(lines: list[str], at: int) -> tuple[str, int]:
    fence = FENCE.fullmatch(lines[at])
    if fence:
        end = lines.index(fence[1], at + 1)
        content = "\n".join(lines[at + 1 : end])
        if fence[2] == "escaped":
            content = WRITTEN_OUT.sub(lambda found: chr(int(found[1], 16)), content)
        return content, end + 1
    end = at
    while end < len(lines) and lines[end : end + 3] != ["", "---", ""]:
        end += 1
    return "\n".join(lines[at:end]), end


def pages(folder: Path) -> dict[str, str]:
    """Return the text of each page by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in sorted(folder.rglob("*.md"))
        if path.is_file()
    }


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, including hidden ones."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def listed(folder: Path) -> list[str]:
    """Return the sorted names of the entries in a folder, including hidden ones."""
    return sorted(path.name for path in folder.iterdir())


def whole(folder: Path) -> dict[str, Entry]:
    """Return the atoms that appear in full; raise AssertionError if one appears twice."""
    found: dict[str, Entry] = {}
    for text in pages(folder).values():
        for entry in parse(text).entries:
            if entry.content is not None:
                assert entry.id not in found
                found[entry.id] = entry
    return found


def structure(text: str) -> tuple[int, int]:
    """Return the second-level headings and rules of a page; refuse HTML and links of other forms."""
    body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    for token in [inner for outer in tokens for inner in (outer, *(outer.children or []))]:
        assert token.type not in {"html_block", "html_inline", "image", "table_open", "blockquote_open"}, (
            token
        )
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith("../../@"), token
    headings = [token for token in tokens if token.type == "heading_open" and token.tag == "h2"]
    others = [token for token in tokens if token.type == "heading_open" and token.tag not in {"h1", "h2"}]
    assert others == []
    return len(headings), sum(token.type == "hr" for token in tokens)


def refused(engine: Engine, folder: str | Path, kind: type[EngineError] = RefusedError) -> None:
    """Assert that a mirror in this folder is refused."""
    with pytest.raises(kind):
        engine.mirror(folder)
