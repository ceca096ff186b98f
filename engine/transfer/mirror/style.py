"""What the two styles of a mirror do differently: folders, heads of pages, tags and links.

`plain` is Markdown that any editor shows: folders `#tag`, relative links. `obsidian` can be opened as a
vault: names without signs that end a link, properties first, `[[links]]` to blocks, tags that it takes.
"""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import NamedTuple
from urllib.parse import quote

from engine.base.validation import show_id
from engine.transfer.mirror.names import Names, safe, word_class
from engine.transfer.mirror.text import alias, inline, yaml
from proofs.sets import tag_identity

_YEAR = re.compile(r"y[0-9]+")
_HASHED_TAG = re.compile(r".*_[0-9a-f]{12}", re.DOTALL)


class StyleName(StrEnum):
    """How pages are written."""

    PLAIN = "plain"
    OBSIDIAN = "obsidian"


class Head(NamedTuple):
    """What a page is about."""

    bucket: str
    tag: str | None
    what: str
    """`source`, `day` or `entity`."""
    title: str
    number: int


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

    def head(self, head: Head) -> str:
        """The beginning of a page, without a line end."""
        lines = [f"# {inline(head.title)}", "", f"- bucket: {head.bucket}"]
        if head.tag is not None:
            lines.append(f"- tag: {inline(head.tag)}")
        lines.append(f"- {head.what}: {inline(head.title)}")
        lines.append(f"- page: {head.number}")
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
        del atom
        return ""


class Obsidian(Style):
    """The style for Obsidian."""

    name = StyleName.OBSIDIAN
    tag_prefix = "tag-"

    def head(self, head: Head) -> str:
        """Properties, then a heading."""
        tags = "tags: []" if head.tag is None else f"tags:\n  - {yaml(self._tag(head.tag))}"
        title = head.title if head.what == "day" else yaml(head.title)
        properties = [
            f"aliases:\n  - {yaml(head.title)}",
            tags,
            f"bucket: {yaml(head.bucket)}",
            f"{head.what}: {title}",
            f"page: {head.number}",
        ]
        return "---\n{}\n---\n\n# {}".format("\n".join(properties), inline(head.title))

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
