"""Rehearsals: commands are carried out as they would be, on top of a store, and everything is forgotten.

A dry run is the run itself on such a store, so it counts exactly what the run would do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import merge
from itertools import groupby
from operator import itemgetter

from backends.base import (
    Backend,
    Batch,
    Capabilities,
    Guards,
    Reader,
    Row,
    Snapshot,
    check_batch,
    check_guards,
    guards_of,
)
from engine.followers.base import Follower
from engine.ledger.journal import DRY_RUN_SOURCES
from engine.store.replay import scratch_backend
from engine.store.store import Store

_DELETED = b"\x00"
_PUT = b"\x01"


@contextmanager
def dry_run_store(store: Store, *, when: bool = True) -> Iterator[Store]:
    """A store that takes commands as `store` does now, and forgets them at the end of the block.

    What is written goes to a temporary folder; times, seqs and ids of events mean nothing.
    `store` is only read, as of one moment. With `when` false it is given itself.
    """
    if not when:
        yield store
        return
    with store.view() as rows, scratch_backend(on_disk=True) as scratch:
        rehearsed = _DryRunStore(Layers(rows, scratch), DRY_RUN_SOURCES, finish=False, check=False)
        if store.secret_filter is not None:
            rehearsed.secret_filter = type(store.secret_filter)(store.secret_filter.policy)
        yield rehearsed


class _DryRunStore(Store):
    """Nobody asks a rehearsal for roots or ranks, so only the tags follow."""

    @property
    def followers(self) -> tuple[Follower, ...]:
        return (self.tags,)


class _Both(Reader):
    """Rows of `upper` before those of `lower`."""

    def __init__(self, lower: Reader, upper: Reader) -> None:
        self._lower = lower
        self._upper = upper

    def get(self, key: bytes) -> bytes | None:
        marked = self._upper.get(key)
        if marked is None:
            return self._lower.get(key)
        return None if marked == _DELETED else marked[1:]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        upper = self._upper.scan(start, end, reverse=reverse)
        lower = ((key, _PUT + value) for key, value in self._lower.scan(start, end, reverse=reverse))
        # Of equal keys, the row of the layer that is named first comes first.
        rows = groupby(merge(upper, lower, key=itemgetter(0), reverse=reverse), key=itemgetter(0))
        return ((key, marked[1:]) for key, found in rows if (marked := next(found)[1]) != _DELETED)


class _Snapshot(_Both, Snapshot):
    def __init__(self, lower: Reader, upper: Snapshot) -> None:
        super().__init__(lower, upper)
        self._opened = upper

    def close(self) -> None:
        self._opened.close()


class Layers(_Both, Backend):
    """A backend that keeps what is written apart from the rows below. It belongs to one process."""

    name = "rehearsal"
    capabilities = Capabilities(durable=False, multi_process=False, persistent=False)

    def __init__(self, lower: Reader, upper: Backend) -> None:
        super().__init__(lower, upper)
        self._written = upper
        self._lock = threading.Lock()

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Put rows over those below."""
        del durable
        check_batch(batch)
        marked = Batch()
        for key, value in batch.rows.items():
            marked.put(key, _DELETED if value is None else _PUT + value)
        with self._lock:
            check_guards(guards_of(guard), self.get)
            self._written.write(marked, durable=False)

    def purge(self) -> None:
        """Nothing to do: it is all gone afterwards."""

    def snapshot(self) -> Snapshot:
        """Both layers as they are now; what is below must not change."""
        return _Snapshot(self._lower, self._written.snapshot())

    def close(self) -> None:
        """Let go of what was written; the rows below belong to somebody else."""
        self._written.close()
