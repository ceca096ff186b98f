"""A reader of mirror pages, written from their description, to hold them against what was put in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

from engine.transfer.mirror.manifest import MANIFEST

HEADING = re.compile(r"## \[([0-9a-f-]{36})\] (.*)")
FENCE = re.compile(r"(`{3,})(text|escaped)")
ESCAPED = re.compile(r"\\(.)|⟨U\+([0-9A-F]{4,6})⟩")
WRITTEN_OUT = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
LINKED = re.compile(
    r'- (`?[a-z0-9._-]+`?) (?:\[.*\]\(.* "([0-9a-f-]{36})"\)|\[\[[^\[\]|#^]+#\^(a-[a-z2-7]{26})\|.*\]\])'
)


@dataclass
class Entry:
    """An atom as a page shows it."""

    id: str
    fields: dict[str, str]
    edges: list[tuple[str, str]]
    content: str | None
    """None: the atom stands elsewhere."""
    anchor: str = ""


@dataclass
class Parsed:
    """A page."""

    head: list[str]
    entries: list[Entry] = field(default_factory=list)


def plain(text: str) -> str:
    """What an escaped line stands for."""
    return ESCAPED.sub(lambda found: found[1] or chr(int(found[2], 16)), text)


def parse(text: str) -> Parsed:
    """A page, all of it; anything that is not as described is an AssertionError."""
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
    """The text of each page by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in sorted(folder.rglob("*.md"))
        if path.is_file()
    }


def tree(folder: Path) -> dict[str, bytes]:
    """All files of a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def listed(folder: Path) -> list[str]:
    """The names of what stands directly in a folder, hidden ones too, sorted."""
    return sorted(path.name for path in folder.iterdir())


def whole(folder: Path) -> dict[str, Entry]:
    """The atoms that stand whole in a mirror; one that stands twice is an AssertionError."""
    found: dict[str, Entry] = {}
    for text in pages(folder).values():
        for entry in parse(text).entries:
            if entry.content is not None:
                assert entry.id not in found
                found[entry.id] = entry
    return found


def structure(text: str) -> tuple[int, int]:
    """The second-level headings and the rules that Markdown sees; refuses HTML and links not of ours."""
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


__all__ = ["MANIFEST", "Entry", "Parsed", "listed", "pages", "parse", "plain", "structure", "tree", "whole"]
