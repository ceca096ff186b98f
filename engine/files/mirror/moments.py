"""The store as it was when a mirror was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backends.base import Reader
from engine.ledger.journal import read_header, read_log
from engine.store.past import past_store
from engine.store.store import Store
from proofs.events import ERASING_KINDS


@contextmanager
def store_at(store: Store, rows: Reader, size: int) -> Iterator[tuple[Store, Reader]]:
    """Yield the store as it was after `size` events, and a snapshot with all followers at that event."""
    if read_log(rows).size == size:
        with store.view(*store.followers) as now:
            if read_log(now).size == size:
                yield store, now
                return
    with past_store(rows, size) as past, past.view(*past.followers) as then:
        yield past, then


def erased_since(rows: Reader, start: int, stop: int) -> int | None:
    """Return the first event at or after `start` that destroyed content, or None.

    The states of the store before this event cannot be rebuilt.
    """
    return next((seq for seq in range(start, stop) if read_header(rows, seq)[0].kind in ERASING_KINDS), None)
