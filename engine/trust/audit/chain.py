"""Checks that each event of a journal is one that a command could have appended at that place.

The code that processes events does not make these checks, so it would also process a forged journal with
events that no command appends. Only headers, the keys in the payload of the genesis, and the names of
predicates are checked, because all other payloads may have been destroyed.
"""

from __future__ import annotations

from collections.abc import Sequence

from backends.base import Reader
from engine.followers.records import count
from engine.followers.trees import first_value, read_value, subject_of, value_after
from engine.ledger.journal import read_header, read_identity, read_log
from engine.ledger.layout import (
    EDGE_FROM,
    EDGE_TO,
    atom_key,
    decode_seq,
    early_fact_key,
    journal_key,
    type_code_key,
)
from engine.ledger.records import ORDINAL_KINDS, Counters, decode_edge, read_counters
from engine.trust.audit.comparison import Difference
from proofs.events import (
    ERASING_KINDS,
    AtomDetail,
    EdgeDetail,
    Entry,
    EventKind,
    FactDetail,
    ForeignHeadDetail,
    GenesisBody,
    GenesisDetail,
    Header,
    TypeBody,
    TypeDetail,
)
from proofs.hashing import label_commitment, predicate_code
from proofs.leaves import EdgeType, State, Value, edge_key

_CREATES = frozenset({EventKind.ATOM_ADDED, EventKind.EDGE_ADDED})
_OF_BOTH_STATES = frozenset(
    {
        EventKind.ATOM_REVISED,
        EventKind.TAGS_ADDED,
        EventKind.TAGS_REMOVED,
        EventKind.ATOM_TOMBSTONED,
        EventKind.EDGE_ADDED,
        EventKind.EDGE_REMOVED,
    }
)
"""The kinds of events with an origin that are allowed on live and on hidden atoms and edges."""
_NO_ID = bytes(16)
_NEEDS_HIDDEN = frozenset({EventKind.ATOM_REVIVED, EventKind.EDGE_ADDED})
"""The kinds of events that are allowed only if the atom or edge is hidden or does not exist.

Events that erase are allowed only if the atom or edge is not erased. All other kinds of events are allowed
only if the atom or edge is live.
"""


def check_chain(entries: Sequence[Entry], before: Reader) -> Difference | None:
    """Return the problem with the first of `entries` that cannot follow its predecessors, or None.

    In `before`, the records and the trees must be up to date with the journal.
    """
    chain = _Chain(before, entries)
    for entry in entries:
        if problem := chain.problem(entry):
            seq = entry.header.seq
            return Difference("journal", journal_key(seq).hex(), seq, f"event {problem}")
    return None


