"""The merge law (SPEC, section 24): what the originals on an atom or edge amount to.

An *original* is an event as the store appended it in which the change happened. A journal holds the
originals of its own store, and records of those of other stores. The merged state is a function of the
originals and of what each had seen; neither the order in which they arrived nor any clock decides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from engine.base import limits
from engine.ledger.layout import erasure_key
from engine.ledger.records import AtomRecord, EdgeRecord, Lookup, read_atom, read_edge
from engine.ledger.subject_history import subject_history
from proofs.codec import pack
from proofs.events import (
    FACT_KINDS,
    AtomBody,
    AtomNotedBody,
    Body,
    EdgeBody,
    EdgeDetail,
    EdgeNotedBody,
    Entry,
    EventKind,
    ForeignHeadDetail,
    Header,
    Origin,
    ReasonBody,
    TagsBody,
)
from proofs.leaves import State, tag_identity

Dot = tuple[bytes, int]
"""The id of the store that wrote an original, and the seq of the original there."""

Subject = bytes | EdgeDetail
"""An atom or an edge."""


def dot_of(header: Header, own: bytes) -> Dot:
    """Return the dot of the event that a header records; `own` is the id of the store that has the header."""
    return (own, header.seq) if header.origin is None else header.origin[:2]


VERSIONS: Final = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.EDGE_ADDED})
HIDING: Final = frozenset({EventKind.ATOM_TOMBSTONED, EventKind.EDGE_REMOVED})
_TAGGING: Final = frozenset({EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED})
_ON_EDGES: Final = frozenset({EventKind.EDGE_ADDED, EventKind.EDGE_REMOVED})
ORIGINALS: Final = VERSIONS | HIDING | _TAGGING | _ON_EDGES | {EventKind.ATOM_REVIVED, EventKind.ERASED}
"""The kinds of originals. `edge_erased` follows from the erasure of an end, and is never an original."""


class ForeignHeads:
    """What each store of the family had seen of the others, by the foreign heads in a journal."""

    def __init__(self, own: bytes) -> None:
        """Begin without a head. `own` is the id of the store that has the journal."""
        self.own = own
        self.known: dict[bytes, ForeignHeadDetail] = {}
        """By other store, its greatest head that the store itself recorded."""
        self._sizes: dict[bytes, dict[bytes, tuple[list[int], list[int]]]] = {}

    def note(self, header: Header) -> None:
        """Add the head in the header of an event of the journal."""
        if isinstance(header.detail, ForeignHeadDetail):
            self.add(*dot_of(header, self.own), header.detail)

    def add(self, store: bytes, seq: int, head: ForeignHeadDetail) -> None:
        """Add the head that event `seq` of a store records. Adding it again changes nothing."""
        seqs, sizes = self._sizes.setdefault(store, {}).setdefault(head.store_id, ([], []))
        if seqs and seq <= seqs[-1]:
            return
        seqs.append(seq)
        sizes.append(max(head.size, sizes[-1] if sizes else 0))
        if store == self.own and sizes[-1] == head.size:
            self.known[head.store_id] = head

    def size(self, store: bytes) -> int:
        """Return how many events of another store this store has taken in."""
        return self.known[store].size if store in self.known else 0

    def seen(self, dot: Dot) -> dict[bytes, int]:
        """Return, by store, how many of its first events are in the past of an original."""
        found = {dot[0]: dot[1]}
        for other, (seqs, sizes) in self._sizes.get(dot[0], {}).items():
            at = bisect_left(seqs, dot[1])
            if at and other != dot[0]:
                found[other] = sizes[at - 1]
        return found


class Original(NamedTuple):
    """An original as a store knows it."""

    origin: Origin
    kind: EventKind
    actor: str
    body: Body | None
    """What it states; None if the payload is destroyed, here or before the original arrived."""
    seen: Mapping[bytes, int]

    @property
    def dot(self) -> Dot:
        """The store and the seq."""
        return self.origin[:2]

    def has_seen(self, early: Original) -> bool:
        """Return True if `early` is in the past of this original."""
        return early.origin.seq < self.seen.get(early.origin.store_id, 0)


class Merged(NamedTuple):
    """The merged state of a subject that is not erased."""

    state: State
    current: Original
    """The version that is shown."""
    hidden: Original | None
    """What gives the time, reason and actor of the tombstone."""
    created: int
    updated: int
    tags: tuple[str, ...]


class Known:
    """The originals on one subject that a store knows, in an order in which the past comes first."""

    def __init__(self, originals: Sequence[Original], ends: Sequence[Known] = ()) -> None:
        """Begin with the originals; `ends` are those of the ends of an edge that were ever erased."""
        self.originals = list(originals)
        self._ends = ends

    @property
    def erasures(self) -> list[Original]:
        """The erasures of the atom, or of the ends of the edge."""
        own = [one for one in self.originals if one.kind is EventKind.ERASED]
        return own + [one for end in self._ends for one in end.erasures]

    def is_reached(self, one: Original) -> bool:
        """Return True if a known erasure reaches the original."""
        return not all(one.has_seen(erasure) for erasure in self.erasures)

    def unreached(self) -> list[Original]:
        """Return the originals that no known erasure reaches."""
        erasures = self.erasures
        others = [one for one in self.originals if one.kind is not EventKind.ERASED]
        return [one for one in others if all(one.has_seen(erasure) for erasure in erasures)]

    def awaits_erasure(self) -> bool:
        """Return True if a payload is destroyed, and the erasure that destroyed it is not known yet."""
        return any(one.body is None for place in (self, *self._ends) for one in place.unreached())

    def merged(self) -> Merged | None:
        """Return the merged state, or None if the subject is erased or was never recorded."""
        there = [] if self.awaits_erasure() else self.unreached()
        versions = [one for one in there if one.kind in VERSIONS]
        if not versions:
            return None
        current = greatest(versions)
        hides = [one for one in there if one.kind in HIDING]
        stated = [one for one in there if one.kind not in _TAGGING]
        live = any(one.kind not in HIDING for one in heads(stated))
        body, time = current.body, current.origin.time
        given = body.created if isinstance(body, AtomBody) else None
        return Merged(
            State.LIVE if live else State.TOMBSTONED,
            current,
            None if live else greatest(hides),
            time if given is None else given,
            max(one.origin.time for one in there),
            _tags(there, versions),
        )

    def conflict(self) -> list[Original]:
        """Return the heads among the versions of a live subject, ascending, if they are not all equal."""
        merged = self.merged()
        if merged is None or merged.state is not State.LIVE:
            return []
        found = heads([one for one in self.unreached() if one.kind in VERSIONS])
        different = len({_compared(one.body) for one in found}) > 1
        return sorted(found, key=lambda one: one.dot) if different else []

    def lost(self) -> list[Dot]:
        """Return the versions of an atom that an erasure reaches, if neither had seen the other."""
        erasures, found = self.erasures, []
        for one in self.originals:
            against = [far for far in erasures if not one.has_seen(far) and not far.has_seen(one)]
            noticed = any(
                later.has_seen(one) and later.has_seen(far) for later in self.originals for far in against
            )
            if one.kind in VERSIONS and against and not noticed:
                found.append(one.dot)
        return sorted(found)


def heads(originals: Sequence[Original]) -> list[Original]:
    """Return the originals that no other one has seen."""
    unseen = _seen_by_any(originals)
    return [one for one in originals if one.origin.seq >= unseen.get(one.origin.store_id, 0)]


def _seen_by_any(originals: Iterable[Original]) -> dict[bytes, int]:
    """Return, by store, how many of its first events are in the past of one of the originals."""
    most: dict[bytes, int] = {}
    for one in originals:
        for store, size in one.seen.items():
            most[store] = max(size, most.get(store, 0))
    return most


_Children = dict[Dot | None, list[Original]]


def greatest(originals: Sequence[Original]) -> Original:
    """Return the original with the greatest rank; the past of each must come before it.

    Each one hangs below the one that was the greatest where it was written. From the root, the child with the
    greatest dot leads to the next one.
    """
    below: _Children = {}
    current: Original | None = None
    for one in originals:
        if current is not None and one.has_seen(current):
            below[current.dot] = [one]
            current = one
            continue
        parent = _descend(below, one.has_seen)
        below.setdefault(None if parent is None else parent.dot, []).append(one)
        current = _descend(below, lambda _: True)
    if current is None:
        raise ValueError("there is no original")
    return current


def _descend(below: _Children, allowed: Callable[[Original], bool]) -> Original | None:
    at: Original | None = None
    while found := [one for one in below.get(None if at is None else at.dot, ()) if allowed(one)]:
        at = max(found, key=lambda one: one.dot)
    return at


def _tags(there: Sequence[Original], versions: Sequence[Original]) -> tuple[str, ...]:
    """Return the tags, ascending by identity; the first ones if they are too many for an atom."""
    # Each version states or removes every tag in its past, so nothing that a version has seen counts.
    replaced = _seen_by_any(versions)
    speaking = [
        (one, dict(zip(map(tag_identity, tags), tags, strict=True)))
        for one in there
        if (tags := _tags_of(one)) is not None and one.origin.seq >= replaced.get(one.origin.store_id, 0)
    ]
    found = []
    for name in sorted({name for _, names in speaking for name in names}):
        about = [one for one, names in speaking if name in names or one.kind in VERSIONS]
        last = {one.dot for one in heads(about)}
        spelled = [
            (one.dot, names[name])
            for one, names in speaking
            if one.dot in last and name in names and one.kind is not EventKind.TAGS_REMOVED
        ]
        if spelled:
            found.append(max(spelled)[1])
    return tuple(found[: limits.TAGS_PER_ATOM_MAX])


def _tags_of(one: Original) -> tuple[str, ...] | None:
    return one.body.tags if isinstance(one.body, (AtomBody, TagsBody)) else None


def stated_fields(body: AtomBody) -> list[object]:
    """Return the fields in which two versions of an atom must differ to be different."""
    return [
        body.content, body.title, body.kind, list(body.buckets), body.source, body.key, body.provenance,
        body.trust, body.meta, None if body.aliases is None else list(body.aliases),
    ]  # fmt: skip


def _compared(body: Body | None) -> object:
    """Return what is equal for equal versions. In `meta`, True differs from 1."""
    if isinstance(body, AtomBody):
        return pack(stated_fields(body))
    return (body.weight, body.data) if isinstance(body, EdgeBody) else None


def originals_in(history: Iterable[Entry], heads: ForeignHeads, *, of_edge: bool) -> list[Original]:
    """Return the originals among the events on one subject, which must be in order."""
    found: dict[Dot, Original] = {}
    for entry in history:
        header = entry.header
        origin, kind = header.origin, header.kind
        if origin is None:
            if kind in FACT_KINDS or kind is EventKind.EDGE_ERASED:
                continue
            origin = Origin(heads.own, header.seq, int(kind), header.commitment, header.time)
        elif origin.store_id == heads.own or origin[:2] in found:
            continue  # an adjustment, which restates an original
        first = EventKind(origin.kind)
        if of_edge and first not in _ON_EDGES:
            continue  # the erasure of an end has erased the edge
        void = kind in {EventKind.ERASED, EventKind.EDGE_ERASED} and first is not EventKind.ERASED
        body = None if void else _restored(first, entry.body)
        found[origin[:2]] = Original(origin, first, header.actor, body, heads.seen(origin[:2]))
    return list(found.values())


def _restored(kind: EventKind, body: Body | None) -> Body | None:
    """Return the body of an original, given that of its record, which may be of a kind without effect."""
    if isinstance(body, AtomNotedBody):
        if body.reason is None:
            return None
        return TagsBody(body.tags) if kind in _TAGGING else ReasonBody(body.reason)
    if isinstance(body, EdgeNotedBody):
        if body.weight is not None and body.data is not None:
            return EdgeBody(body.weight, body.data)
        return None if body.reason is None else ReasonBody(body.reason)
    return body


def known_of(rows: Lookup, heads: ForeignHeads, subject: Subject) -> Known:
    """Return what a store knows about an atom or an edge.

    Raises:
        CorruptionError: a row of the journal, or the record, does not have the bytes that were written.
    """
    erased: list[bytes] = []
    record: AtomRecord | EdgeRecord | None
    if is_edge := isinstance(subject, EdgeDetail):
        record = read_edge(rows, *subject)
        erased = [end for end in (subject.src, subject.dst) if rows.get(erasure_key(end)) is not None]
    else:
        record = read_atom(rows, subject)
    history = () if record is None else subject_history(rows, record.last_seq)
    ends = [known_of(rows, heads, end) for end in erased]
    return Known(originals_in(history, heads, of_edge=is_edge), ends)
