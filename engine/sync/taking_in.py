"""Taking in what another store of the family handed out, as the merge law says (SPEC, section 24.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from backends.base import Batch
from engine.base import limits
from engine.base.errors import VerificationError
from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.commands.known import ACTOR, REQUEST, read_foreign_heads
from engine.commands.transaction import Transaction, receipt
from engine.erase.destroy import (
    EDGES_AT_ONCE,
    DestroyedTotals,
    Pending,
    destroy_atom,
    destroy_edge,
    encode_pending,
    finish,
    resume,
)
from engine.ledger.fold import Overlay, fold_twin
from engine.ledger.journal import read_log
from engine.ledger.layout import ERASING, erasure_key
from engine.ledger.merging import (
    VERSIONS,
    ForeignHeads,
    Merged,
    Original,
    Subject,
    known_of,
)
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, read_edge
from engine.store.store import Store
from engine.sync.originals import Head, Piece, Written, advanced, entries_of, opened
from proofs.events import (
    AtomBody,
    AtomDetail,
    AtomNotedBody,
    Body,
    Detail,
    EdgeBody,
    EdgeDetail,
    EdgeNotedBody,
    Entry,
    ErasedBody,
    EventKind,
    ForeignHeadBody,
    ForeignHeadDetail,
    Header,
    Origin,
    ReasonBody,
    TagsBody,
    TypeBody,
    TypeDetail,
)
from proofs.leaves import State, tag_identity
from proofs.log import Frontier

K = EventKind

EVENTS_AT_ONCE: Final = 1000
CHARS_AT_ONCE: Final = 2 << 20
"""The size at which a commit ends: a number of events, or of characters in contents."""


class Taken(NamedTuple):
    """What was taken in."""

    size: int
    """The number of events of the other store that are taken in, at this or an earlier time."""
    events: int = 0
    """The number of events that were appended."""
    erased: bool = False
    """True if payloads were destroyed, so that caches of contents must be emptied."""
    waits: tuple[bytes, int] | None = None
    """A store, and the number of its events that must be taken in before any more of the other store's."""


def foreign_heads(store: Store) -> ForeignHeads:
    """Return what each store of the family had seen of the others, as far as this store knows."""
    with store.view(store.requests) as rows:
        return read_foreign_heads(rows)


def known_heads(store: Store) -> dict[bytes, Head]:
    """Return, by other store, the last head up to which its events are taken in."""
    known = foreign_heads(store).known
    return {other: Head(other, head.size, head.log_root) for other, head in known.items()}


def take_in(store: Store, parts: Iterable[Written]) -> Taken:
    """Take in parts of the journal of one other store.

    The first part begins at or before the last head that was taken in, and each part where the one before it
    ends. Each part is checked before anything of it is written. If this is broken off anywhere, the same call
    continues it. An erasure destroys contents here, too, before this returns.

    Args:
        store: The store.
        parts: The parts, in order; each is read when it is needed.

    Raises:
        InconsistentError: the log of the other store does not continue the known head.
        VerificationError: a part is malformed, does not match its head, or does not follow.
        BackendBusy: a snapshot is open, so the files could not be purged after an erasure. Everything is
            taken in; the next erasure, or reopening the store, purges the files.
    """
    resume(store)
    with store.exclusive():
        run: _Run | None = None
        for part in parts:
            run = run or _Run(store, part)
            if not run.take(part):
                break
        if run is None:
            return Taken(0)
        if run.erased:
            finish(store, PENDING)
        return Taken(run.heads.size(run.other), run.events, run.erased, run.waits)


PENDING: Final = Pending(b"", "", ACTOR, 1)
"""The unfinished erasure of a pull. It names no atom, because its events are appended already."""


