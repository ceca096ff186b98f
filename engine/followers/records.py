"""The records as a projection: how they are made when they are not up to date.

Commands fold into the records in the batch that appends; this is the other way the same fold is
reached: finishing after a crash in a rebuild, rebuilding, replaying into a scratch store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.base import Batch, Guard, Reader
from engine.followers.base import Cursor, Follower, encode_cursor
from engine.ledger.fold import Overlay, fold
from engine.ledger.journal import LogState
from engine.ledger.layout import COUNTERS, LOG, RECORD_PREFIXES, cursor_key
from engine.ledger.records import Counters, Lookup, encode_counters, read_counters
from proofs.events import AtomDetail, Entry, EventKind, TypeDetail


class Records(Follower):
    """Atoms, edges and predicates, with the counters that number the next ones."""

    name = "records"
    version = 1
    prefixes = RECORD_PREFIXES

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Fold `entries` into the records."""
        overlay = Overlay(rows, batch)
        for entry in entries:
            fold(entry, overlay)
        batch.put(COUNTERS, encode_counters(count(entries, read_counters(rows))))


def seal(batch: Batch, last: Entry, counters: Counters) -> None:
    """Say in `batch` that the records are those of the journal up to `last`: their cursor and counters."""
    batch.put(COUNTERS, encode_counters(counters))
    cursor = Cursor(Records.version, last.header.seq + 1, last.leaf)
    batch.put(cursor_key(Records.name), encode_cursor(cursor))


def head_guards(rows: Lookup, log: LogState) -> tuple[Guard, Guard]:
    """What a batch of events rests on: the head, and records that are those of this head.

    Both, because a rebuild in another process moves only the cursor: a commit on top of records that
    it has swept away would call them current.
    """
    records = cursor_key(Records.name)
    return Guard(LOG, log.row), Guard(records, rows.get(records))


def count(entries: Iterable[Entry], counters: Counters) -> Counters:
    """The counters after `entries`: one beyond the highest number that was given."""
    next_ordinal, next_type = counters
    for entry in entries:
        detail = entry.header.detail
        if isinstance(detail, AtomDetail) and entry.header.kind in _NUMBERING:
            next_ordinal = max(next_ordinal, detail.ordinal + 1)
        elif isinstance(detail, TypeDetail):
            next_type = max(next_type, int.from_bytes(detail.code, "big") + 1)
    return Counters(next_ordinal, next_type)


_NUMBERING = frozenset({EventKind.ATOM_ADDED, EventKind.ATOM_REVISED})
