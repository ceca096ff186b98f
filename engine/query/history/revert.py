"""Taking events back: by events that do the contrary, so that nothing is ever lost.

Afterwards everything is as if the chosen events had not happened, but for what others changed again since:
that is left as it is and reported, thing by thing: whether the subject is there, each field, each tag. A
timeline lists the events that changed one thing and what each made of it; without some of them, the last
that is left says what the thing would be, had they not happened.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from engine.base.errors import NotFoundError
from engine.base.model import Receipt
from engine.base.validation import integer, label, optional_integer, show_id
from engine.commands.atoms import Revise, Revive, Tag, Tombstone, Untag
from engine.commands.base import Transaction, receipt
from engine.commands.edges import Link, Unlink
from engine.ledger.journal import read_header, read_log
from engine.ledger.records import Lookup, type_name
from engine.store.dry_run import dry_run_store
from engine.store.past import subject_history, subject_name
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

HERE: Final = ("here",)
"""Whether the subject is live."""

FIELDS: Final = (
    *("content", "title", "kind", "buckets", "source", "sequence", "provenance", "trust"),
    *("meta", "aliases", "folder"),
)
"""What a revision may change beside tags. When a text was written is not among them."""

Thing = tuple[str, ...]
"""HERE, ("field", name) or ("tag", identity)."""

SUBJECTS_AT_ONCE: Final = 200
"""So many subjects are taken back in one batch, all or none."""


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


_NEVER: Final = {
    EventKind.GENESIS: "the store begins with it",
    EventKind.EDGE_TYPE_REGISTERED: "a predicate stays; it does nothing by itself",
    EventKind.CHECKPOINT: "a checkpoint stays; it says what was so",
}


class Outcome(StrEnum):
    """What became of the events on one subject."""

    UNDONE = "undone"
    SAME = "already undone"
    LEFT = "left"
    """All that they did was changed since, or nothing can undo it."""


@dataclass(frozen=True, slots=True)
class Undone:
    """The events on one subject that were to be taken back."""

    subject: str
    seqs: tuple[int, ...]
    """The chosen events, ascending."""
    outcome: Outcome
    left: tuple[str, ...]
    """What was left, and because of what."""
    events: tuple[int, ...]
    """The seqs of the events that undo them."""


@dataclass(slots=True)
class Undo:
    """A command: have one subject as if these events on it had not happened. `left` says what stays."""

    detail: AtomDetail | EdgeDetail
    seqs: frozenset[int]
    left: list[str] = field(default_factory=list, init=False)

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is so, or others changed it since."""
        self.left = []
        record = tx.atom(self.detail.id) if isinstance(self.detail, AtomDetail) else tx.edge(*self.detail)
        first = len(tx.entries)
        if record is None or record.state is State.ERASED:
            self.left.append("what is erased stays erased")
        else:
            wanted = self._wanted(timelines_of(subject_history(tx.rows, record.last_seq)))
            if isinstance(self.detail, AtomDetail):
                self._atom(tx, self.detail, wanted, live=record.state is State.LIVE)
            elif HERE in wanted:
                self._edge(tx, self.detail, wanted[HERE])
        return receipt("", State.LIVE, *tx.entries[first:])

    def _wanted(self, lines: Timelines) -> dict[Thing, Any]:
        """The things that must change, and what each must become."""
        wanted = {}
        for thing, line in lines.items():
            if self.seqs.isdisjoint(said.seq for said in line):
                continue
            if line[-1].seq in self.seqs:
                wanted[thing] = without(line, self.seqs)
            elif line[-1].value != before_first(line, self.seqs):
                self.left.append(_since(thing, line[-1]))
        return wanted

    def _atom(self, tx: Transaction, detail: AtomDetail, wanted: dict[Thing, Any], *, live: bool) -> None:
        name, here = show_id(detail.id), wanted.pop(HERE, None)
        if isinstance(here, Never):
            # It was not there at all: what it said then is nobody's to change.
            Tombstone(name, self._reason()).decide(tx)
            return
        if isinstance(here, Shown):
            live = bool(Revive(name, self._reason()).decide(tx)) or live
        if wanted and not live:
            self.left.append("what a hidden atom says")
        elif wanted:
            _say(tx, name, wanted)
        if isinstance(here, Hidden):
            Tombstone(name, here.reason).decide(tx)

    def _edge(self, tx: Transaction, detail: EdgeDetail, here: Any) -> None:
        src, code, dst = detail
        ends = show_id(src), type_name(tx.rows, code), show_id(dst)
        Unlink(*ends, here.reason if isinstance(here, Hidden) else self._reason()).decide(tx)
        if isinstance(here, Shown):
            Link(*ends, struct.unpack(">f", here.weight)[0], here.data).decide(tx)

    def _reason(self) -> str:
        seqs = sorted(self.seqs)
        return f"taken back: event {seqs[0]}" + (f" to {seqs[-1]}" if len(seqs) > 1 else "")


