"""Checks of the rows that commands rely on, against other rows with the same information.

A command reads the record of an atom or edge, the counters, and the state of the log. The command may also
rely on the absence of a record. If one of these rows was damaged, or changed by another program, the command
could append an event that contradicts the journal, and no later command could correct this event. Therefore
each of these rows is compared with other rows before it is used:

* a record is compared with the header of its last event; the values of the trees, and the headers that the
  trees do not include yet, show that no later event exists;
* a missing record is compared with the trees, and with the headers that the trees do not include yet;
* the counters are compared with the rows of ordinals, predicates and early facts;
* the state of the log is compared with the headers, and with the subtrees of the follower `log`.

So no single row can mislead a command. A row that this process has written or checked before is not checked
again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from backends.base import Reader
from engine.base import limits
from engine.base.errors import CorruptionError
from engine.followers.base import check_cursor, read_cursor
from engine.followers.trees import CREATING_KINDS, TreesFollower, stored_value, subject_of
from engine.ledger.journal import LogState, read_header, subject_key
from engine.ledger.layout import (
    ATOM,
    COUNTERS,
    EARLY_FACT,
    EDGE_FROM,
    EDGE_TO,
    ERASURE,
    TYPE_BY_CODE,
    cursor_key,
    decode_header,
    edge_from_key,
    erasure_key,
    journal_key,
    ordinal_key,
)
from engine.ledger.records import (
    AtomRecord,
    Counters,
    EdgeRecord,
    Lookup,
    decode_atom,
    decode_counters,
    decode_edge,
)
from proofs.events import AtomDetail, Detail, Entry, EventKind, FactDetail, Header
from proofs.leaves import ID_BYTES, State, edge_key

HINT: Final = "run `engine rebuild`, then `engine verify-root`"

PENDING_MAX: Final = 5 * limits.FOLLOW_EVENTS_MAX // 2
"""The maximum number of subjects kept in memory: the subjects of events that the trees do not include yet.

The store still caches so many events, so that the trees can be updated without reading the events back.
"""
UNREAD_MAX: Final = 1024
"""The maximum number of new headers to read. If there are more, updating the trees is faster."""
SURE_MAX: Final = 1 << 16
"""The maximum number of remembered atoms. The records of these atoms were found to be correct."""

_TREES: Final = cursor_key(TreesFollower.name)
_STATES: Final = {
    EventKind.ATOM_ADDED: State.LIVE,
    EventKind.ATOM_REVISED: State.LIVE,
    EventKind.ATOM_REVIVED: State.LIVE,
    EventKind.TAGS_ADDED: State.LIVE,
    EventKind.TAGS_REMOVED: State.LIVE,
    EventKind.ATOM_TOMBSTONED: State.TOMBSTONED,
    EventKind.ERASED: State.ERASED,
    EventKind.EDGE_ADDED: State.LIVE,
    EventKind.EDGE_REMOVED: State.TOMBSTONED,
    EventKind.EDGE_ERASED: State.ERASED,
}
"""The state of an atom or edge after an event of each kind. Other kinds do not change the state.