class _Run:
    """The parts of one journal that are taken in by one call."""

    def __init__(self, store: Store, first: Written) -> None:
        self.other = first.head.store_id
        if self.other == store.identity.store_id:
            raise VerificationError("a store does not take in its own events")
        self.store, self.heads = store, foreign_heads(store)
        self.events = 0
        self.erased = False
        self.waits: tuple[bytes, int] | None = None
        self._frontier = Frontier.from_bytes(first.frontier)
        self._pieces: list[Piece] = []
        """The frontier at the last head, or at the beginning, and the pieces after it."""
        self._end = first.first
        self._entries: list[Entry] = []
        """What is not taken in yet. Foreign heads are recorded together with the next event."""
        self._linear: set[Subject] = set()

    def take(self, part: Written) -> bool:
        """Check a part and take it in; return False if that must wait for another store."""
        start = self.heads.size(self.other)
        if part.head.store_id != self.other or part.first != self._end or self._frontier.size > start:
            raise VerificationError(f"the part from event {part.first} on does not follow event {start}")
        pieces = opened(part, self.heads.known.get(self.other))
        self._end = part.stop
        self._pieces += pieces
        self._pass(start)
        self._entries += entries_of([piece for piece in pieces if piece.first >= start])
        behind = 0
        while self._entries and self.waits is None:
            if any(one.body is None or one.header.kind is K.ERASED for one in self._entries):
                self.store.recent.clear()  # from here on, it holds no event that is destroyed
            command = TakeIn(self.other, self._entries, self.heads, self._linear, self._root)
            (done,) = self.store.commit([command], ACTOR)
            self.waits, self.erased = command.waits, self.erased or command.erased
            if not done.events:
                break
            self.heads.add(self.heads.own, done.events[-1].seq, command.head())
            self._entries = self._entries[command.taken :]
            self._pass(command.end)
            self.events += len(done.events)
            behind += len(done.events)
            if behind >= limits.FOLLOW_EVENTS_MAX // 2:
                self.store.follow(more=True)
                behind = 0
        return self.waits is None

    def _pass(self, size: int) -> None:
        """Drop the pieces before a size."""
        passed = [piece for piece in self._pieces if piece.stop <= size]
        self._frontier = advanced(self._frontier, passed)
        del self._pieces[: len(passed)]

    def _root(self, size: int) -> bytes:
        """Return the root of the other store's log at a size after the last head."""
        return advanced(self._frontier, [piece for piece in self._pieces if piece.stop <= size]).root()


@dataclass(slots=True)
class _Place:
    """A subject, and what the next event on it must name."""

    subject: Subject
    record: AtomRecord | EdgeRecord | None
    prev: int | None
    """The seq of the last event on it."""
    ordinal: int | None = None
    """The ordinal of an atom's present content."""

    @property
    def state(self) -> State | None:
        """The state, or None if it was never recorded."""
        return None if self.record is None else self.record.state