def _say(tx: Transaction, name: str, wanted: dict[Thing, Any]) -> None:
    """Have a live atom's fields and tags so."""
    fields = {thing[1]: value for thing, value in wanted.items() if thing[0] == "field"}
    if fields:
        Revise(name, **fields).decide(tx)
    tags = {thing[1]: value for thing, value in wanted.items() if thing[0] == "tag"}
    gone = [identity for identity, value in tags.items() if not isinstance(value, str)]
    if gone:
        Untag(name, gone).decide(tx)
    back = [value for value in tags.values() if isinstance(value, str)]
    if back:
        Tag(name, back).decide(tx)


def _since(thing: Thing, last: Said) -> str:
    what = {"here": "whether it is there", "tag": f"tag {thing[-1]}"}.get(thing[0], thing[-1])
    return f"{what}: changed again by event {last.seq}"


class _Chosen(NamedTuple):
    """A subject, or an event without one, and the chosen events on it."""

    detail: Detail
    seqs: tuple[int, ...]
    why: str
    """Why nothing undoes them, if nothing does."""


def revert(
    store: Store, start: int, stop: int | None, *, by: str, actor: str | None = None, dry_run: bool = False
) -> list[Undone]:
    """Take back events, subject by subject, the one that was touched last first.

    Arguments as of `Engine.revert`; `by` is the actor of the events that undo. With `dry_run` the seqs are
    those that would come next.

    Raises:
        NotFoundError: the journal does not reach so far.
    """
    size, end = read_log(store.backend).size, optional_integer(stop, "stop")
    if integer(start, "start") > size or (end is not None and end > size):
        raise NotFoundError(f"the journal has the events 0 to {size - 1}")
    whose = None if actor is None else label(actor, "actor")
    with store.view() as rows:
        chosen = _chosen(rows, start, size if end is None else end, whose)
    done: list[Undone] = []
    with dry_run_store(store, when=dry_run) as target:
        for first in range(0, len(chosen), SUBJECTS_AT_ONCE):
            part = chosen[first : first + SUBJECTS_AT_ONCE]
            undos = [_undo(one) for one in part]
            receipts = iter(target.commit([undo for undo in undos if undo is not None], by))
            for one, undo in zip(part, undos, strict=True):
                done.append(_done(store, one, undo, None if undo is None else next(receipts)))
    return done


def _chosen(rows: Lookup, start: int, stop: int, actor: str | None) -> list[_Chosen]:
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
        # Popped and put again: the subject that was touched last comes last.
        found[key] = detail, [*seqs, seq], _NEVER.get(header.kind, "")
    return [_Chosen(detail, tuple(seqs), why) for detail, seqs, why in reversed(found.values())]


def _undo(one: _Chosen) -> Undo | None:
    return Undo(one.detail, frozenset(one.seqs)) if isinstance(one.detail, AtomDetail | EdgeDetail) else None


def _done(store: Store, one: _Chosen, undo: Undo | None, done: Receipt | None) -> Undone:
    with store.view() as rows:
        subject = subject_name(rows, read_header(rows, one.seqs[-1])[0])
    if undo is None or done is None:
        return Undone(subject, one.seqs, Outcome.LEFT, (one.why,), ())
    outcome = Outcome.UNDONE if done.events else Outcome.LEFT if undo.left else Outcome.SAME
    return Undone(subject, one.seqs, outcome, tuple(undo.left), tuple(event.seq for event in done.events))
