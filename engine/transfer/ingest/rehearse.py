"""Deciding without writing: what commands would append, were they applied now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.base import Batch
from engine.base.model import Receipt
from engine.commands import Command, Transaction
from engine.ledger.fold import Overlay
from engine.ledger.journal import REHEARSED, read_log
from engine.ledger.layout import JOURNAL, PAYLOAD
from engine.store.store import Store
from proofs.events import AtomBody, AtomDetail


class Rehearsal:
    """A store as it would be, as far as ingest asks: records and log, on top of what is there.

    Journal rows that were rehearsed are forgotten, so that memory is bounded by the records alone, some
    500 bytes each: a command must not read the content of an atom that an earlier one rehearsed. Ingest
    decides on each atom at most once, and after that only on edges.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept = Batch()
        self.rows = Overlay(store.backend, self._kept)
        """Records as they would be."""
        self.sources: dict[str, set[bytes]] = {}
        """The atoms that would be new or revised, by source."""

    def apply_many(self, commands: Iterable[Command], *, actor: str) -> Iterator[Receipt]:
        """As `Engine.apply_many`, one at a time and without writing; seqs and ids of events mean nothing.

        Raises:
            EngineError: what applying them would raise.
        """
        for command in commands:
            with self._store.backend.snapshot() as snapshot:
                rows = Overlay(snapshot, self._kept)
                tx = Transaction(rows, read_log(rows), self._store.identity.id_key, REHEARSED, actor)
                receipt = command.decide(tx)
                if tx.entries:
                    self._keep(tx)
            yield receipt

    def _keep(self, tx: Transaction) -> None:
        rows = tx.finish().rows
        self._kept.rows.update(
            (key, row) for key, row in rows.items() if not key.startswith((JOURNAL, PAYLOAD))
        )
        for entry in tx.entries:
            detail, body = entry.header.detail, entry.body
            if isinstance(detail, AtomDetail) and isinstance(body, AtomBody) and body.source is not None:
                self.sources.setdefault(body.source, set()).add(detail.id)
