"""The fold: the effect of each event on the records (SPEC: Records and the fold).

Live writes, catching up after reopening, `rebuild`, `verify-root` and reads of the past all call `fold` with
a run of events; a single event is a run of one. For each event, `fold` reads only the entry and the record of
its subject. Events are facts: `fold` does not validate events, and it never fails on an entry that decodes.
An event on an unknown subject changes nothing. An event whose payload is destroyed turns its subject into a
stub: a record in the state ERASED, computed from headers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from backends.base import Batch, Reader
from engine.base.native import NATIVE
from engine.ledger.layout import (
    atom_key,
    destroyed_key,
    early_fact_key,
    edge_from_key,
    edge_to_key,
    encode_seq,
    ordinal_key,
    type_code_key,
)
from engine.ledger.records import (
    AtomRecord,
    EdgeRecord,
    Lookup,
    encode_atom,
    encode_edge,
    read_atom,
    read_edge,
)
from proofs.events import (
    FACT_KINDS,
    AtomBody,
    AtomDetail,
    AtomNotedBody,
    EdgeBody,
    EdgeDetail,
    Entry,
    ErasedBody,
    EventKind,
    FactDetail,
    ReasonBody,
    TagsBody,
    TypeBody,
    TypeDetail,
)
from proofs.leaves import State, tag_identity

NO_ATOM = AtomBody("", None, "", (), (), None, None, "", None, 0, 0)
NO_EDGE = EdgeBody(bytes(4), b"")
"""The values of a stub's fields if the payload of the event is destroyed."""


