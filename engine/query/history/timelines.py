"""What was said of a subject, one thing at a time: whether it is there, each field, each tag.

A timeline lists the events that changed one thing and what each made of it. Without some of its events,
the last that is left says what the thing would be, had they not happened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from proofs.events import AtomBody, EdgeBody, Entry, EventKind, ReasonBody, TagsBody
from proofs.sets import tag_identity

HERE: Final = ("here",)
"""Whether the subject is live."""

FIELDS: Final = (
    *("content", "title", "kind", "buckets", "source", "sequence", "provenance", "trust"),
    *("meta", "aliases", "folder"),
)
"""What a revision may change beside tags. When a text was written is not among them."""

Thing = tuple[str, ...]
"""HERE, ("field", name) or ("tag", identity)."""


class Said(NamedTuple):
    """An event, and what it made of one thing."""

    seq: int
    value: Any
    """Of HERE: what it takes to have it so again (`Shown`, `Hidden`); of a tag: its spelling or None."""


class Shown(NamedTuple):
    """It is live; of an edge, with this weight and data."""

    weight: bytes = b""
    data: bytes = b""


class Hidden(NamedTuple):
    """It is tombstoned."""

    reason: str


class Never(NamedTuple):
    """There was no such thing."""


Timelines = dict[Thing, list[Said]]


def timelines_of(history: Iterable[Entry]) -> Timelines:
    """The timelines of one atom or edge, from all its events, the oldest first."""
    found: Timelines = defaultdict(list)
    for entry in history:
        for thing, value in _said(entry, found):
            line = found[thing]
            if not line or repr(line[-1].value) != repr(value):  # in a meta, true is equal to 1
                line.append(Said(entry.header.seq, value))
    return dict(found)


def _said(entry: Entry, before: Timelines) -> list[tuple[Thing, Any]]:
    kind, body = entry.header.kind, entry.body
    reason = body.reason if isinstance(body, ReasonBody) else ""
    if kind in {EventKind.ATOM_TOMBSTONED, EventKind.EDGE_REMOVED}:
        return [(HERE, Hidden(reason))]
    if kind is EventKind.ATOM_REVIVED:
        return [(HERE, Shown())]
    if isinstance(body, EdgeBody):
        return [(HERE, Shown(body.weight, body.data))]
    if isinstance(body, AtomBody):
        fields: list[tuple[Thing, Any]] = [(("field", name), getattr(body, name)) for name in FIELDS]
        here: list[tuple[Thing, Any]] = [(HERE, Shown())] if kind is EventKind.ATOM_ADDED else []
        return [*here, *fields, *_tags(body.tags, before)]
    if isinstance(body, TagsBody):
        there = kind is EventKind.TAGS_ADDED
        return [(("tag", tag_identity(tag)), tag if there else None) for tag in body.tags]
    return []


def _tags(tags: Iterable[str], before: Timelines) -> list[tuple[Thing, Any]]:
    """Those of a whole body: the ones that it lacks are gone."""
    now = {tag_identity(tag): tag for tag in tags}
    gone = [thing for thing, line in before.items() if thing[0] == "tag" and line[-1].value is not None]
    return [
        *((("tag", identity), tag) for identity, tag in now.items()),
        *((thing, None) for thing in gone if thing[1] not in now),
    ]


def without(line: list[Said], seqs: Collection[int]) -> Any:
    """What the thing would be, had these events not happened; `Never` if nothing else made it anything."""
    left = [said for said in line if said.seq not in seqs]
    return left[-1].value if left else Never()


def before_first(line: list[Said], seqs: Collection[int]) -> Any:
    """What the thing was before the first of these events that changed it."""
    earlier: Any = Never()
    for said in line:
        if said.seq in seqs:
            break
        earlier = said.value
    return earlier