An event with tags that restates one of another store does not, either: its atom may be hidden.
"""
_TAGGING: Final = frozenset({EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED})


class Evidence:
    """A store's information about atoms and edges outside the records.

    `move_to` selects the snapshot that the other methods read. One thread at a time may use the object.
    """

    def __init__(self, trees: TreesFollower | None = None) -> None:
        """Begin without a snapshot.

        `trees` is the follower that updates the trees; its cached pages are used.
        """
        self._trees = trees or TreesFollower()
        self._rows: Reader
        self._meta: Lookup
        self._cursor: bytes | None = b""
        self._included = 0
        """The number of events that the trees include."""
        self._size = 0
        self._last: dict[bytes, int] = {}
        """For each subject of the events that the trees do not include: the last of these events on the
        subject. The last fact on an atom has a key of its own, because the atom may be unrecorded."""
        self._sure: set[bytes] = set()
        """Atoms whose records were found to be correct, and that have not been erased since."""
        self._counters: tuple[bytes | None, Counters] | None = None
        """The row of the counters that was checked last, and the counters."""

    @property
    def sure(self) -> AbstractSet[bytes]:
        """Atoms that are recorded and not erased. Their records were checked, or were just written."""
        return self._sure

    def move_to(self, rows: Reader, log: LogState, meta: Lookup | None = None) -> bool:
        """Read the snapshot `rows`, whose log is `log`, from now on.

        `meta` holds the rows with the cursor of the trees and with the counters, if these rows were read
        already.

        Return False if the trees lack so many events that they must be updated first.

        Raises:
            CorruptionError: the cursor of the trees, or a header after it, is damaged.
        """
        self._rows, self._meta = rows, meta or rows
        raw = self._meta.get(_TREES)
        if raw != self._cursor or log.size < self._size:
            self._begin(rows, raw, log.size)
        if len(self._last) > PENDING_MAX or log.size - self._size > UNREAD_MAX:
            return False
        if self._size < log.size:
            self._read_headers(rows, log.size)
        if len(self._sure) > SURE_MAX:
            self._sure = set()
        return True

    def _read_headers(self, rows: Reader, size: int) -> None:
        stored = rows.scan(journal_key(self._size), journal_key(size))
        for seq in range(self._size, size):
            key, header = next(stored, (b"", b""))
            if key != journal_key(seq):
                raise CorruptionError(f"journal header {seq} is missing", family="journal", seq=seq)
            subject = _pending_key(decode_header(header, seq).detail)
            self._last[subject] = seq
            self._sure.discard(subject)
        self._size = size

    def _begin(self, rows: Reader, raw: bytes | None, size: int) -> None:
        """Begin after the events that the trees include; `raw` is the cursor of the trees."""
        cursor = read_cursor(rows, TreesFollower.name)
        start = 0
        if cursor is not None and cursor.version == TreesFollower.version:
            check_cursor(rows, TreesFollower.name, cursor, size)
            start = cursor.size
        # After a rebuild by another process, the trees include fewer events than before.
        if self._included <= start <= self._size <= size and self._cursor != b"":
            self._last = {subject: seq for subject, seq in self._last.items() if seq >= start}
        else:
            self._last, self._size, self._sure = {}, start, set()
        self._cursor, self._included = raw, start

    def note(self, entries: Sequence[Entry], row: bytes, counters: Counters) -> None:
        """Remember the counters with their row, and events that directly follow the known events."""
        details = [header.detail for header, _, _ in entries]
        seqs = range(self._size, self._size + len(details))
        kinds = {header[2] for header, _, _ in entries}
        if kinds == {EventKind.ATOM_ADDED}:
            ids = [detail[0] for detail in details if isinstance(detail, AtomDetail)]
            self._last.update(zip(ids, seqs, strict=True))
            self._sure.update(ids)
        elif kinds == {EventKind.EDGE_ADDED}:
            self._last.update(zip(map(b"".join, details), seqs, strict=True))  # type: ignore[arg-type]
        else:
            self._last.update(zip(map(_pending_key, details), seqs, strict=True))
            if EventKind.ERASED in kinds:
                erased = [header.detail for header, _, _ in entries if header.kind is EventKind.ERASED]
                self._sure.difference_update(map(subject_key, erased))
        self._size = seqs.stop
        self._counters = row, counters

    def atom(self, atom: bytes) -> AtomRecord | None:
        """Return the record of an atom, or None if the atom was never recorded.

        Raises:
            CorruptionError: the record, or its absence, contradicts the journal.
        """
        raw = self._rows.get(ATOM + atom)
        if raw is None:
            self.check_unrecorded("atoms", [atom])
            return None
        record = decode_atom(raw, atom)
        header = self._last_header("atoms", atom, record.last_seq)
        if (record.state, record.ordinal) != self._state_after(header):
            raise _contradiction("atoms", atom)
        return record

    def _state_after(self, header: Header) -> tuple[State | int | None, int]:
        """Return the state and ordinal of an atom or edge after the last event on it, of any kind."""
        while header.prev is not None and (
            header.kind not in _STATES or (header.origin is not None and header.kind in _TAGGING)
        ):
            value = stored_value(self._rows, *subject_of(header))
            if value is not None and value.last_seq >= header.seq:
                return value.state, value.ordinal
            header, _ = read_header(self._rows, header.prev)
        ordinal = header.detail.ordinal if isinstance(header.detail, AtomDetail) else -1
        return _STATES.get(header.kind), ordinal

    def edge(self, src: bytes, code: bytes, dst: bytes) -> EdgeRecord | None:
        """Return the record of an edge, or None if the edge was never recorded.

        Raises:
            CorruptionError: the record, or its absence, contradicts the journal.
        """
        key = edge_key(src, code, dst)
        raw = self._rows.get(edge_from_key(src, code, dst))
        if raw is None:
            self.check_unrecorded("edges", [key])
            return None
        record = decode_edge(raw)
        header = self._last_header("edges", key, record.last_seq)
        if record[:4] != (src, code, dst, self._state_after(header)[0]):
            raise _contradiction("edges", key)
        return record

    def check_recorded(self, records: Sequence[AtomRecord]) -> None:
        """Check that the atoms of `records` were recorded and not erased. No record may say `erased`.

        This takes less time than reading each record with `atom`. Other fields of the records are not
        checked.

        Raises:
            CorruptionError: a record contradicts the journal.
        """
        rows = self._rows
        doubtful = [record for record in records if record.id not in self._sure]
        if not doubtful:
            return
        # If a header contains the id of an atom, its event is on the atom or on one of its edges.
        headers = rows.multi_get([journal_key(record.last_seq) for record in doubtful])
        erasures: list[bytes | None] = [None] * len(doubtful)
        if next(rows.scan_prefix(ERASURE), None) is not None:
            erasures = rows.multi_get([erasure_key(record.id) for record in doubtful])
        for record, header, erasure in zip(doubtful, headers, erasures, strict=True):
            if header is None or record.id not in header or erasure is not None:
                self.atom(record.id)
        self._sure.update(record.id for record in doubtful)

    def check_edges(self, atom: bytes, found: Collection[bytes]) -> None:
        """Check that an atom has only the edges with the keys `found` (`proofs.leaves.edge_key`).

        This reads the keys of all edges of the store.

        Raises:
            CorruptionError: one of the two rows of an edge is missing.
        """
        for prefix, far in ((EDGE_TO, EDGE_FROM), (EDGE_FROM, EDGE_TO)):
            for row, _ in self._rows.scan_prefix(prefix):
                if row.endswith(atom):
                    near, code = (
                        row[len(prefix) :][:ID_BYTES],
                        row[len(prefix) + ID_BYTES + 1 : -ID_BYTES - 1],
                    )
                    ends = (atom, near) if far == EDGE_FROM else (near, atom)
                    key = edge_key(ends[0], code, ends[1])
                    if key not in found and self.is_unerased_edge(*ends, code):
                        raise _contradiction("edges", key)

    def is_unerased_edge(self, src: bytes, dst: bytes, code: bytes) -> bool:
        """Return True if an edge was recorded and not erased.

        Raises:
            CorruptionError: its record contradicts the journal.
        """
        edge = self.edge(src, code, dst)
        return edge is not None and edge.state is not State.ERASED

    def _last_header(self, namespace: str, key: bytes, seq: int) -> Header:
        """Return the header of event `seq`, which must be the last event on the subject."""
        header, _ = read_header(self._rows, seq)
        last = max(self._last.get(key, -1), self._last.get(EARLY_FACT + key, -1))
        if last < 0:
            value = stored_value(self._rows, namespace, key)
            if value is not None:
                last = value.last_seq
            elif header.kind in CREATING_KINDS and self._is_first(header):
                last = seq  # a second event would have written a value
        if seq != last or subject_key(header.detail) != key:
            raise _contradiction(namespace, key)
        return header

    def _is_first(self, header: Header) -> bool:
        """Return True if no event before `header` is on its subject, except facts on an unrecorded atom."""
        return header.prev is None or isinstance(read_header(self._rows, header.prev)[0].detail, FactDetail)

    def check_unrecorded(self, namespace: str, keys: Sequence[bytes]) -> None:
        """Check that no event on these atoms or edges was ever recorded. They must not have records.

        Raises:
            CorruptionError: there is such an event.
        """
        last = self._last
        recorded = [key for key in keys if key in last]
        if not recorded and keys and self._included and self._cursor:
            presences = self._trees.holds(self._rows, self._cursor, namespace, keys)
            recorded = [key for key, present in zip(keys, presences, strict=True) if present]
        if recorded:
            raise CorruptionError(
                f"{_named(namespace, recorded[0])} has no record, but the journal has events on it",
                hint=HINT,
                family="atoms" if namespace == "atoms" else "edges-from",
            )

    def counters(self) -> Counters:
        """Return the counters.

        Raises:
            CorruptionError: the counters contradict the ordinals, the predicates or the early facts.
        """
        rows, raw = self._rows, self._meta.get(COUNTERS)
        if self._counters is not None and raw == self._counters[0]:
            return self._counters[1]
        counters = decode_counters(raw)
        ordinal, predicates, early_facts = counters
        before = [ordinal_key(ordinal - 1)] if ordinal else []
        follows = rows.get(ordinal_key(ordinal)) is None and None not in rows.multi_get(before)
        found = [sum(1 for _ in rows.scan_prefix(prefix)) for prefix in (TYPE_BY_CODE, EARLY_FACT)]
        if not follows or found != [predicates, early_facts]:
            raise CorruptionError(
                f"the counters contradict the rows: the next ordinal is {ordinal}, and there are "
                f"{predicates} predicates and {early_facts} atoms with early facts",
                hint=HINT,
                family="meta",
            )
        self._counters = raw, counters
        return counters


def _pending_key(detail: Detail) -> bytes:
    """Return the key of `Evidence._last` for an event: the subject, with a prefix if the event is a fact."""
    subject = subject_key(detail)
    return EARLY_FACT + subject if isinstance(detail, FactDetail) else subject


def _named(namespace: str, key: bytes) -> str:
    return f"{'atom' if namespace == 'atoms' else 'edge'} {key.hex()}"


def _contradiction(namespace: str, key: bytes) -> CorruptionError:
    return CorruptionError(
        f"the record of {_named(namespace, key)} contradicts the last event on it",
        hint=HINT,
        family="atoms" if namespace == "atoms" else "edges-from",
    )