@dataclass(slots=True)
class TakeIn:
    """Take in events of another store, as many as one commit can have."""

    other: bytes
    entries: Sequence[Entry]
    heads: ForeignHeads
    linear: set[Subject]
    """Subjects that only the other store has changed, so that its events have the same effect here."""
    root: Callable[[int], bytes]
    """The root of the other store's log at a size."""
    taken: int = 0
    """How many of the entries are taken in. Foreign heads at the end are not."""
    end: int = 0
    """The number of events of the other store up to there."""
    erased: bool = False
    waits: tuple[bytes, int] | None = None

    def head(self) -> ForeignHeadDetail:
        """Return the head of the other store up to which its events are taken in."""
        return ForeignHeadDetail(self.other, self.end, self.root(self.end), None)

    def decide(self, tx: Transaction) -> Receipt:
        """Append the records of the events, adjustments, and the head of the other store.

        Raises:
            VerificationError: an event contradicts the journal of the store that wrote it, or that store has
                seen events of this store that are lost.
        """
        self.taken, self.end, self.erased, self.waits = 0, 0, False, None
        self._read_ahead(tx)
        later: list[Header] = []
        size = 0
        for at, entry in enumerate(self.entries):
            header = entry.header
            if isinstance(header.detail, ForeignHeadDetail):
                if self._must_wait(tx, header.detail):
                    break
                later.append(header)
                continue
            if tx.events and self._destroys(tx, entry):
                break
            for one in later:
                self._record_head(tx, one)
            later.clear()
            self.taken, self.end = at, header.seq
            if not self._take(tx, entry):
                break
            self.taken, self.end = at + 1, header.seq + 1
            size += len(entry.body.content) if isinstance(entry.body, AtomBody) else 0
            if len(tx.events) >= EVENTS_AT_ONCE or size >= CHARS_AT_ONCE:
                break
        if self.taken or tx.events:
            body = ForeignHeadBody(None, request=REQUEST)
            tx.take_in(ACTOR, K.FOREIGN_HEAD, None, self.head(), body, None)
        return receipt("", State.LIVE, *tx.events)

    def _must_wait(self, tx: Transaction, far: ForeignHeadDetail) -> bool:
        """Return True if the writer had seen events of a third store that are not taken in here."""
        if far.store_id == self.heads.own:
            if far.size > read_log(tx.head).size:
                raise VerificationError(
                    f"another store has seen {far.size} events of this store, which has fewer",
                    hint="this store was restored from a backup: join again as a new device",
                )
        elif far.size > self.heads.size(far.store_id):
            self.waits = far.store_id, far.size
        return self.waits is not None

    def _record_head(self, tx: Transaction, header: Header) -> None:
        detail = header.detail
        if isinstance(detail, ForeignHeadDetail):
            body = ForeignHeadBody(None, request=REQUEST)
            tx.take_in(ACTOR, K.FOREIGN_HEAD, None, detail, body, self._origin(header))
            self.heads.add(self.other, header.seq, detail)

    def _origin(self, header: Header) -> Origin:
        return Origin(self.other, header.seq, int(header.kind), header.commitment, header.time)

    def _read_ahead(self, tx: Transaction) -> None:
        """Read together the records that most of the events need."""
        some = [entry.header.detail for entry in self.entries[:EVENTS_AT_ONCE]]
        atoms = list(dict.fromkeys(one.id for one in some if isinstance(one, AtomDetail)))
        edges = list(dict.fromkeys(one for one in some if isinstance(one, EdgeDetail)))
        tx.read_ahead(atoms, edges, {end for edge in edges for end in (edge.src, edge.dst)})

    def _destroys(self, tx: Transaction, entry: Entry) -> bool:
        """Return True if the event destroys payloads that are here. It must be the first one of a commit."""
        if entry.body is not None and entry.header.kind is not K.ERASED:
            return False
        return self._place(tx, entry.header.detail).state in {State.LIVE, State.TOMBSTONED}

    def _place(self, tx: Transaction, detail: Detail) -> _Place:
        if isinstance(detail, EdgeDetail):
            edge = tx.edge(*detail)
            return _Place(detail, edge, None if edge is None else edge.last_seq)
        if not isinstance(detail, AtomDetail):
            raise VerificationError("the event is neither on an atom nor on an edge")
        atom = tx.atom(detail.id)
        if atom is None:
            return _Place(detail.id, None, tx.last_event(detail.id))
        return _Place(detail.id, atom, atom.last_seq, atom.ordinal)

    def _take(self, tx: Transaction, entry: Entry) -> bool:
        """Take in one event; return False if only a part of it fits in the commit."""
        header, body = entry.header, entry.body
        if isinstance(header.detail, TypeDetail) and isinstance(body, TypeBody):
            if tx.type_code(body.name) is None:
                tx.take_in(header.actor, header.kind, None, header.detail, body, self._origin(header))
            return True
        place = self._place(tx, header.detail)
        if body is not None and self._is_linear(tx, place, header.kind):
            self._append(tx, place, header.kind, header.actor, body, self._origin(header))
            self.linear.add(place.subject)
            return True
        self.linear.discard(place.subject)
        return self._by_the_law(tx, place, entry)

    def _is_linear(self, tx: Transaction, place: _Place, kind: EventKind) -> bool:
        """Return True if nothing but the other store's events has changed the subject."""
        subject = place.subject
        if kind is K.ERASED or place.state is not None:
            return kind is not K.ERASED and subject in self.linear
        if not isinstance(subject, EdgeDetail):
            return kind is K.ATOM_ADDED
        ends = (subject.src, subject.dst)
        if not all(end in self.linear or tx.atom(end) is not None for end in ends):
            raise VerificationError("another store hands out an edge of an atom that was never recorded")
        return kind is K.EDGE_ADDED and not any(
            end not in self.linear and tx.rows.get(erasure_key(end)) is not None for end in ends
        )

    def _by_the_law(self, tx: Transaction, place: _Place, entry: Entry) -> bool:
        header, subject = entry.header, place.subject
        origin = self._origin(header)
        known = known_of(tx.rows, self.heads, subject)
        seen = self.heads.seen((self.other, header.seq))
        original = Original(origin, header.kind, header.actor, entry.body, seen)
        known.originals.append(original)
        void = original.body is None
        if header.kind is K.ERASED:
            return self._erase(tx, place, original)
        if known.is_reached(original) or (not void and known.awaits_erasure()):
            if not isinstance(subject, EdgeDetail):
                self._append(tx, place, K.ATOM_NOTED, header.actor, AtomNotedBody(None, ()), origin)
        elif void and place.state is not State.ERASED:
            return self._erase(tx, place, original)
        elif void and isinstance(subject, EdgeDetail):
            self._append(tx, place, K.EDGE_NOTED, header.actor, EdgeNotedBody(None, None, None), origin)
        elif void:
            self._append(tx, place, K.ATOM_NOTED, header.actor, AtomNotedBody(None, ()), origin)
        else:
            merged = known.merged()
            if merged is None:
                raise VerificationError(f"event {header.seq} of another store changes what was never added")
            self._record(tx, place, original, merged)
        return True

    def _erase(self, tx: Transaction, place: _Place, original: Original) -> bool:
        """Erase an atom and its edges, or an edge; return False if the atom has too many edges for this."""
        origin, actor, body = original.origin, original.actor, original.body
        done = DestroyedTotals()
        whole = True
        self.linear.clear()
        if isinstance(place.subject, EdgeDetail):
            if place.prev is not None:
                destroy_edge(tx, place.prev, done)
            self._append(tx, place, K.EDGE_ERASED, actor, ReasonBody(""), origin)
        else:
            there = place.state in {State.LIVE, State.TOMBSTONED}
            edges = tx.unerased_edges(place.subject, EDGES_AT_ONCE) if there else []
            whole = len(edges) <= EDGES_AT_ONCE
            reason = ReasonBody(f"erased with {show_id(place.subject)}")
            for edge in edges[:EDGES_AT_ONCE]:
                destroy_edge(tx, edge.last_seq, done)
                detail = EdgeDetail(edge.src, edge.type, edge.dst)
                tx.take_in(actor, K.EDGE_ERASED, edge.last_seq, detail, reason, origin)
            if whole:
                hashes = set() if place.prev is None else destroy_atom(tx, place.prev, done)
                given = body if isinstance(body, ErasedBody) else ErasedBody("", ())
                # An erasure without hashes must not make its contents recognisable here either.
                kept = sorted(hashes.union(given.contents))[: limits.ERASED_CONTENTS_MAX]
                erased = ErasedBody(given.reason, tuple(kept) if given.contents else ())
                self._append(tx, place, K.ERASED, actor, erased, origin)
        if done.payloads:
            self.erased = True
            tx.batch.put(ERASING, encode_pending(PENDING))
        return whole

    def _record(self, tx: Transaction, place: _Place, original: Original, merged: Merged) -> None:
        """Append the record of an original that takes part in the state, and what its effect lacks."""
        kind, body = original.kind, original.body
        if kind in VERSIONS:
            if merged.current.dot != original.dot:
                kind = K.VERSION_NOTED if isinstance(body, AtomBody) else K.EDGE_NOTED
            elif isinstance(body, AtomBody):
                kind = K.ATOM_ADDED if place.state in {None, State.ERASED} else K.ATOM_REVISED
        elif not self._leads_to(tx, place, original, merged):
            kind = K.EDGE_NOTED if isinstance(place.subject, EdgeDetail) else K.ATOM_NOTED
        if body is not None:
            after = self._state_after(tx, place, kind, original)
            self._append(tx, place, kind, original.actor, _noted(kind, body), original.origin)
            self._adjust(tx, place, original, merged, after)

    def _leads_to(self, tx: Transaction, place: _Place, original: Original, merged: Merged) -> bool:
        """Return True if an event of the kind of the original is allowed here, and gives the merged state."""
        record, body = place.record, original.body
        if original.kind is K.ATOM_REVIVED and place.state is not State.TOMBSTONED:
            return False
        tags = body.tags if isinstance(body, TagsBody) else ()
        if isinstance(record, AtomRecord) and len(record.tags) + len(tags) > limits.TAGS_PER_ATOM_MAX:
            return False
        return _agrees(self._state_after(tx, place, original.kind, original), merged)

    def _state_after(
        self, tx: Transaction, place: _Place, kind: EventKind, original: Original
    ) -> AtomRecord | EdgeRecord | None:
        """Return the record as an event of this kind with the body of the original would leave it."""
        overlay = Overlay(tx.rows, Batch())
        detail, body = self._detail(tx, place, kind), original.body
        header = Header(limits.SEQ_MAX, 0, kind, original.actor, b"", place.prev, detail, original.origin)
        fold_twin([Entry(header, body if body is None else _noted(kind, body), b"")], overlay)
        if isinstance(place.subject, EdgeDetail):
            return read_edge(overlay, *place.subject)
        return read_atom(overlay, place.subject)

    def _adjust(
        self,
        tx: Transaction,
        place: _Place,
        original: Original,
        merged: Merged,
        after: AtomRecord | EdgeRecord | None,
    ) -> None:
        """Append the events that lead from the record after the original to the merged state."""
        actor, origin, edge = original.actor, original.origin, isinstance(place.subject, EdgeDetail)
        hidden, current = merged.hidden, merged.current
        if after is None or _hiding(after) != _goal(merged):
            if hidden is not None and hidden.body is not None:
                kind = K.EDGE_REMOVED if edge else K.ATOM_TOMBSTONED
                self._append(tx, place, kind, hidden.actor, hidden.body, hidden.origin)
            elif edge and current.body is not None:
                self._append(tx, place, K.EDGE_ADDED, current.actor, current.body, current.origin)
            else:
                self._append(tx, place, K.ATOM_REVIVED, actor, ReasonBody(""), origin)
        if not isinstance(after, AtomRecord):
            return
        # Tags are removed first, so that there are never too many.
        wanted = {tag_identity(tag): tag for tag in merged.tags}
        surplus = tuple(tag for tag in after.tags if tag_identity(tag) not in wanted)
        lacks = tuple(tag for tag in merged.tags if tag not in after.tags)
        if surplus:
            self._append(tx, place, K.TAGS_REMOVED, actor, TagsBody(surplus), origin)
        if lacks:
            self._append(tx, place, K.TAGS_ADDED, actor, TagsBody(lacks), origin)

    def _detail(self, tx: Transaction, place: _Place, kind: EventKind) -> AtomDetail | EdgeDetail:
        if isinstance(place.subject, EdgeDetail):
            return place.subject
        gives = place.ordinal is None or kind in GIVING_ORDINALS
        ordinal = tx.next_ordinal if gives or place.ordinal is None else place.ordinal
        return AtomDetail(place.subject, ordinal, place.ordinal if kind is K.ATOM_REVISED else None)

    def _append(
        self, tx: Transaction, place: _Place, kind: EventKind, actor: str, body: Body, origin: Origin
    ) -> None:
        """Append an event on a subject, which may be followed by others on it."""
        detail = self._detail(tx, place, kind)
        # The request of another store's caller is none of this store's.
        body = body if body.request is None else body._replace(request=None)
        place.prev = tx.take_in(actor, kind, place.prev, detail, body, origin).seq
        if isinstance(detail, AtomDetail) and kind is not K.VERSION_NOTED:
            place.ordinal = detail.ordinal


