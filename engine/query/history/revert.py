"""Revert events by appending inverse events. No event is removed from the history.

The subject of an event is an atom or an edge. A subject has several properties: its presence (live, hidden or
absent), each of its fields, and each of its tags. After the revert, each property has the value that it would
have had without the chosen events. If a later event changed a property again, the property keeps its value
and is reported. A timeline lists the events that changed one property, each with the value that the event
set. Leave out the chosen events: the last remaining entry has the value of the property after the revert.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.model import Receipt
from engine.base.validation import integer, label, optional_integer, show_id
from engine.commands.atoms import Revise, Revive, Tag, Tombstone, Untag
from engine.commands.edges import Link, Unlink
from engine.commands.transaction import Transaction, receipt
from engine.followers.requests import Once
from engine.ledger.journal import read_header, read_log
from engine.ledger.records import Lookup, type_name
from engine.ledger.subject_history import subject_history
from engine.store.dry_run import dry_run_store
from engine.store.past import subject_name
from engine.store.store import Store
from proofs.events import (
    AtomBody,
    AtomDetail,
    Detail,
    EdgeBody,
    EdgeDetail,
    Entry,
    EventKind,
    ReasonBody,
    TagsBody,
)
from proofs.leaves import State
from proofs.sets import tag_identity

PRESENCE: Final = ("presence",)
"""The name of the property that states whether a subject is live, hidden or absent."""

FIELDS: Final = (
    *("content", "title", "kind", "buckets", "source", "sequence", "provenance", "trust"),
    *("meta", "aliases", "folder"),
)
"""The fields that a revision may change, apart from tags. A revision cannot change the time of creation."""

Property = tuple[str, ...]
"""The name of a property: PRESENCE, ("field", name) or ("tag", identity)."""

SUBJECTS_AT_ONCE: Final = 200
"""The largest number of subjects that are reverted in one batch. A batch is committed completely or not at
all."""


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
    found: Timelines = defaultdict(list)
    for entry in history:
        for name, value in _changes(entry, found):
            line = found[name]
            if not line or repr(line[-1].value) != repr(value):  # as text, because in Python True equals 1
                line.append(Change(entry.header.seq, value))
    return dict(found)


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


_IRREVERSIBLE: Final = {
    EventKind.GENESIS: "the first event of a store cannot be reverted",
    EventKind.EDGE_TYPE_REGISTERED: "a predicate remains registered; without edges it has no effect",
    EventKind.CHECKPOINT: "a checkpoint is never removed; it records a past state",
}


class Outcome(StrEnum):
    """The result of reverting the events on one subject."""

    UNDONE = "undone"
    SAME = "already undone"
    LEFT = "left"
    """Nothing was reverted. Either later events changed all the properties again, or the events cannot be
    reverted."""


@dataclass(frozen=True, slots=True)
class Undone:
    """The result for the chosen events on one subject."""

    subject: str
    seqs: tuple[int, ...]
    """The seqs of the chosen events, in ascending order."""
    outcome: Outcome
    left: tuple[str, ...]
    """The properties that were not reverted, each with the reason."""
    events: tuple[int, ...]
    """The seqs of the inverse events."""


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


class Selection(NamedTuple):
    """A subject with the chosen events on it, or a single chosen event that has no subject."""

    detail: Detail
    seqs: tuple[int, ...]
    obstacle: str
    """The reason why the events cannot be reverted; empty if they can be reverted."""


def revert(
    store: Store,
    start: int,
    stop: int | None,
    *,
    by: str,
    actor: str | None = None,
    dry_run: bool = False,
    once: Once | None = None,
) -> list[Undone]:
    """Revert events, one subject at a time. The subject with the latest event is the first.

    The arguments are those of `Engine.revert`; `by` is the actor of the inverse events. With `dry_run`,
    nothing is appended, and the result has the seqs that the inverse events would get. With the key `once`,
    the batches that were appended the first time are only answered.

    Raises:
        NotFoundError: the range is beyond the end of the journal.
        InvalidInputError: `start` is above `stop`.
        ConflictError: the key was used for another call.
    """
    if once is None or dry_run:
        return _revert(store, start, stop, by, actor, None, dry_run=dry_run)
    # Without a given end, the range ends at the first inverse event. So no other event may come between.
    with nullcontext() if stop is not None else store.exclusive():
        earlier = store.recorded(by, once)
        if earlier and stop is None:
            stop = earlier[0].header.seq
        return _revert(store, start, stop, by, actor, once, dry_run=False)


def _revert(
    store: Store,
    start: int,
    stop: int | None,
    by: str,
    actor: str | None,
    once: Once | None,
    *,
    dry_run: bool,
) -> list[Undone]:
    chosen = select(store, start, stop, actor)
    with dry_run_store(store, when=dry_run) as target:
        return take_back(store, target, chosen, by, once)


def select(store: Store, start: int, stop: int | None, actor: str | None) -> list[Selection]:
    """Return the subjects of the events `start` to `stop` − 1 that `actor` wrote, the latest event first.

    Raises:
        NotFoundError: the range is beyond the end of the journal.
        InvalidInputError: `start` is above `stop`.
    """
    size, end = read_log(store.backend).size, optional_integer(stop, "stop")
    if integer(start, "start") > size or (end is not None and end > size):
        raise NotFoundError(f"the range is beyond the journal, which has the events 0 to {size - 1}")
    if end is not None and start > end:
        raise InvalidInputError(f"start must not be above stop, but {start} is above {end}")
    whose = None if actor is None else label(actor, "actor")
    with store.view() as rows:
        return _choose(rows, start, size if end is None else end, whose)


def take_back(
    store: Store, target: Store, chosen: Sequence[Selection], by: str, once: Once | None = None
) -> list[Undone]:
    """Append the inverse events of `chosen` to `target`, which is `store` or a dry run of it."""
    done: list[Undone] = []
    for first in range(0, len(chosen), SUBJECTS_AT_ONCE):
        part = chosen[first : first + SUBJECTS_AT_ONCE]
        undos = [_undo(one) for one in part]
        request = None if once is None else once.of_part(first, len(part))
        commands = [undo for undo in undos if undo is not None]
        receipts = iter(target.commit(commands, by, request=request))
        for one, undo in zip(part, undos, strict=True):
            done.append(_result(store, one, undo, None if undo is None else next(receipts)))
    return done


def _choose(rows: Lookup, start: int, stop: int, actor: str | None) -> list[Selection]:
    """Return the subjects of the events `start` to `stop` − 1, the subject with the latest event first."""
    found: dict[object, tuple[Detail, list[int], str]] = {}
    for seq in range(start, stop):
        header = read_header(rows, seq)[0]
        if actor is not None and header.actor != actor:
            continue
        detail = header.detail
        key: object = detail.id if isinstance(detail, AtomDetail) else seq
        if isinstance(detail, EdgeDetail):
            key = tuple(detail)
        _, seqs, _ = found.pop(key, (detail, [], ""))
        # Removed and inserted again, so that the subject with the latest event comes last.
        found[key] = detail, [*seqs, seq], _IRREVERSIBLE.get(header.kind, "")
    return [Selection(detail, tuple(seqs), obstacle) for detail, seqs, obstacle in reversed(found.values())]


def _undo(one: Selection) -> Undo | None:
    return Undo(one.detail, frozenset(one.seqs)) if isinstance(one.detail, AtomDetail | EdgeDetail) else None


def _result(store: Store, one: Selection, undo: Undo | None, done: Receipt | None) -> Undone:
    with store.view() as rows:
        subject = subject_name(rows, read_header(rows, one.seqs[-1])[0])
    if undo is None or done is None:
        return Undone(subject, one.seqs, Outcome.LEFT, (one.obstacle,), ())
    outcome = Outcome.UNDONE if done.events else Outcome.LEFT if undo.left else Outcome.SAME
    return Undone(subject, one.seqs, outcome, tuple(undo.left), tuple(event.seq for event in done.events))
