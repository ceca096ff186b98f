"""An atom as it stands in a page: `## [ID] Snippet`, what is recorded of it, its edges, its content."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import NamedTuple

from engine.base.validation import show_id
from engine.followers.tags import day_of
from engine.ledger.records import AtomRecord
from engine.transfer.mirror.style import Style, Target
from engine.transfer.mirror.text import body, inline, snippet

_WORD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


class EdgeLine(NamedTuple):
    """An edge from an atom to a live one."""

    type: str
    target: Target
    weight: bytes


class Content(NamedTuple):
    """An atom with all that its entry shows."""

    record: AtomRecord
    content: str
    in_source: bool
    """Whether the page as a whole says which source the atom is from."""
    edges: Sequence[EdgeLine]
    more_edges: bool


def entry(style: Style, atom: Content) -> str:
    """An atom that stands whole."""
    record = atom.record
    lines = [_heading(record.id, snippet(record.title, atom.content)), ""]
    if record.title is not None:
        lines.append(f"- title: {inline(record.title)}")
    if record.tags:
        lines.append(f"- tags: {style.tags(record.tags)}")
    if len(record.buckets) > 1:
        lines.append(f"- buckets: {', '.join(record.buckets)}")
    if record.source is not None and not atom.in_source:
        lines.append(f"- source: {inline(record.source)}")
    if record.key is not None:
        lines.append(f"- key: {inline(record.key)}")
    lines.append(f"- facts: {', '.join(_facts(record))}")
    lines.extend(_edge(style, edge) for edge in atom.edges)
    if atom.more_edges:
        lines.append(f"- more: `engine edges {show_id(record.id)}` lists all edges")
    if anchor := style.anchor(record.id):
        lines.extend(["", anchor])
    return "\n".join([*lines, "", body(atom.content)])


def reference(style: Style, target: Target) -> str:
    """The heading of an atom that stands whole elsewhere, with a link there."""
    return f"{_heading(target.atom, target.label)}\n\n- see: {style.link(target)}"


def _heading(atom: bytes, label: str) -> str:
    return f"## [{show_id(atom)}] {inline(label)}"


def _facts(record: AtomRecord) -> list[str]:
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
    return facts


def _edge(style: Style, edge: EdgeLine) -> str:
    # Bare only where Markdown sees nothing in it: `1.` would begin a list.
    name = edge.type if _WORD.fullmatch(edge.type) else f"`{edge.type}`"
    weight = struct.unpack(">f", edge.weight)[0]
    after = "" if weight == 1.0 else f" ({weight:.9g})"
    return f"- {name} {style.link(edge.target)}{after}"
