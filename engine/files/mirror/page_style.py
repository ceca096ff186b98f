"""Format atoms and the heads of pages in one of two styles.

`plain` is Markdown for any editor, with folders `#tag` and relative links. `obsidian` can be opened as a
vault: names contain no characters that would end a link, pages begin with properties, links are `[[links]]`
to blocks, and tags have a form that Obsidian accepts.
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
from engine.files.mirror.mirror_text import MirrorNames, alias, inline, safe, snippet, word_class, yaml
from engine.followers.tags import day_of
from engine.ledger.records import AtomRecord
from proofs.leaves import tag_identity

_WORD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_YEAR = re.compile(r"y[0-9]+")
_HASHED_TAG = re.compile(r".*_[0-9a-f]{12}", re.DOTALL)


class StyleName(StrEnum):
    """The name of a page style."""

    PLAIN = "plain"
    OBSIDIAN = "obsidian"


class Bundle(NamedTuple):
    """The properties that the atoms of a bundle have in common."""

    bucket: str
    tag: str | None
    what: str
    """The property that the atoms of the bundle have in common: `source`, `day` or `entity`."""
    title: str
    atom: str
    """The id of the entity if this is the bundle of an entity, otherwise empty."""


class Target(NamedTuple):
    """The target of a link: the page on which an atom appears in full."""

    path: str
    atom: bytes
    label: str


class Style:
    """The plain style. Its methods are the interface of all styles."""

    name = StyleName.PLAIN
    tag_prefix = "#"

    def __init__(self, names: MirrorNames) -> None:
        self.names = names
        self.renamed: dict[str, str] = {}
        """The tags that have a different name in the mirror: name in the mirror → tag."""

    def tag_folder(self, tag: str) -> str:
        """Return the folder name of the case-folded tag `tag`."""
        name = self.names.tag(tag)
        if name != tag:
            self.renamed[name] = tag
        return self.tag_prefix + name

    def head(self, bundle: Bundle, title: str, number: int) -> str:
        """Return the beginning of page `number` of a bundle, without a line end."""
        lines = [f"# {inline(title)}", "", f"- bucket: {bundle.bucket}"]
        if bundle.tag is not None:
            lines.append(f"- tag: {inline(bundle.tag)}")
        lines.append(f"- {bundle.what}: {inline(title)}")
        lines.append(f"- page: {number}")
        return "\n".join(lines)

    def tags(self, tags: Sequence[str]) -> str:
        """Return the tags of an atom on one line."""
        return ", ".join(inline(tag, ",") for tag in tags)

    def link(self, target: Target) -> str:
        """Return a link to an atom."""
        path = quote(f"../../{target.path}", safe="/@-_.")
        return f'[{inline(target.label)}]({path} "{show_id(target.atom)}")'

    def anchor(self, atom: bytes) -> str:
        """Return the line that makes an atom's entry a link target, or "" if the style needs no such line."""
        return ""


class Obsidian(Style):
    """The style for Obsidian."""

    name = StyleName.OBSIDIAN
    tag_prefix = "tag-"

    def head(self, bundle: Bundle, title: str, number: int) -> str:
        """Return the properties and the heading of a page."""
        properties = [
            f"aliases:\n  - {yaml(title)}",
            "tags: []" if bundle.tag is None else f"tags:\n  - {yaml(self._tag(bundle.tag))}",
            f"bucket: {yaml(bundle.bucket)}",
            f"{bundle.what}: {title if bundle.what == 'day' else yaml(title)}",
            f"page: {number}",
        ]
        return "---\n{}\n---\n\n# {}".format("\n".join(properties), inline(title))

    def tags(self, tags: Sequence[str]) -> str:
        """Return the tags in Obsidian's syntax."""
        return " ".join("#" + self._tag(tag) for tag in tags)

    def link(self, target: Target) -> str:
        """Return `[[page#^block|name]]`; names of pages are unique, so the folder is not needed."""
        page = target.path.rpartition("/")[2].removesuffix(".md")
        return f"[[{page}#^{block(target.atom)}|{alias(target.label)}]]"

    def anchor(self, atom: bytes) -> str:
        """Return the block id of an atom."""
        return f"^{block(atom)}"

    def _tag(self, tag: str) -> str:
        """Return `tag`, or a replacement if Obsidian would not accept `tag` as a single tag."""
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


def style_of(name: StyleName, names: MirrorNames) -> Style:
    """Return the style with this name."""
    return Obsidian(names) if name is StyleName.OBSIDIAN else Style(names)


def block(atom: bytes) -> str:
    """Return the block id of an atom. A block id consists of letters, digits and a hyphen."""
    return "a-" + b32encode(atom).decode().rstrip("=").lower()


@cache
def _nestable() -> re.Pattern[str]:
    part = f"[-_0-9A-Za-z{word_class()}]+"
    return re.compile(f"{part}(?:/{part})*")


def frame(style: Style, record: AtomRecord, content: str, edges: Sequence[str], *, in_source: bool) -> str:
    """Return the entry of an atom up to its content: `## [ID] Snippet`, its properties and its edges.

    Args:
        style: The page style.
        record: The record of the atom.
        content: The content of the atom.
        edges: A line for each edge.
        in_source: True if the head of the page already names the source of the atom.
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
    return "\n".join([*lines, "", ""])


def reference(style: Style, target: Target) -> str:
    """Return the heading of an atom that appears in full on another page, with a link to that page."""
    return f"{_heading(target.atom, target.label)}\n\n- see: {style.link(target)}"


def edge_line(style: Style, type_name: str, target: Target, weight: bytes) -> str:
    """Return the line for an edge to a live atom."""
    # A name that is not a plain word is quoted: `1.`, for example, would begin a list.
    name = type_name if _WORD.fullmatch(type_name) else f"`{type_name}`"
    number = struct.unpack(">f", weight)[0]
    suffix = "" if number == 1.0 else f" ({number:.9g})"
    return f"- {name} {style.link(target)}{suffix}"


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
