"""Taking events back: by events that do the contrary, so that nothing is ever lost.

Each chosen event is undone, the newest first, as far as what it did still stands. What was changed again
later is left as it is and reported: taking back is not to take along what others did since.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from engine.border import integer, label, optional_integer, show_id
from engine.commands.atoms import Revise, Revive, Tag, Tombstone, Untag
from engine.commands.base import Transaction, receipt
from engine.commands.edges import Link, Unlink
from engine.door import translated
from engine.errors import NotFoundError
from engine.journal import Sources, read_entry, read_log
from engine.model import HistoryItem, Receipt
from engine.past import atom_record_at, subject_history
from engine.records import AtomRecord, type_name
from proofs.events import AtomBody, AtomDetail, EdgeDetail, Entry, EventKind, TagsBody
from proofs.leaves import State
from proofs.sets import tag_identity

if TYPE_CHECKING:
    from engine.engine import Engine

_SOURCES: Final = Sources(lambda: 0, lambda _: bytes(32))
"""Neither time nor salts show in a rehearsal."""

EVENTS_AT_ONCE: Final = 500
"""So many events are taken back in one batch, all or none."""


class Outcome(StrEnum):
    """What became of an event that was to be taken back."""

    UNDONE = "undone"
    SAME = "already undone"
    LEFT = "left"
    """What it did was changed since, or nothing can undo it."""


@dataclass(frozen=True, slots=True)
class Undone:
    """One event that was to be taken back."""

    seq: int
    kind: str
    subject: str
    outcome: Outcome
    why: str
    """Where it was left: because of what."""
    events: tuple[int, ...]
    """The seqs of the events that undo it."""


@dataclass(slots=True)
class Undo:
    """A command: undo one event as far as it stands. `outcome` and `why` say what became of it."""

    seq: int
    outcome: Outcome = field(default=Outcome.SAME, init=False)
    why: str = field(default="", init=False)

    def decide(self, tx: Transaction) -> Receipt:
        """No event where what it did is undone, or was changed since."""
        self.outcome, self.why = Outcome.SAME, ""
        entry = read_entry(tx.rows, self.seq)
        first = len(tx.entries)
        undo = _UNDO.get(entry.header.kind)
        if undo is None:
            self._leave(_NEVER.get(entry.header.kind, "nothing undoes this kind of event"))
        else:
            why = undo(tx, entry)
            if why:
                self._leave(why)
        if len(tx.entries) > first:
            self.outcome = Outcome.UNDONE
        return receipt("", State.LIVE, *tx.entries[first:])

    def _leave(self, why: str) -> None:
        self.outcome, self.why = Outcome.LEFT, why


def _atom(entry: Entry) -> AtomDetail:
    detail = entry.header.detail
    if not isinstance(detail, AtomDetail):
        raise TypeError(f"not an event on an atom: {entry.header.kind.name}")
    return detail


def _live(tx: Transaction, entry: Entry) -> AtomRecord | None:
    record = tx.atom(_atom(entry).id)
    return record if record is not None and record.state is State.LIVE else None


def _reason(entry: Entry) -> str:
    return f"event {entry.header.seq} was taken back"


def _added(tx: Transaction, entry: Entry) -> str:
    if _live(tx, entry) is not None:
        Tombstone(show_id(_atom(entry).id), _reason(entry)).decide(tx)
    return ""


def _revised(tx: Transaction, entry: Entry) -> str:
    record = _live(tx, entry)
    if record is None:
        return "the atom is not live"
    before = atom_record_at(tx.rows, record, entry.header.seq)
    said, says = tx.body(before)._replace(tags=before.tags), entry.body
    if not isinstance(says, AtomBody):
        return "what it said is destroyed"
    current = tx.body(record)
    mine = {name for name in _FIELDS if getattr(said, name) != getattr(says, name)}
    others = {
        name for name in mine if getattr(current, name) not in (getattr(said, name), getattr(says, name))
    }
    if others:
        return f"changed again since: {', '.join(sorted(others))}"
    name = show_id(record.id)
    Revise(name, **{one: getattr(said, one) for one in sorted(mine)}).decide(tx)
    _untag(tx, name, _without(says.tags, said.tags))
    _tag(tx, name, _without(said.tags, says.tags))
    return ""


_FIELDS: Final = ("content", "title", "kind", "buckets", "source", "sequence", "provenance", "trust")
"""What a revision may change beside tags; when a text was written is not taken back."""


def _without(tags: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(map(tag_identity, others))
    return [tag for tag in tags if tag_identity(tag) not in known]


def _tag(tx: Transaction, name: str, tags: Sequence[str]) -> None:
    if tags:
        Tag(name, tags).decide(tx)


def _untag(tx: Transaction, name: str, tags: Sequence[str]) -> None:
    if tags:
        Untag(name, tags).decide(tx)


def _tombstoned(tx: Transaction, entry: Entry) -> str:
    record = tx.atom(_atom(entry).id)
    if record is None or record.state is State.LIVE:
        return ""
    if record.state is State.ERASED:
        return "the atom is erased"
    hidden = [one for one in subject_history(tx.rows, record.last_seq) if _hides(one)]
    if hidden[-1].header.seq != entry.header.seq:
        return f"hidden again by event {hidden[-1].header.seq}"
    Revive(show_id(record.id), _reason(entry)).decide(tx)
    return ""


def _revived(tx: Transaction, entry: Entry) -> str:
    return _added(tx, entry)


def _hides(entry: Entry) -> bool:
    return entry.header.kind is EventKind.ATOM_TOMBSTONED


def _tags_added(tx: Transaction, entry: Entry) -> str:
    record = _live(tx, entry)
    if record is None:
        return "the atom is not live"
    _untag(tx, show_id(record.id), entry.body.tags if isinstance(entry.body, TagsBody) else ())
    return ""


def _tags_removed(tx: Transaction, entry: Entry) -> str:
    record = _live(tx, entry)
    if record is None:
        return "the atom is not live"
    _tag(tx, show_id(record.id), entry.body.tags if isinstance(entry.body, TagsBody) else ())
    return ""


def _edge_added(tx: Transaction, entry: Entry) -> str:
    record = tx.edge(*_edge(entry))
    if record is None or record.state is not State.LIVE:
        return ""
    if record.payload_seq != entry.header.seq:
        return f"added again by event {record.payload_seq}"
    Unlink(*_named(tx, entry), _reason(entry)).decide(tx)
    return ""


def _edge_removed(tx: Transaction, entry: Entry) -> str:
    record = tx.edge(*_edge(entry))
    if record is None or record.state is not State.TOMBSTONED:
        return ""
    if record.last_seq != entry.header.seq:
        return f"removed again by event {record.last_seq}"
    (weight,) = struct.unpack(">f", record.weight)
    Link(*_named(tx, entry), weight, record.data).decide(tx)
    return ""


def _edge(entry: Entry) -> EdgeDetail:
    detail = entry.header.detail
    if not isinstance(detail, EdgeDetail):
        raise TypeError(f"not an event on an edge: {entry.header.kind.name}")
    return detail


def _named(tx: Transaction, entry: Entry) -> tuple[str, str, str]:
    src, code, dst = _edge(entry)
    return show_id(src), type_name(tx.rows, code), show_id(dst)


_UNDO: Final[dict[EventKind, Callable[[Transaction, Entry], str]]] = {
    EventKind.ATOM_ADDED: _added,
    EventKind.ATOM_REVISED: _revised,
    EventKind.ATOM_TOMBSTONED: _tombstoned,
    EventKind.ATOM_REVIVED: _revived,
    EventKind.TAGS_ADDED: _tags_added,
    EventKind.TAGS_REMOVED: _tags_removed,
    EventKind.EDGE_ADDED: _edge_added,
    EventKind.EDGE_REMOVED: _edge_removed,
}
"""Each returns why it left what the event did, or nothing."""

_NEVER: Final = {
    EventKind.GENESIS: "the store begins with it",
    EventKind.EDGE_TYPE_REGISTERED: "a predicate stays; it does nothing by itself",
    EventKind.CHECKPOINT: "a checkpoint stays; it says what was so",
}


def revert(engine: Engine, start: int, stop: int | None, *, actor: str | None, dry_run: bool) -> list[Undone]:
    """Take back events, the newest first, in batches; each says what became of it.

    Args:
        engine: The memory; the events that undo are its actor's.
        start: The first event.
        stop: The one after the last; None for the head.
        actor: Only the events of this actor.
        dry_run: Say what would become of each, and write nothing; the seqs are those that would come next.

    Raises:
        NotFoundError: the journal does not reach so far.
    """
    size, end = engine.size, optional_integer(stop, "stop")
    if integer(start, "start") >= size or (end is not None and end > size):
        raise NotFoundError(f"the journal has the events 0 to {size - 1}")
    whose = None if actor is None else label(actor, "actor")
    items = [one for one in engine.log(start, end) if whose is None or one.actor == whose][::-1]
    done: list[Undone] = []
    for first in range(0, len(items), EVENTS_AT_ONCE):
        part = items[first : first + EVENTS_AT_ONCE]
        undos = [Undo(item.seq) for item in part]
        receipts = _rehearsed(engine, undos) if dry_run else engine.apply(undos)
        done += [_done(item, undo, one) for item, undo, one in zip(part, undos, receipts, strict=True)]
    return done


def _rehearsed(engine: Engine, undos: Sequence[Undo]) -> list[Receipt]:
    store = engine.store
    with translated(), store.view() as rows:
        tx = Transaction(rows, read_log(rows), store.identity.id_key, _SOURCES, engine.actor)
        return [undo.decide(tx) for undo in undos]


def _done(item: HistoryItem, undo: Undo, done: Receipt) -> Undone:
    seqs = tuple(event.seq for event in done.events)
    return Undone(item.seq, item.kind.name.lower(), item.subject, undo.outcome, undo.why, seqs)