GIVING_ORDINALS: Final = frozenset({K.ATOM_ADDED, K.ATOM_REVISED, K.VERSION_NOTED})


def _noted(kind: EventKind, body: Body) -> Body:
    """Return the body of the record of an original: the same one, unless the kind has no effect."""
    if kind is K.ATOM_NOTED:
        reason = body.reason if isinstance(body, ReasonBody) else ""
        tags = body.tags if isinstance(body, TagsBody) else ()
        return AtomNotedBody(reason, tags, pipeline=body.pipeline)
    if kind is K.EDGE_NOTED:
        weight, data = (body.weight, body.data) if isinstance(body, EdgeBody) else (None, None)
        why = body.reason if isinstance(body, ReasonBody) else None
        return EdgeNotedBody(weight, data, why, pipeline=body.pipeline)
    return body


def _agrees(record: AtomRecord | EdgeRecord | None, merged: Merged) -> bool:
    """Return True if a record has the merged state; the version that is shown is not compared."""
    if record is None or _hiding(record) != _goal(merged):
        return False
    if isinstance(record, EdgeRecord):
        return True
    times = record.created, record.updated
    return times == (merged.created, merged.updated) and record.tags == merged.tags


def _hiding(record: AtomRecord | EdgeRecord) -> tuple[object, ...]:
    return record.state, record.tombstoned_at, record.tombstoned_reason, record.tombstoned_by


def _goal(merged: Merged) -> tuple[object, ...]:
    one = merged.hidden
    if one is None:
        return merged.state, None, "", ""
    reason = one.body.reason if isinstance(one.body, ReasonBody) else ""
    return merged.state, one.origin.time, reason, one.actor
