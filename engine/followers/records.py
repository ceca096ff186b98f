"""The follower `records`, which updates the records when they are behind the journal.

Commands apply their events to the records (the fold) in the same batch that appends the events. This follower
calls the same fold in all other cases: a rebuild, the continuation of a rebuild after a crash, and a replay
into a scratch store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.base import Batch, Reader
from engine.followers.base import Follower
from engine.ledger.appender import RECORDS_NAME, RECORDS_VERSION
from engine.ledger.fold import Overlay, fold
from engine.ledger.layout import COUNTERS, RECORD_PREFIXES
from engine.ledger.records import Counters, encode_counters, read_counters
from proofs.events import AtomDetail, Entry, FactDetail, TypeDetail


class Records(Follower):
    """Maintains the records of atoms, edges and predicates, and the counters."""

    name = RECORDS_NAME
    version = RECORDS_VERSION
    prefixes = RECORD_PREFIXES

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Put the records and the counters that result from `entries` into `batch`."""
        fold(entries, Overlay(rows, batch))
        batch.put(COUNTERS, encode_counters(count(entries, read_counters(rows))))


def count(entries: Iterable[Entry], counters: Counters) -> Counters:
    """Return the counters after `entries`."""
    next_ordinal, predicates, early_facts = counters
    for header, _, _ in entries:
        detail = header.detail
        if isinstance(detail, AtomDetail):
            if detail.ordinal >= next_ordinal:
                next_ordinal = detail.ordinal + 1
        elif isinstance(detail, TypeDetail):
            predicates += 1
        elif isinstance(detail, FactDetail) and detail.id is not None and header.prev is None:
            early_facts += 1  # a recorded atom has an event that a fact on it would name
    return Counters(next_ordinal, predicates, early_facts)