class _Chain:
    """The state after the checked events: the rows before these events, and the changes that they made."""

    def __init__(self, before: Reader, entries: Sequence[Entry]) -> None:
        self._before = before
        self._values: dict[tuple[str, bytes], Value | Header | None] = {}
        """The values of leaves. For an atom that was just added, the header from which its value follows."""
        self._of_genesis: tuple[bytes, bytes] | None = None
        self._codes: set[bytes] = set()
        """The codes that the checked events registered."""
        self._facts: dict[bytes, int] = {}
        """The last fact on each atom among the checked events."""
        self._next_ordinal, _, self._early_facts = read_counters(before)
        log = read_log(before)
        self._time = log.time
        self._last = read_header(before, log.size - 1)[0] if log.size else None
        added = [header.detail for header, _, _ in entries if header.kind is EventKind.ATOM_ADDED]
        ids = [detail.id for detail in added if isinstance(detail, AtomDetail)]
        records = before.multi_get(list(map(atom_key, ids)))
        self._values |= {("atoms", id_): None for id_, raw in zip(ids, records, strict=True) if raw is None}

    def problem(self, entry: Entry) -> str | None:
        """Return the problem with the next event. If there is no problem, apply the event and return None."""
        header = entry.header
        if self._adds_an_atom(header):
            return None
        problem = self._order_problem(entry) or self._detail_problem(entry)
        if problem is None:
            subject = subject_of(header)
            if isinstance(header.detail, FactDetail) and header.detail.id is not None:
                self._facts[header.detail.id] = header.seq
            if subject[0]:
                self._values[subject] = value_after(header, self._value(*subject))
            counters = count((entry,), Counters(self._next_ordinal, 0, self._early_facts))
            self._next_ordinal, _, self._early_facts = counters
            self._time, self._last = header.time, header
        return problem

    def _adds_an_atom(self, header: Header) -> bool:
        """If the event adds an atom and breaks no rule, apply it and return True; otherwise return False.

        Most events add an atom. For them, this function takes a third of the time of the other checks.
        """
        detail = header.detail
        if (
            header.kind is not EventKind.ATOM_ADDED
            or not isinstance(detail, AtomDetail)
            or (header.prev, detail.ordinal, detail.replaced) != (None, self._next_ordinal, None)
            or header.time < self._time
            or self._last is None
            or self._last.origin is not None
            or header.origin is not None
            or detail.id == _NO_ID
            or self._value("atoms", detail.id) is not None
            or self._early_fact(detail.id) is not None
        ):
            return False
        self._values["atoms", detail.id] = header
        self._next_ordinal = detail.ordinal + 1
        self._time, self._last = header.time, header
        return True

    def _order_problem(self, entry: Entry) -> str | None:
        header, last = entry.header, self._last
        if header.time < self._time:
            return "is earlier than the event before it"
        if (last is None) is not (header.kind is EventKind.GENESIS):
            return "is a genesis that is not the first event, or a first event that is not a genesis"
        if last is None:
            return None
        if header.kind is last.kind is EventKind.CHECKPOINT:
            return "is a checkpoint directly after a checkpoint"
        if header.origin is not None:
            same = header.origin.store_id == self._genesis()[0] and header.origin.seq >= header.seq
            return "has an origin in this store that is not before it" if same else None
        if last.origin is not None and header.kind is not EventKind.FOREIGN_HEAD:
            return "follows events of another store, and is not the head of that store"
        return None

    def _detail_problem(self, entry: Entry) -> str | None:
        namespace, key = subject_of(entry.header)
        value = self._value(namespace, key) if namespace else None
        last = self._early_fact(key) if value is None else value.last_seq
        if entry.header.prev != last:
            return "does not name the previous event on its subject"
        detail = entry.header.detail
        if isinstance(detail, FactDetail):
            return "names an atom id that is all zero" if detail.id == _NO_ID else None
        if namespace and not _state_allows(entry.header, value):
            return "is not allowed in the present state of its subject"
        if isinstance(detail, AtomDetail):
            return self._atom_problem(entry.header.kind, detail, value)
        if isinstance(detail, EdgeDetail):
            return self._edge_problem(entry.header.kind, detail)
        if isinstance(detail, ForeignHeadDetail):
            origin = entry.header.origin
            seen_by = self._genesis()[0] if origin is None else origin.store_id
            return "names the store itself as another store" if detail.store_id == seen_by else None
        if isinstance(detail, GenesisDetail):
            return self._genesis_problem(detail, entry)
        return self._type_problem(detail, entry) if isinstance(detail, TypeDetail) else None

    def _genesis_problem(self, detail: GenesisDetail, entry: Entry) -> str | None:
        if isinstance(entry.body, GenesisBody):
            if label_commitment(entry.body.label_key) != detail.label_commitment:
                return "does not commit to its label key"
            self._of_genesis = detail.store_id, entry.body.id_key
        return None

    def _genesis(self) -> tuple[bytes, bytes]:
        """Return the store id and the id key."""
        if self._of_genesis is None:
            identity = read_identity(self._before)
            self._of_genesis = identity.store_id, identity.id_key
        return self._of_genesis

    def _early_fact(self, atom: bytes) -> int | None:
        """Return the seq of the last fact on an atom that is not recorded, or None."""
        if atom in self._facts or not self._early_facts:
            return self._facts.get(atom)
        raw = self._before.get(early_fact_key(atom))
        return None if raw is None else decode_seq(raw, "early fact")

    def _atom_problem(self, kind: EventKind, detail: AtomDetail, value: Value | None) -> str | None:
        if detail.id == _NO_ID:
            return "names an atom id that is all zero"
        current = None if value is None else value.ordinal
        expected: tuple[int | None, int | None] = (current, None)
        if kind in ORDINAL_KINDS:
            expected = (self._next_ordinal, current if kind is EventKind.ATOM_REVISED else None)
        elif value is None:  # another store erased the atom
            expected = (self._next_ordinal, None)
        if (detail.ordinal, detail.replaced) != expected:
            return "gives an atom the wrong ordinal"
        if kind is EventKind.ERASED and self._has_edges(detail.id):
            return "erases an atom before its edges"
        return None

    def _has_edges(self, atom: bytes) -> bool:
        """Return True if any edge of the atom is not erased."""
        changed = [key for namespace, key in self._values if namespace == "edges"]
        keys = {key for key in changed if atom in (key[:16], key[-16:])}
        for prefix in (EDGE_FROM, EDGE_TO):
            for _, raw in self._before.scan_prefix(prefix + atom + b"/"):
                keys.add(edge_key(*decode_edge(raw)[:3]))
        values = [self._value("edges", key) for key in keys]
        return any(value is not None and value.state != State.ERASED for value in values)

    def _edge_problem(self, kind: EventKind, detail: EdgeDetail) -> str | None:
        if detail.src == detail.dst:
            return "joins an atom to itself"
        ends = [self._value("atoms", end) for end in (detail.src, detail.dst)]
        if not all(ends):
            return "joins an atom that was never recorded"
        if kind is EventKind.EDGE_ADDED and any(end and end.state == State.ERASED for end in ends):
            return "joins an atom that is erased"
        known = detail.type[0] in set(EdgeType) if len(detail.type) == 1 else self._is_registered(detail.type)
        return None if known else "has a type that was never registered"

    def _is_registered(self, code: bytes) -> bool:
        return code in self._codes or self._before.get(type_code_key(code)) is not None

    def _type_problem(self, detail: TypeDetail, entry: Entry) -> str | None:
        if self._is_registered(detail.code):
            return "registers a predicate again"
        if isinstance(entry.body, TypeBody):
            name = entry.body.name
            if name.upper() in EdgeType.__members__ and name == name.lower():
                return "registers the name of a built-in type"
            if detail.code != predicate_code(self._genesis()[1], name):
                return "gives a predicate a code that does not follow from its name"
        self._codes.add(detail.code)
        return None

    def _value(self, namespace: str, key: bytes) -> Value | None:
        subject = (namespace, key)
        if subject not in self._values:
            self._values[subject] = read_value(self._before, namespace, key)
        value = self._values[subject]
        if isinstance(value, Header):
            value = self._values[subject] = first_value(value)
        return value


def _state_allows(header: Header, value: Value | None) -> bool:
    kind, foreign = header.kind, header.origin is not None
    if kind in ERASING_KINDS and foreign:
        return True
    if value is None:
        return kind in _CREATES
    if kind is EventKind.ATOM_NOTED or kind is EventKind.EDGE_NOTED:
        return True
    if kind in ERASING_KINDS or kind is EventKind.VERSION_NOTED:
        return value.state != State.ERASED
    if value.state == State.ERASED:
        return kind in _CREATES
    if kind is EventKind.ATOM_ADDED:
        return False
    if foreign and kind in _OF_BOTH_STATES:
        return True
    return (value.state != State.LIVE) == (kind in _NEEDS_HIDDEN)
