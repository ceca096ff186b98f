"""A store of the model: a journal, the fold of SPEC's tables, local commands, and pulls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.model.merge.law import (
    ERASED,
    LIVE,
    STATEMENTS,
    TOMBSTONED,
    VERSIONS,
    Body,
    Dot,
    Kind,
    Known,
    Original,
    State,
    Subject,
    greatest,
    has_seen,
    identity,
)

Tags = tuple[tuple[str, str], ...]
EMPTY = Body("")
ALWAYS_KEPT = (Kind.ERASED, Kind.HEAD, Kind.REGISTERED)
"""The kinds whose payloads are never destroyed."""


class Origin(NamedTuple):
    """The original that an event takes in or restates."""

    dot: Dot
    kind: Kind


class Event(NamedTuple):
    """An event: the header, and a payload that can be destroyed."""

    kind: Kind
    subject: Subject | None
    time: int
    origin: Origin | None
    payload: tuple[Body | None, int] | None
    """What is stated, and the time of the original; None if it is destroyed."""
    ordinal: int | None = None
    """The ordinal that this event gives."""
    head: tuple[int, int] | None = None
    """In a foreign head, a store and a size."""
    name: str = ""
    """In a registration, the predicate."""


class Record(NamedTuple):
    """The record of a subject."""

    state: str
    payload_seq: int
    text: str = ""
    created: int = 0
    updated: int = 0
    tags: Tags = ()
    hidden: tuple[int, str] | None = None


def fold(record: Record | None, event: Event, seq: int) -> Record | None:
    """Return the record after an event. Only the event and the record of its subject are read."""
    if event.kind is Kind.ERASED:
        return Record(ERASED, seq)
    body, time = event.payload or (None, 0)
    if body is None:
        return record
    atom = not isinstance(event.subject, tuple)
    if record is None or record.state == ERASED:
        created = time if body.created is None else body.created
        fresh = Record(LIVE, seq, body.text, created * atom, time * atom, _spelled(body.tags))
        return fresh if event.kind is Kind.ADDED else record
    record = record._replace(updated=max(record.updated, time) * atom)
    if event.kind in VERSIONS:
        as_before = record.created if event.origin is None else time
        created = as_before if body.created is None else body.created
        changed = record._replace(state=LIVE, payload_seq=seq, text=body.text, hidden=None)
        return changed._replace(created=created * atom, tags=_spelled(body.tags))
    if event.kind is Kind.HIDDEN:
        return record._replace(state=TOMBSTONED, hidden=(time, body.text))
    if event.kind is Kind.REVIVED:
        return record._replace(state=LIVE, hidden=None)
    return record._replace(tags=_tags_after(record.tags, event.kind, body.tags))


def _tags_after(tags: Tags, kind: Kind, named: tuple[str, ...]) -> Tags:
    """Return the tags after an event that names some; of other kinds, no event changes them."""
    if kind is Kind.TAGGED:
        return tuple(sorted((dict(tags) | dict(_spelled(named))).items()))
    gone = set(map(identity, named)) if kind is Kind.UNTAGGED else ()
    return tuple(pair for pair in tags if pair[0] not in gone)


class Store:
    """One store of a family. Everything but the journal can be built again from the journal."""

    def __init__(self, number: int, stores: int, journal: Iterable[Event] = ()) -> None:
        self.number, self.stores = number, stores
        self.journal: list[Event] = []
        self.records: dict[Subject, Record] = {}
        self.known = Known()
        self.dots: dict[Dot, Subject] = {}
        self.seen: dict[int, list[int]] = {store: [0] * stores for store in range(stores)}
        """By store, the sizes in its own foreign heads so far."""
        self.names: set[str] = set()
        self.ordinals = 0
        for event in journal:
            self._take_up(event)

    # Appending and rebuilding. -----------------------------------------------------------------------

    def _append(
        self, kind: Kind, subject: Subject | None, time: int, body: Body | None, origin: Origin | None
    ) -> None:
        gives = not isinstance(subject, tuple) and kind in (*VERSIONS, Kind.VERSION_NOTED)
        header_time = self._now() if origin else max(time, self._now())
        payload = body, time if origin else header_time
        self._take_up(Event(kind, subject, header_time, origin, payload, self.ordinals if gives else None))

    def _take_up(self, event: Event) -> None:
        """Append an event, and update what is derived from the journal."""
        seq = len(self.journal)
        self.journal.append(event)
        self.ordinals += event.ordinal is not None
        if event.head:
            owner = event.origin.dot[0] if event.origin else self.number
            other, size = event.head
            self.seen[owner][other] = max(self.seen[owner][other], size)
        if event.name:
            self.names.add(event.name)
        if event.subject is None:
            return
        self._learn(event, seq)
        changed = fold(self.records.get(event.subject), event, seq)
        if changed is not None:
            self.records[event.subject] = changed
        if event.kind is Kind.ERASED:
            self._destroy(event.subject)

    def _learn(self, event: Event, seq: int) -> None:
        """Take in the original that an event is, or that it records."""
        assert event.subject is not None
        dot, kind = event.origin or Origin((self.number, seq), event.kind)
        edge = isinstance(event.subject, tuple)
        own = event.origin is not None and dot[0] == self.number
        if dot in self.dots or own or (edge and kind is Kind.ERASED):
            return
        body, time = event.payload or (None, 0)
        if event.kind is Kind.ERASED and kind is not Kind.ERASED:
            body = None
        self.dots[dot] = event.subject
        self.known.add(self._original(Origin(dot, kind), event.subject, body, time))

    def _original(self, origin: Origin, subject: Subject, body: Body | None, time: int) -> Original:
        """Return an original with what its writer had seen by the foreign heads that are known here."""
        writer, seq = origin.dot
        seen = list(self.seen[writer])
        seen[writer] = seq
        return Original(origin.dot, origin.kind, subject, body, time if body else 0, tuple(seen))

    def _destroy(self, subject: Subject) -> None:
        """Destroy the payloads of all earlier events on the subject."""
        for seq, event in enumerate(self.journal):
            if event.subject == subject and event.kind not in ALWAYS_KEPT:
                self.journal[seq] = event._replace(payload=None)
        self.known.destroy(subject)

    def rebuilt(self) -> Store:
        """Return a store that is built from the journal of this one alone."""
        return Store(self.number, self.stores, self.journal)

    def dot_of(self, seq: int) -> Dot:
        """Return the dot of the original that an event is, records or restates."""
        origin = self.journal[seq].origin
        return origin.dot if origin else (self.number, seq)

    # Local commands. ---------------------------------------------------------------------------------

    def _state(self, subject: Subject) -> str:
        return self.records[subject].state if subject in self.records else ""

    def add(self, atom: int, body: Body, time: int, *, force: bool) -> None:
        """Add an atom that is not recorded or, if forced, was erased."""
        state = self._state(atom)
        if not state or (force and state == ERASED and not self.known.awaits_erasure(atom)):
            self._append(Kind.ADDED, atom, time, body, None)

    def revise(self, atom: int, text: str, tags: tuple[str, ...], time: int) -> None:
        """Revise a live atom, unless that changes nothing and settles nothing."""
        if self._state(atom) == LIVE:
            record = self.records[atom]
            same = record.text == text and record.tags == _spelled(tags)
            if not same or self.known.conflict(atom):
                self._append(Kind.REVISED, atom, time, Body(text, tags, record.created), None)

    def hide(self, subject: Subject, reason: str, time: int) -> None:
        """Tombstone a live atom, or remove a live edge."""
        if self._state(subject) == LIVE:
            self._append(Kind.HIDDEN, subject, time, Body(reason), None)

    def revive(self, atom: int, time: int) -> None:
        """Revive a tombstoned atom."""
        if self._state(atom) == TOMBSTONED:
            self._append(Kind.REVIVED, atom, time, EMPTY, None)

    def tag(self, atom: int, tag: str, time: int, *, there: bool) -> None:
        """Add a tag to a live atom, or remove it."""
        if self._state(atom) == LIVE and (identity(tag) in dict(self.records[atom].tags)) is not there:
            self._append(Kind.TAGGED if there else Kind.UNTAGGED, atom, time, Body("", (tag,)), None)

    def link(self, edge: tuple[int, int], weight: str, time: int) -> None:
        """Add an edge between two atoms that are not erased, unless an erasure of one is to come."""
        possible = all(self._state(end) in {LIVE, TOMBSTONED} for end in edge) and self._state(edge) != LIVE
        if possible and not self.known.awaits_erasure(edge):
            self._append(Kind.ADDED, edge, time, Body(weight), None)

    def erase(self, atom: int, time: int) -> None:
        """Erase a recorded atom and its edges."""
        if self._state(atom) in {LIVE, TOMBSTONED}:
            self._erase_edges(atom, time, None)
            self._append(Kind.ERASED, atom, time, EMPTY, None)

    def _erase_edges(self, atom: int, time: int, origin: Origin | None) -> None:
        for subject in sorted(one for one in self.records if isinstance(one, tuple) and atom in one):
            if self._state(subject) != ERASED:
                self._append(Kind.ERASED, subject, time, EMPTY, origin)

    def register(self, name: str, time: int) -> None:
        """Register a predicate."""
        if name not in self.names:
            time = max(time, self._now())
            self._take_up(Event(Kind.REGISTERED, None, time, None, (EMPTY, time), name=name))

    # Pulling. ----------------------------------------------------------------------------------------

    def pull(self, other: Store, most: int) -> bool:
        """Take in at most `most` further events of another store; return True if any were."""
        start = self.seen[self.number][other.number]
        taken: list[tuple[int, Event]] = []
        end = start
        for seq in range(start, min(start + most, len(other.journal))):
            event = other.journal[seq]
            if event.head and not event.origin:
                store, size = event.head
                if store != self.number and self.seen[self.number][store] < size:
                    break
            if event.origin or (event.subject is not None and _edge_erasure(event)):
                continue
            taken.append((seq, event))
            if not event.head:
                end = seq + 1
        for seq, event in taken:
            if seq < end:
                self._take_in(Origin((other.number, seq), event.kind), event)
        if end > start:
            self._take_up(Event(Kind.HEAD, None, self._now(), None, (EMPTY, 0), head=(other.number, end)))
        return end > start

    def _now(self) -> int:
        return self.journal[-1].time if self.journal else 0

    def _take_in(self, origin: Origin, event: Event) -> None:
        if event.head or event.name:
            if event.head or event.name not in self.names:
                self._take_up(event._replace(time=self._now(), origin=origin))
            return
        assert event.subject is not None
        assert origin.kind in STATEMENTS
        body, time = event.payload or (None, 0)
        subject = event.subject
        original = self._original(origin, subject, body, time)
        if origin.kind is Kind.ERASED:
            assert isinstance(subject, int)
            self._erase_edges(subject, time, origin)
            self._append(Kind.ERASED, subject, time, EMPTY, origin)
        elif not all(has_seen(original, one) for one in self.known.erasures(subject)):
            self._note_reached(subject, origin)
        elif body is None and self._state(subject) != ERASED:
            if isinstance(subject, int):
                self._erase_edges(subject, time, Origin(origin.dot, Kind.ERASED))
            self._append(Kind.ERASED, subject, time, EMPTY, origin)
        elif body is None:
            self._append(Kind.NOTED, subject, time, None, origin)
        elif self.known.awaits_erasure(subject):
            self._note_reached(subject, origin)
        else:
            self._record(original, origin, body)

    def _note_reached(self, subject: Subject, origin: Origin) -> None:
        if isinstance(subject, int):
            self._append(Kind.NOTED, subject, 0, None, origin)

    def _record(self, original: Original, origin: Origin, body: Body) -> None:
        """Record an original that takes part in the state, and adjust what its record leaves to do."""
        subject, time = original.subject, original.time
        self.dots[original.dot] = subject
        self.known.add(original)
        goal = self.known.state(subject)
        originals = self.known.surviving(subject)
        assert goal is not None
        before = self.records.get(subject)
        kind = origin.kind
        if kind in VERSIONS:
            fresh = before is None or before.state == ERASED
            kind = Kind.ADDED if fresh or isinstance(subject, tuple) else Kind.REVISED
            if goal.current != original.dot:
                kind = Kind.NOTED if isinstance(subject, tuple) else Kind.VERSION_NOTED
        else:
            after = fold(before, Event(kind, subject, 0, origin, (body, time)), len(self.journal))
            if after is None or _plain(after) != _plain(goal):
                kind = Kind.NOTED
        self._append(kind, subject, time, body, origin)
        self._adjust(original, goal, originals)

    def _adjust(self, original: Original, goal: State, originals: list[Original]) -> None:
        subject = original.subject
        record = self.records[subject]
        if record.state != goal.state or record.hidden != goal.hidden:
            if goal.state == TOMBSTONED:
                one, kind = greatest([one for one in originals if one.kind is Kind.HIDDEN]), Kind.HIDDEN
            elif isinstance(subject, tuple):
                one, kind = next(one for one in originals if one.dot == goal.current), Kind.ADDED
            else:
                one, kind = original._replace(body=EMPTY), Kind.REVIVED
            self._append(kind, subject, one.time, one.body, Origin(one.dot, one.kind))
        tags, wanted = dict(self.records[subject].tags), dict(goal.tags)
        lacks = tuple(wanted[name] for name in wanted if tags.get(name) != wanted[name])
        surplus = tuple(tags[name] for name in tags if name not in wanted)
        origin = Origin(original.dot, original.kind)
        if lacks:
            self._append(Kind.TAGGED, subject, original.time, Body("", lacks), origin)
        if surplus:
            self._append(Kind.UNTAGGED, subject, original.time, Body("", surplus), origin)

    # What is compared. -------------------------------------------------------------------------------

    def state(self, subject: Subject) -> State | None:
        """Return the state of a subject as its record has it."""
        record = self.records.get(subject)
        if record is None or record.state == ERASED:
            return record and State(ERASED)
        return State(record.state, self.dot_of(record.payload_seq), *record[2:])

    def documents(self) -> list[Dot]:
        """Return the dots of the versions that have an ordinal and a text, ascending."""
        return sorted(
            self.dot_of(seq)
            for seq, event in enumerate(self.journal)
            if event.ordinal is not None and event.payload is not None
        )


def _edge_erasure(event: Event) -> bool:
    return event.kind is Kind.ERASED and isinstance(event.subject, tuple)


def _plain(state: Record | State) -> tuple[object, ...]:
    return (state.state, *state[2:])


def _spelled(tags: Iterable[str]) -> Tags:
    return tuple(sorted((identity(tag), tag) for tag in tags))
