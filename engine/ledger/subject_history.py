"""The events on one subject, and the records that result from the first of these events."""

from __future__ import annotations

from collections.abc import Iterable

from backends.base import Batch
from engine.ledger.fold import Overlay, fold
from engine.ledger.journal import entries_back
from engine.ledger.records import Lookup
from proofs.events import Entry


def subject_history(rows: Lookup, last: int) -> list[Entry]:
    """Return, in order, the events up to `last` on the same atom, edge or predicate as event `last`."""
    return list(entries_back(rows, last))[::-1]


def records_after(history: Iterable[Entry], size: int) -> Lookup:
    """Return the records that result from the events in `history` whose seq is less than `size`."""
    overlay = Overlay({}, Batch())
    fold([entry for entry in history if entry.header.seq < size], overlay)
    return overlay
