"""Reading the past: earlier states are not stored; they are computed from the journal on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import accumulate

from backends.base import Batch, Reader
from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.model import HistoryItem
from engine.base.validation import atom_id, integer, microseconds, show_id
from engine.ledger.fold import Overlay, fold
from engine.ledger.journal import decode_seq, entries_back, read_header, read_log
from engine.ledger.layout import ERASURE, payload_key
from engine.ledger.queries import get_record
from engine.ledger.records import AtomRecord, Lookup, read_atom, type_name
from engine.store.replay import replay, scratch_backend
from engine.store.store import Store
from proofs.events import AtomDetail, EdgeDetail, Entry, Header, TypeDetail
from proofs.subjects import ID_BYTES

AsOf = int | datetime
"""A moment of the journal: a seq, whose event is included, or a time, with all events up to it."""

MEMORY_EVENTS_MAX = 20_000
MEMORY_BYTES_MAX = 16 << 20
"""Bounds of a replay in memory: events, and bytes of payloads. A longer replay uses a temporary folder."""


def size_at(rows: Lookup, moment: AsOf) -> int:
    """Return the number of events at a moment: at least 1, the genesis.

    Raises:
        InvalidInputError: `moment` is neither a seq nor a time with a zone.
        NotFoundError: The journal does not reach that seq, or begins after that time.
    """
    size = read_log(rows).size
    if isinstance(moment, datetime):
        until = microseconds(moment, "as_of")
        if until < 0:
            raise InvalidInputError(f"as_of {moment.isoformat()} is before 1970")
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if read_header(rows, middle)[0].time <= until:
                low = middle + 1
            else:
                high = middle
        if not low:
            raise NotFoundError(f"no event is as old as {moment.isoformat()}: the journal begins later")
        return low
    if integer(moment, "as_of") >= size:
        raise NotFoundError(f"event {moment} is not in the journal, which has the events 0 to {size - 1}")
    return moment + 1


def subject_history(rows: Lookup, last: int) -> list[Entry]:
    """Return the events on one subject up to event `last`, which is one of them, the oldest first."""
    return list(entries_back(rows, last))[::-1]


def records_after(history: Iterable[Entry], size: int) -> Lookup:
    """Return the records that result from those events of `history` whose seq is less than `size`."""
    overlay = Overlay({}, Batch())
    for entry in history:
        if entry.header.seq < size:
            fold(entry, overlay)
    return overlay


def atom_record_at(rows: Lookup, record: AtomRecord, size: int) -> AtomRecord:
    """Return the record of an atom when the journal had `size` events, by walking `prev` and folding.

    Raises:
        NotFoundError: The atom was not recorded yet.
    """
    past = read_atom(records_after(subject_history(rows, record.last_seq), size), record.id)
    if past is None:
        raise NotFoundError(f"atom {show_id(record.id)} was not recorded yet at event {size - 1}")
    return past


def history(rows: Lookup, id: str) -> list[HistoryItem]:  # noqa: A002
    """Return every event on an atom, the oldest first.

    Raises:
        NotFoundError: The atom was never recorded.
    """
    last = get_record(rows, atom_id(id)).last_seq
    return [history_item(rows, entry) for entry in subject_history(rows, last)]


@contextmanager
def past_store(rows: Reader, size: int) -> Iterator[Store]:
    """Open the store as it was when its journal had `size` events, replayed into a scratch backend."""
    with scratch_backend(on_disk=not _fits_in_memory(rows, size)) as scratch:
        replay(rows, scratch, size)
        past = Store(scratch, None)
        past.erased_since = _erased_since(scratch, size)
        yield past


def _erased_since(rows: Reader, size: int) -> int | None:
    """Return the first later event that destroyed payloads of atoms within the first `size` events."""
    erasures = [
        decode_seq(raw, "erasure")
        for key, raw in rows.scan_prefix(ERASURE)
        if len(key) == len(ERASURE) + ID_BYTES
    ]
    return min((seq for seq in erasures if seq >= size), default=None)


def _fits_in_memory(rows: Reader, size: int) -> bool:
    if size > MEMORY_EVENTS_MAX:
        return False
    sizes = accumulate(len(raw) for _, raw in rows.scan(payload_key(0), payload_key(size)))
    return all(so_far <= MEMORY_BYTES_MAX for so_far in sizes)


def history_item(rows: Lookup, entry: Entry) -> HistoryItem:
    """Return an event in the form that callers see."""
    header = entry.header
    body = {} if entry.body is None else entry.body._asdict()
    if entry.body is None:
        body["destroyed"] = True
    detail = {name: _shown(value) for name, value in {**header.detail._asdict(), **body}.items()}
    for part_of_subject in ("id", "src", "dst", "type"):
        detail.pop(part_of_subject, None)
    return HistoryItem(
        seq=header.seq,
        time=header.time,
        kind=header.kind,
        actor=header.actor,
        subject=subject_name(rows, header),
        event_id=header.commitment.hex(),
        detail={name: value for name, value in detail.items() if name not in _SECRET and value is not None},
    )


_SECRET = frozenset({"id_key"})
"""Fields that are never shown: with `id_key`, guesses of a content could be tested against public ids."""


def _shown(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    return [_shown(item) for item in value] if isinstance(value, tuple) else value


def subject_name(rows: Lookup, header: Header) -> str:
    """Return an event's subject: an atom's id, an edge, a predicate's code, or an empty text."""
    detail = header.detail
    if isinstance(detail, AtomDetail):
        return show_id(detail.id)
    if isinstance(detail, EdgeDetail):
        return f"{show_id(detail.src)} {type_name(rows, detail.type)} {show_id(detail.dst)}"
    return detail.code.hex() if isinstance(detail, TypeDetail) else ""
