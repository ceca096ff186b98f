"""The command that reverts events on one atom or edge.

An atom or edge has several properties: its presence (live, hidden or absent), each of its fields, and each of
its tags. After the revert, each property has the value that it would have had without the chosen events. If a
later event changed a property again, the property keeps its value and is reported. A timeline lists the
events that changed one property, each with the value that the event set. Leave out the chosen events: the
last remaining entry has the value of the property after the revert.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.commands.atoms import Revise, Revive, Tag, Tombstone, Untag
from engine.commands.edges import Link, Unlink
from engine.commands.transaction import Transaction, receipt
from engine.ledger.records import type_name
from engine.ledger.subject_history import subject_history
from proofs.events import AtomBody, AtomDetail, EdgeBody, EdgeDetail, Entry, EventKind, ReasonBody, TagsBody
from proofs.leaves import State, tag_identity

PRESENCE: Final = ("presence",)
"""The name of the property that states whether a subject is live, hidden or absent."""

FIELDS: Final = (
    *("content", "title", "kind", "buckets", "source", "sequence", "provenance", "trust"),
    *("meta", "aliases", "folder"),
)
"""The fields that a revision may change, apart from tags. A revision cannot change the time of creation."""

Property = tuple[str, ...]
"""The name of a property: PRESENCE, ("field", name) or ("tag", identity)."""


class Change(NamedTuple):
    """An entry of a timeline: the seq of an event and the value that this event gave to a property."""

    seq: int
    value: Any
    """The new value of the property. For PRESENCE it is `Live`, `Hidden` or `Absent`. For a tag it is the
    spelling of the tag, or None if the event removed the tag."""


class Live(NamedTuple):
    """The value of PRESENCE for a live subject. For an edge it includes the weight and the data."""

    weight: bytes = b""
    data: bytes = b""


class Hidden(NamedTuple):
    """The value of PRESENCE for a tombstoned subject."""

    reason: str


class Absent(NamedTuple):
    """The value of every property before the first event that set the property."""


Timelines = dict[Property, list[Change]]


def timelines_of(history: Iterable[Entry]) -> Timelines:
    """Return the timelines of one atom or edge, from all its events, the oldest first."""
    timelines: Timelines = defaultdict(list)
    for entry in history:
        for name, value in _changes(entry, timelines):
            line = timelines[name]
            if not line or repr(line[-1].value) != repr(value):  # as text, because in Python True equals 1
                line.append(Change(entry.header.seq, value))
    return dict(timelines)


def _changes(entry: Entry, before: Timelines) -> list[tuple[Property, Any]]:
    """Return the properties that an event sets, with their new values."""
    kind, body = entry.header.kind, entry.body
    reason = body.reason if isinstance(body, ReasonBody) else ""
    if kind in {EventKind.ATOM_TOMBSTONED, EventKind.EDGE_REMOVED}:
        return [(PRESENCE, Hidden(reason))]
    if kind is EventKind.ATOM_REVIVED:
        return [(PRESENCE, Live())]
    if isinstance(body, EdgeBody):
        return [(PRESENCE, Live(body.weight, body.data))]
    if isinstance(body, AtomBody):
        fields: list[tuple[Property, Any]] = [(("field", name), getattr(body, name)) for name in FIELDS]
        added: list[tuple[Property, Any]] = [(PRESENCE, Live())] if kind is EventKind.ATOM_ADDED else []
        return [*added, *fields, *_tag_changes(body.tags, before)]
    if isinstance(body, TagsBody):
        there = kind is EventKind.TAGS_ADDED
        return [(("tag", tag_identity(tag)), tag if there else None) for tag in body.tags]
    return []


def _tag_changes(tags: Iterable[str], before: Timelines) -> list[tuple[Property, Any]]:
    """Return the changes of tags that an event with a whole body makes.

    The event sets the tags in the body and removes all other tags.
    """
    now = {tag_identity(tag): tag for tag in tags}
    had = [name for name, line in before.items() if name[0] == "tag" and line[-1].value is not None]
    return [
        *((("tag", identity), tag) for identity, tag in now.items()),
        *((name, None) for name in had if name[1] not in now),
    ]


def without(line: list[Change], seqs: Collection[int]) -> Any:
    """Return the value set by the last event that is not in `seqs`, or `Absent` if there is no such event."""
    left = [change for change in line if change.seq not in seqs]
    return left[-1].value if left else Absent()


def before_first(line: list[Change], seqs: Collection[int]) -> Any:
    """Return the value that a property had before the first event in `seqs` that changed the property."""
    earlier: Any = Absent()
    for change in line:
        if change.seq in seqs:
            break
        earlier = change.value
    return earlier


@dataclass(slots=True)
class Undo:
    """A command that reverts events on one subject. `left` lists the properties that are not reverted."""

    detail: AtomDetail | EdgeDetail
    seqs: frozenset[int]
    left: list[str] = field(default_factory=list, init=False)

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that revert the chosen events.

        Append nothing if no property has to change, or if later events changed all the properties again.
        """
        self.left = []
        record = tx.atom(self.detail.id) if isinstance(self.detail, AtomDetail) else tx.edge(*self.detail)
        first = len(tx.events)
        if record is None or record.state is State.ERASED:
            self.left.append("erased content cannot be restored")
        else:
            wanted = self._wanted(timelines_of(subject_history(tx.rows, record.last_seq)))
            if isinstance(self.detail, AtomDetail):
                self._revert_atom(tx, self.detail, wanted, live=record.state is State.LIVE)
            elif PRESENCE in wanted:
                self._revert_edge(tx, self.detail, wanted[PRESENCE])
        return receipt("", State.LIVE, *tx.events[first:])

    def _wanted(self, lines: Timelines) -> dict[Property, Any]:
        """Return the properties to change, with the new value of each."""
        wanted = {}
        for name, line in lines.items():
            if self.seqs.isdisjoint(change.seq for change in line):
                continue
            if line[-1].seq in self.seqs:
                wanted[name] = without(line, self.seqs)
            elif line[-1].value != before_first(line, self.seqs):
                self.left.append(_changed_since(name, line[-1]))
        return wanted

    def _revert_atom(
        self, tx: Transaction, detail: AtomDetail, wanted: dict[Property, Any], *, live: bool
    ) -> None:
        name, presence = show_id(detail.id), wanted.pop(PRESENCE, None)
        if isinstance(presence, Absent):
            # The chosen events added the atom. So hiding the atom also reverts all its fields.
            Tombstone(name, self._reason()).decide(tx)
            return
        if isinstance(presence, Live):
            live = bool(Revive(name, self._reason()).decide(tx)) or live
        if wanted and not live:
            self.left.append("the fields and tags: the atom is hidden")
        elif wanted:
            _set_fields_and_tags(tx, name, wanted)
        if isinstance(presence, Hidden):
            Tombstone(name, presence.reason).decide(tx)

    def _revert_edge(self, tx: Transaction, detail: EdgeDetail, presence: Any) -> None:
        src, code, dst = detail
        ends = show_id(src), type_name(tx.rows, code), show_id(dst)
        Unlink(*ends, presence.reason if isinstance(presence, Hidden) else self._reason()).decide(tx)
        if isinstance(presence, Live):
            Link(*ends, struct.unpack(">f", presence.weight)[0], presence.data).decide(tx)

    def _reason(self) -> str:
        seqs = sorted(self.seqs)
        return f"taken back: event {seqs[0]}" + (f" to {seqs[-1]}" if len(seqs) > 1 else "")


def _set_fields_and_tags(tx: Transaction, name: str, wanted: dict[Property, Any]) -> None:
    """Set the fields and tags of a live atom to the given values."""
    fields = {key[1]: value for key, value in wanted.items() if key[0] == "field"}
    if fields:
        Revise(name, **fields).decide(tx)
    tags = {key[1]: value for key, value in wanted.items() if key[0] == "tag"}
    removed = [identity for identity, value in tags.items() if not isinstance(value, str)]
    if removed:
        Untag(name, removed).decide(tx)
    restored = [value for value in tags.values() if isinstance(value, str)]
    if restored:
        Tag(name, restored).decide(tx)


def _changed_since(name: Property, last: Change) -> str:
    labels = {"presence": "state", "tag": f"tag {name[-1]}"}
    return f"{labels.get(name[0], name[-1])}: changed again by event {last.seq}"
