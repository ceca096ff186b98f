"""The follower `records`, which updates the records when they are behind the journal.

Commands apply their events to the records (the fold) in the same batch that appends the events. This follower
calls the same fold in all other cases: a rebuild, the continuation of a rebuild after a crash, and a replay
into a scratch store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.base import Batch, Guard, Reader
from engine.followers.base import Cursor, Follower, encode_cursor
from engine.kernels import NATIVE
from engine.ledger.fold import Overlay, fold
from engine.ledger.journal import LogState
from engine.ledger.layout import COUNTERS, LOG, RECORD_PREFIXES, atom_key, cursor_key
from engine.ledger.records import Counters, Lookup, encode_counters, read_counters
from proofs.events import AtomDetail, Entry, EventKind, TypeDetail


class Records(Follower):
    """Maintains the records of atoms, edges and predicates, and the counters of ordinals and codes."""

    name = "records"
    version = 2
    prefixes = RECORD_PREFIXES

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Put the records and the counters that result from `entries` into `batch`."""
        overlay = Overlay(rows, batch)
        for entry in _fold_added(entries, overlay):
            fold(entry, overlay)
        batch.put(COUNTERS, encode_counters(count(entries, read_counters(rows))))


def _fold_added(entries: Sequence[Entry], rows: Overlay) -> Sequence[Entry]:
    """Put the records of atoms that are added for the first time; return the entries that remain to fold.

    If an atom was recorded before, or has an event before it is added (in a forged journal), put nothing.
    """
    if NATIVE is None:
        return entries
    added, records = NATIVE.added_records(list(entries))
    ids = set(added.values())
    keys = list(map(atom_key, added.values()))
    if not keys or len(ids) < len(keys) or any(raw is not None for raw in rows.multi_get(keys)):
        return entries
    rest = []
    for at, entry in enumerate(entries):
        if at in added:
            ids.discard(added[at])
        else:
            detail = entry.header.detail
            if isinstance(detail, AtomDetail) and detail.id in ids:
                return entries
            rest.append(entry)
    rows.batch.rows.update(records)
    return rest


def seal(batch: Batch, last: Entry, counters: Counters) -> None:
    """Put the cursor and the counters of the records into `batch`. `last` is the journal's last entry."""
    batch.put(COUNTERS, encode_counters(counters))
    cursor = Cursor(Records.version, last.header.seq + 1, last.leaf)
    batch.put(cursor_key(Records.name), encode_cursor(cursor))


def head_guards(rows: Lookup, log: LogState) -> tuple[Guard, Guard]:
    """Return the two guards of a batch of events: the log row and the cursor of the records.

    Both guards are needed, because a rebuild in another process changes the cursor but not the log row.
    Without a guard on the cursor, a commit could mark records as current although the rebuild has deleted
    them.
    """
    records = cursor_key(Records.name)
    return Guard(LOG, log.row), Guard(records, rows.get(records))


def count(entries: Iterable[Entry], counters: Counters) -> Counters:
    """Return the counters after `entries`: the next free ordinal and the next free predicate code."""
    next_ordinal, next_type = counters
    for entry in entries:
        detail = entry.header.detail
        if isinstance(detail, AtomDetail) and entry.header.kind in _NUMBERING:
            next_ordinal = max(next_ordinal, detail.ordinal + 1)
        elif isinstance(detail, TypeDetail):
            next_type = max(next_type, int.from_bytes(detail.code, "big") + 1)
    return Counters(next_ordinal, next_type)


_NUMBERING = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED})
