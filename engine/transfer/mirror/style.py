"""How atoms and the heads of pages are written, and what the two styles do differently.

`plain` is Markdown that any editor shows: folders `#tag`, relative links. `obsidian` can be opened as a
vault: names without signs that end a link, properties first, `[[links]]` to blocks, tags that it takes.
"""

from __future__ import annotations

import re
import struct
from base64 import b32encode
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import NamedTuple
from urllib.parse import quote

from engine.base.validation import show_id
from engine.followers.tags import day_of
from engine.ledger.records import AtomRecord
from engine.transfer.mirror.names import Names, safe, word_class
from engine.transfer.mirror.text import alias, body, inline, snippet, yaml
from proofs.sets import tag_identity

_WORD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_YEAR = re.compile(r"y[0-9]+")
_HASHED_TAG = re.compile(r".*_[0-9a-f]{12}", re.DOTALL)


class StyleName(StrEnum):
    """How pages are written."""

    PLAIN = "plain"
    OBSIDIAN = "obsidian"


class Bundle(NamedTuple):
    """What atoms are bundled by."""

    bucket: str
    tag: str | None
    what: str
    """`source`, `day` or `entity`."""
    title: str
    atom: str
    """The id of an entity; empty for the others."""


class Target(NamedTuple):
    """Where an atom stands whole."""

    path: str
    atom: bytes
    label: str


class Style:
    """The plain style, and what a style must be able to say."""

    name = StyleName.PLAIN
    tag_prefix = "#"

    def __init__(self, names: Names) -> None:
        self.names = names
        self.renamed: dict[str, str] = {}
        """Tags that stand under another name than their own: that name → the tag."""

    def tag_folder(self, tag: str) -> str:
        """The folder of a tag, by its caseless form."""
        name = self.names.tag(tag)
        if name != tag:
            self.renamed[name] = tag
        return self.tag_prefix + name

    def head(self, bundle: Bundle, title: str, number: int) -> str:
        """The beginning of page `number` of a bundle, without a line end."""
        lines = [f"# {inline(title)}", "", f"- bucket: {bundle.bucket}"]
        if bundle.tag is not None:
            lines.append(f"- tag: {inline(bundle.tag)}")
        lines.append(f"- {bundle.what}: {inline(title)}")
        lines.append(f"- page: {number}")
        return "\n".join(lines)

    def tags(self, tags: Sequence[str]) -> str:
        """The tags of an atom, on one line."""
        return ", ".join(inline(tag, ",") for tag in tags)

    def link(self, target: Target) -> str:
        """A link to an atom."""
        path = quote(f"../../{target.path}", safe="/@-_.")
        return f'[{inline(target.label)}]({path} "{show_id(target.atom)}")'

    def anchor(self, atom: bytes) -> str:
        """What makes an atom's entry a place to link to; empty where nothing does."""
        return ""


class Obsidian(Style):
    """The style for Obsidian."""

    name = StyleName.OBSIDIAN
    tag_prefix = "tag-"

    def head(self, bundle: Bundle, title: str, number: int) -> str:
        """Properties, then a heading."""
        properties = [
            f"aliases:\n  - {yaml(title)}",
            "tags: []" if bundle.tag is None else f"tags:\n  - {yaml(self._tag(bundle.tag))}",
            f"bucket: {yaml(bundle.bucket)}",
            f"{bundle.what}: {title if bundle.what == 'day' else yaml(title)}",
            f"page: {number}",
        ]
        return "---\n{}\n---\n\n# {}".format("\n".join(properties), inline(title))

    def tags(self, tags: Sequence[str]) -> str:
        """Tags as Obsidian reads them."""
        return " ".join("#" + self._tag(tag) for tag in tags)

    def link(self, target: Target) -> str:
        """`[[page#^block|name]]`: names of pages are unique, so no folder is needed."""
        page = target.path.rpartition("/")[2].removesuffix(".md")
        return f"[[{page}#^{block(target.atom)}|{alias(target.label)}]]"

    def anchor(self, atom: bytes) -> str:
        """The block id."""
        return f"^{block(atom)}"

    def _tag(self, tag: str) -> str:
        """`tag` itself, or another name where Obsidian would not take it for one tag."""
        digits = tag.replace("/", "").isdigit()
        if _nestable().fullmatch(tag) and not (digits or _YEAR.fullmatch(tag) or _HASHED_TAG.fullmatch(tag)):
            return tag
        identity = tag_identity(tag)
        if tag.isascii() and tag.isdigit():
            name = f"y{tag}"
        else:
            name = f"{safe(tag)}_{self.names.digest('tag', identity)}"
        self.renamed[name] = identity
        return name


def style_of(name: StyleName, names: Names) -> Style:
    """A style by its name."""
    return Obsidian(names) if name is StyleName.OBSIDIAN else Style(names)


def block(atom: bytes) -> str:
    """An atom's block id: letters, digits and a hyphen."""
    return "a-" + b32encode(atom).decode().rstrip("=").lower()


@cache
def _nestable() -> re.Pattern[str]:
    part = f"[-_0-9A-Za-z{word_class()}]+"
    return re.compile(f"{part}(?:/{part})*")


def entry(style: Style, record: AtomRecord, content: str, edges: Sequence[str], *, in_source: bool) -> str:
    """An atom that stands whole: `## [ID] Snippet`, what is recorded of it, its edges, its content.

    Args:
        style: How pages are written.
        record: What is recorded of the atom.
        content: What it says.
        edges: A line for each edge.
        in_source: Whether the page as a whole says which source the atom is from.
    """
    lines = [_heading(record.id, snippet(record.title, content)), ""]
    if record.title is not None:
        lines.append(f"- title: {inline(record.title)}")
    if record.tags:
        lines.append(f"- tags: {style.tags(record.tags)}")
    if len(record.buckets) > 1:
        lines.append(f"- buckets: {', '.join(record.buckets)}")
    if record.source is not None and not in_source:
        lines.append(f"- source: {inline(record.source)}")
    if record.key is not None:
        lines.append(f"- key: {inline(record.key)}")
    lines.append(f"- facts: {_facts(record)}")
    lines.extend(edges)
    if anchor := style.anchor(record.id):
        lines.extend(["", anchor])
    return "\n".join([*lines, "", body(content)])


def reference(style: Style, target: Target) -> str:
    """The heading of an atom that stands whole elsewhere, with a link there."""
    return f"{_heading(target.atom, target.label)}\n\n- see: {style.link(target)}"


def edge_line(style: Style, type_name: str, target: Target, weight: bytes) -> str:
    """An edge from an atom to a live one."""
    # Bare only where Markdown sees nothing in it: `1.` would begin a list.
    name = type_name if _WORD.fullmatch(type_name) else f"`{type_name}`"
    number = struct.unpack(">f", weight)[0]
    after = "" if number == 1.0 else f" ({number:.9g})"
    return f"- {name} {style.link(target)}{after}"


def _heading(atom: bytes, label: str) -> str:
    return f"## [{show_id(atom)}] {inline(label)}"


def _facts(record: AtomRecord) -> str:
    facts = [
        f"kind {record.kind}",
        f"provenance {record.provenance}",
        f"created {day_of(record.created)}",
        f"version {record.version}",
    ]
    if record.sequence is not None:
        facts.append(f"sequence {record.sequence}")
    if record.trust is not None:
        facts.append(f"trust {record.trust}")
    return ", ".join(facts)