class Overlay:
    """A view of the rows of `base` in which the writes of `batch` are already applied.

    The rows of `base` must not change. Several of them that are read together are kept.
    """

    __slots__ = ("base", "batch", "known")

    def __init__(self, base: Lookup, batch: Batch) -> None:
        self.base = base
        self.batch = batch
        self.known: dict[bytes, bytes | None] = {}
        """Rows of `base` that were read. Whoever has read some already may add them."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value that `key` has after the writes of the batch, or None if `key` has no value."""
        rows = self.batch.rows
        if key in rows:
            return rows[key]
        return self.known[key] if key in self.known else self.base.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the result of `get` for each of `keys`, in the same order."""
        rows, records = self.batch.rows, self.known
        unknown = [key for key in keys if key not in records and key not in rows]
        if unknown:
            read = (
                self.base.multi_get(unknown) if isinstance(self.base, Reader) else map(self.base.get, unknown)
            )
            records.update(zip(unknown, read, strict=True))
        return [rows[key] if key in rows else records[key] for key in keys]


def fold(entries: Sequence[Entry], rows: Overlay) -> None:
    """Apply consecutive events to the records, and put the changed records into the overlay's batch.

    A kernel computes the records of the atoms and edges that the events add, if they were never recorded.
    """
    if NATIVE is not None:
        added = NATIVE.added_records(list(entries))
        if added is not None:
            keys, records, rest = added
            # In a forged journal, an event without a predecessor may concern a subject that has a record.
            if not keys or rows.multi_get(keys).count(None) == len(keys):
                rows.batch.rows.update(records)
                entries = [entries[at] for at in rest]
    fold_twin(entries, rows)


def fold_twin(entries: Iterable[Entry], rows: Overlay) -> None:
    """Do the work of `fold` in Python, one event after the other."""
    for entry in entries:
        action = _FOLDS.get(entry.header.kind)
        if action is not None:
            action(entry, rows)


def _atom_added(entry: Entry, rows: Overlay) -> None:
    record = read_atom(rows, _atom(entry).id)
    seq, time = entry.header.seq, entry.time
    if record is None:
        _put_content(entry, rows, version=1, created_seq=seq, created=time)
    elif record.state is State.ERASED:
        _put_content(entry, rows, version=record.version + 1, created_seq=record.created_seq, created=time)


def _atom_revised(entry: Entry, rows: Overlay) -> None:
    record = read_atom(rows, _atom(entry).id)
    if record is not None:
        _put_content(
            entry,
            rows,
            version=record.version + 1,
            created_seq=record.created_seq,
            # The event may be the first version of the atom in another store.
            created=record.created if entry.header.origin is None else entry.time,
            updated=record.updated,
        )


def _version_noted(entry: Entry, rows: Overlay) -> None:
    if _change_atom(entry, rows, lambda record: record):
        detail = _atom(entry)
        rows.batch.put(ordinal_key(detail.ordinal), detail.id)


def _atom_noted(entry: Entry, rows: Overlay) -> None:
    body = entry.body
    if isinstance(body, AtomNotedBody) and body.reason is not None:
        _change_atom(entry, rows, lambda record: record)
    else:
        _put_last_seq(entry, _atom(entry).id, rows)


def _content_record(
    entry: Entry, *, version: int, created_seq: int, created: int, updated: int = 0
) -> AtomRecord:
    """Return the record of an atom after an event that gives the atom its whole content.

    If the payload of the event is destroyed, the record is a stub.
    """
    header, detail = entry.header, _atom(entry)
    payload_destroyed = not isinstance(entry.body, AtomBody)
    body = entry.body if isinstance(entry.body, AtomBody) else NO_ATOM
    return AtomRecord(
        id=detail.id,
        ordinal=detail.ordinal,
        state=State.ERASED if payload_destroyed else State.LIVE,
        version=version,
        created_seq=created_seq,
        payload_seq=header.seq,
        last_seq=header.seq,
        title=body.title,
        kind=body.kind,
        tags=body.tags,
        buckets=body.buckets,
        source=body.source,
        sequence=body.sequence,
        key=body.key,
        provenance=body.provenance,
        trust=body.trust,
        created=created if body.created is None else body.created,
        updated=max(updated, entry.time),
        tombstoned_at=entry.time if payload_destroyed else None,
        tombstoned_reason="",
        tombstoned_by="",
    )


def _put_content(
    entry: Entry, rows: Overlay, *, version: int, created_seq: int, created: int, updated: int = 0
) -> None:
    detail = _atom(entry)
    record = _content_record(
        entry, version=version, created_seq=created_seq, created=created, updated=updated
    )
    rows.batch.put(atom_key(detail.id), encode_atom(record))
    rows.batch.put(ordinal_key(detail.ordinal), detail.id)


def _atom_tombstoned(entry: Entry, rows: Overlay) -> None:
    _change_atom(
        entry,
        rows,
        lambda record: record._replace(
            state=State.TOMBSTONED,
            tombstoned_at=entry.time,
            tombstoned_reason=_reason(entry),
            tombstoned_by=entry.header.actor,
        ),
    )


def _atom_revived(entry: Entry, rows: Overlay) -> None:
    _change_atom(
        entry,
        rows,
        lambda record: record._replace(
            state=State.LIVE, tombstoned_at=None, tombstoned_reason="", tombstoned_by=""
        ),
    )


def _tags_added(entry: Entry, rows: Overlay) -> None:
    def add(record: AtomRecord) -> AtomRecord:
        later = (*_tags(entry), *record.tags)
        if entry.header.origin is not None:  # it states how the tags are spelt in all stores
            later = (*record.tags, *_tags(entry))
        spellings = {tag_identity(tag): tag for tag in later}
        return record._replace(tags=tuple(spellings[identity] for identity in sorted(spellings)))

    _change_atom(entry, rows, add)


def _tags_removed(entry: Entry, rows: Overlay) -> None:
    def remove(record: AtomRecord) -> AtomRecord:
        removed = set(map(tag_identity, _tags(entry)))
        return record._replace(tags=tuple(tag for tag in record.tags if tag_identity(tag) not in removed))

    _change_atom(entry, rows, remove)


def _change_atom(entry: Entry, rows: Overlay, change: Callable[[AtomRecord], AtomRecord]) -> bool:
    """Change the record of an atom, and return True; return False if the atom is not recorded."""
    detail = _atom(entry)
    record = read_atom(rows, detail.id)
    if record is None:
        return False
    if record.state is not State.ERASED:
        record = change(record)
    # The time of an event that happened in another store may be earlier.
    changed = record._replace(last_seq=entry.header.seq, updated=max(record.updated, entry.time))
    rows.batch.put(atom_key(detail.id), encode_atom(changed))
    return True


def _atom_erased(entry: Entry, rows: Overlay) -> None:
    header, detail = entry.header, _atom(entry)
    record = read_atom(rows, detail.id)
    if record is None:  # another store erased it, before this store heard of it
        record = _content_record(entry, version=1, created_seq=header.seq, created=0)
        rows.batch.put(ordinal_key(detail.ordinal), detail.id)
    stub = record._replace(
        **{name: getattr(NO_ATOM, name) for name in _BODY_FIELDS},
        state=State.ERASED,
        last_seq=header.seq,
        # Not the greater time: a destroyed payload says whether an `atom_noted` counted.
        updated=entry.time,
        tombstoned_at=entry.time,
        tombstoned_reason=entry.body.reason if isinstance(entry.body, ErasedBody) else "",
        tombstoned_by=header.actor,
    )
    rows.batch.put(atom_key(detail.id), encode_atom(stub))
    for content in entry.body.contents if isinstance(entry.body, ErasedBody) else ():
        rows.batch.put(destroyed_key(content), encode_seq(header.seq))


_BODY_FIELDS = tuple(name for name in AtomBody._fields if name in AtomRecord._fields)
"""The names of the fields that are both in an atom's record and in the body of an event. When the payload is
erased, these fields of the record get the values in `NO_ATOM`."""


def _type_registered(entry: Entry, rows: Overlay) -> None:
    detail, body = entry.header.detail, entry.body
    if isinstance(detail, TypeDetail) and isinstance(body, TypeBody):
        rows.batch.put(type_code_key(detail.code), body.name.encode())


def _edge_added(entry: Entry, rows: Overlay) -> None:
    detail = _edge(entry)
    _put_edge(_edge_record(entry, detail, read_edge(rows, *detail)), rows)


def _edge_record(entry: Entry, detail: EdgeDetail, before: EdgeRecord | None) -> EdgeRecord:
    """Return the record of an edge after an event that adds the edge.

    If the payload of the event is destroyed, the record is a stub. `before` is the previous record of the
    edge, or None if the edge is new.
    """
    header = entry.header
    payload_destroyed = not isinstance(entry.body, EdgeBody)
    body = entry.body if isinstance(entry.body, EdgeBody) else NO_EDGE
    # The time at which an erased edge was made may have been in a payload that is destroyed.
    kept = None if before is None or before.state is State.ERASED else before
    return EdgeRecord(
        src=detail.src,
        type=detail.type,
        dst=detail.dst,
        state=State.ERASED if payload_destroyed else State.LIVE,
        created_seq=header.seq if before is None else before.created_seq,
        payload_seq=header.seq,
        last_seq=header.seq,
        weight=body.weight,
        data=body.data,
        created_at=0 if payload_destroyed else entry.time if kept is None else kept.created_at,
        created_by=header.actor if kept is None else kept.created_by,
        tombstoned_at=entry.time if payload_destroyed else None,
        tombstoned_reason="",
        tombstoned_by="",
    )


def _edge_removed(entry: Entry, rows: Overlay) -> None:
    record = read_edge(rows, *_edge(entry))
    if record is not None:
        removed = record._replace(last_seq=entry.header.seq)
        if record.state is not State.ERASED:
            removed = removed._replace(
                state=State.TOMBSTONED,
                tombstoned_at=entry.time,
                tombstoned_reason=_reason(entry),
                tombstoned_by=entry.header.actor,
            )
        _put_edge(removed, rows)


def _edge_erased(entry: Entry, rows: Overlay) -> None:
    detail = _edge(entry)
    record = read_edge(rows, *detail) or _edge_record(entry, detail, None)
    stub = record._replace(
        weight=NO_EDGE.weight,
        data=NO_EDGE.data,
        state=State.ERASED,
        last_seq=entry.header.seq,
        created_at=0,
        tombstoned_at=entry.time,
        tombstoned_reason=_reason(entry),
        tombstoned_by=entry.header.actor,
    )
    _put_edge(stub, rows)


def _edge_noted(entry: Entry, rows: Overlay) -> None:
    record = read_edge(rows, *_edge(entry))
    if record is not None:
        _put_edge(record._replace(last_seq=entry.header.seq), rows)


def _fact(entry: Entry, rows: Overlay) -> None:
    detail, seq = entry.header.detail, entry.header.seq
    if not isinstance(detail, FactDetail) or detail.id is None:
        return
    if not _put_last_seq(entry, detail.id, rows):
        rows.batch.put(early_fact_key(detail.id), encode_seq(seq))


def _put_last_seq(entry: Entry, atom: bytes, rows: Overlay) -> bool:
    record = read_atom(rows, atom)
    if record is None:
        return False
    rows.batch.put(atom_key(atom), encode_atom(record._replace(last_seq=entry.header.seq)))
    return True


def _put_edge(record: EdgeRecord, rows: Overlay) -> None:
    # Both rows are always written together with the same bytes, so no reader can see half of an edge.
    raw = encode_edge(record)
    rows.batch.put(edge_from_key(record.src, record.type, record.dst), raw)
    rows.batch.put(edge_to_key(record.src, record.type, record.dst), raw)


def _atom(entry: Entry) -> AtomDetail:
    detail = entry.header.detail
    if not isinstance(detail, AtomDetail):
        raise TypeError(f"not an event on an atom: {entry.header.kind.name}")
    return detail


def _edge(entry: Entry) -> EdgeDetail:
    detail = entry.header.detail
    if not isinstance(detail, EdgeDetail):
        raise TypeError(f"not an event on an edge: {entry.header.kind.name}")
    return detail


def _reason(entry: Entry) -> str:
    return entry.body.reason if isinstance(entry.body, ReasonBody) else ""


def _tags(entry: Entry) -> tuple[str, ...]:
    return entry.body.tags if isinstance(entry.body, TagsBody) else ()


_FOLDS: dict[EventKind, Callable[[Entry, Overlay], None]] = {
    EventKind.ATOM_ADDED: _atom_added,
    EventKind.ATOM_REVISED: _atom_revised,
    EventKind.ATOM_TOMBSTONED: _atom_tombstoned,
    EventKind.ATOM_REVIVED: _atom_revived,
    EventKind.TAGS_ADDED: _tags_added,
    EventKind.TAGS_REMOVED: _tags_removed,
    EventKind.EDGE_TYPE_REGISTERED: _type_registered,
    EventKind.EDGE_ADDED: _edge_added,
    EventKind.EDGE_REMOVED: _edge_removed,
    EventKind.ERASED: _atom_erased,
    EventKind.EDGE_ERASED: _edge_erased,
    EventKind.VERSION_NOTED: _version_noted,
    EventKind.ATOM_NOTED: _atom_noted,
    EventKind.EDGE_NOTED: _edge_noted,
    **dict.fromkeys(FACT_KINDS, _fact),
}
"""Event kind → the function that applies it. Events of other kinds change no record."""
