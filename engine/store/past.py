"""Reading earlier states of a store. They are not stored, but computed from the journal on demand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from backends.base import Reader
from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.times import microseconds
from engine.base.validation import atom_id, integer, show_id
from engine.ledger.journal import read_header, read_log
from engine.ledger.layout import ERASURE, decode_seq, payload_key
from engine.ledger.queries import get_record
from engine.ledger.records import AtomRecord, Lookup, read_atom, type_name
from engine.ledger.subject_history import records_after, subject_history
from engine.store.replay import replay, scratch_backend
from engine.store.store import Store
from proofs.events import AtomDetail, EdgeDetail, Entry, FactDetail, Header, TypeDetail
from proofs.leaves import ID_BYTES

if TYPE_CHECKING:
    from engine.base.model import HistoryItem

AsOf = int | datetime
"""A moment in the history of a store: the seq of the last event to include, or a time. With a time, all
events up to this time are included."""

MEMORY_EVENTS_MAX = 20_000
MEMORY_BYTES_MAX = 16 << 20
"""The maximum total size in bytes of the payloads that are replayed in main memory.

A replay of more bytes, or of more than MEMORY_EVENTS_MAX events, uses a temporary folder.
"""


def size_at(rows: Lookup, moment: AsOf) -> int:
    """Return the number of events in the journal at a moment. It is at least 1, because of the genesis event.

    Raises:
        InvalidInputError: `moment` is neither a seq nor a datetime with a time zone.
        NotFoundError: The journal has no event with that seq, or the first event is later than that time.
    """
    size = read_log(rows).size
    if isinstance(moment, datetime):
        until = microseconds(moment, "as_of")
        if until < 0:
            raise InvalidInputError(f"as_of {moment.isoformat()} is before 1970")
        if not (count := _events_before(rows, until + 1)):
            raise NotFoundError(f"the journal begins after {moment.isoformat()}")
        return count
    if integer(moment, "as_of") >= size:
        raise NotFoundError(f"event {moment} is not in the journal, which has the events 0 to {size - 1}")
    return moment + 1


def seq_from(rows: Lookup, moment: AsOf | None) -> AsOf | None:
    """Return the seq of the first event at the time `moment` or later.

    If `moment` is a seq or None, it is returned unchanged.

    Raises:
        InvalidInputError: `moment` is a datetime without a time zone.
    """
    if not isinstance(moment, datetime):
        return moment
    seq = _events_before(rows, microseconds(moment))
    return None if seq == read_log(rows).size else seq


def _events_before(rows: Lookup, time: int) -> int:
    """Return the number of events before a time in µs since 1970."""
    seqs = range(read_log(rows).size)
    return bisect_left(seqs, time, key=lambda seq: read_header(rows, seq)[0].time)


def atom_record_at(rows: Lookup, record: AtomRecord, size: int) -> AtomRecord:
    """Return the record of an atom after `size` events of the journal, computed from the atom's events.

    Raises:
        NotFoundError: The atom had not been recorded yet.
    """
    past = read_atom(records_after(subject_history(rows, record.last_seq), size), record.id)
    if past is None:
        raise NotFoundError(f"atom {show_id(record.id)} was not recorded yet at event {size - 1}")
    return past


def history(rows: Lookup, id: str) -> list[HistoryItem]:  # noqa: A002
    """Return all events that concern an atom, the oldest first.

    Raises:
        NotFoundError: The atom was never recorded.
    """
    last = get_record(rows, atom_id(id)).last_seq
    return [history_item(rows, entry) for entry in subject_history(rows, last)]


@contextmanager
def store_at(store: Store, moment: AsOf) -> Iterator[Store]:
    """Open the store as it was at a moment: a state that is kept, or else one that exists only in the block.

    Raises:
        NotFoundError: The journal has no event with that seq, or the first event is later than that time.
    """
    opened = past_store if store.past_states is None else store.past_states.opened
    with ExitStack() as stack:
        with store.backend.snapshot() as rows:
            past = stack.enter_context(opened(rows, size_at(rows, moment)))
        yield past


@contextmanager
def past_store(rows: Reader, size: int) -> Iterator[Store]:
    """Open the store as it was when its journal had `size` events, replayed into a temporary backend."""
    with scratch_backend(on_disk=memory_bytes(rows, size) is None) as scratch:
        replay(rows, scratch, size)
        past = Store(scratch)
        past.erased_since = erased_since(scratch, size)
        yield past


def erased_since(rows: Reader, size: int) -> int | None:
    """Return the seq of the first event that destroyed payloads of atoms, or None if there is no such event.

    Events whose seq is below `size` are ignored.
    """
    erasures = [
        decode_seq(raw, "erasure")
        for key, raw in rows.scan_prefix(ERASURE)
        if len(key) == len(ERASURE) + ID_BYTES
    ]
    return min((seq for seq in erasures if seq >= size), default=None)


def memory_bytes(rows: Reader, size: int) -> int | None:
    """Return the size in bytes of the first `size` payloads, or None if they are too large for memory."""
    if size > MEMORY_EVENTS_MAX:
        return None
    total = 0
    for _, raw in rows.scan(payload_key(0), payload_key(size)):
        total += len(raw)
        if total > MEMORY_BYTES_MAX:
            return None
    return total


def history_item(rows: Lookup, entry: Entry) -> HistoryItem:
    """Return an event in the form that is shown to callers."""
    header = entry.header
    body = {} if entry.body is None else entry.body._asdict()
    if entry.body is None:
        body["destroyed"] = True
    detail = {name: _shown(value) for name, value in {**header.detail._asdict(), **body}.items()}
    for part_of_subject in ("id", "src", "dst", "type"):
        detail.pop(part_of_subject, None)
    if header.origin is not None:
        detail["device"], detail["device_seq"] = show_id(header.origin.store_id), header.origin.seq
    from engine.base.model import HistoryItem

    return HistoryItem(
        seq=header.seq,
        time=header.time,
        kind=header.kind,
        actor=header.actor,
        subject=subject_name(rows, header),
        event_id=header.commitment.hex(),
        detail={name: value for name, value in detail.items() if name not in _SECRET and value is not None},
    )


_SECRET = frozenset({"id_key", "label_key", "row_key"})
"""The fields that are never shown to callers. With the `id_key`, a caller could guess an atom's content and
check the guess against the public id of the atom."""


def _shown(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    return [_shown(item) for item in value] if isinstance(value, tuple) else value


def subject_name(rows: Lookup, header: Header) -> str:
    """Return the subject of an event as text: an atom's id, an edge, a predicate's code, or an empty text."""
    detail = header.detail
    if isinstance(detail, (AtomDetail, FactDetail)):
        return "" if detail.id is None else show_id(detail.id)
    if isinstance(detail, EdgeDetail):
        return f"{show_id(detail.src)} {type_name(rows, detail.type)} {show_id(detail.dst)}"
    return detail.code.hex() if isinstance(detail, TypeDetail) else ""
