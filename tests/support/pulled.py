"""Commands whose events take in events of another store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from engine.base.errors import ConflictError
from engine.base.model import EventRef, Receipt
from engine.commands.facts import RecordForeignHead
from engine.commands.transaction import Command, Transaction, receipt
from proofs.events import AtomBody, AtomDetail, Body, Detail, EdgeDetail, EventKind, Origin
from proofs.leaves import State

LOG_ROOT = bytes([7] * 32)
"""The root of the other store's log, as its head says."""
STUBBORN = frozenset({EventKind.ERASED, EventKind.EDGE_ERASED, EventKind.ATOM_NOTED, EventKind.EDGE_NOTED})
"""The kinds of events that are possible on an erased subject, besides those that add it again."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """Run a command, each event of which has this origin; then record the head of the other store."""

    command: Command
    origin: Origin

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events of the command and, if there are any, the head."""
        receipt = self.command.decide(_WithOrigin(tx, self.origin))  # type: ignore[arg-type]
        if not receipt.changed:
            return receipt
        head = RecordForeignHead(self.origin.store_id, self.origin.seq + 1, LOG_ROOT).decide(tx)
        return replace(receipt, events=receipt.events + head.events)


class _WithOrigin:
    """A transaction that gives each event an origin."""

    def __init__(self, tx: Transaction, origin: Origin) -> None:
        self._tx, self._origin = tx, origin

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def append(self, kind: EventKind, prev: int | None, detail: Detail, body: Body) -> EventRef:
        """Append one event."""
        return self._tx.append(kind, prev, detail, body, self._origin)


@dataclass(frozen=True, slots=True)
class TakenIn:
    """Append one event on a subject, as far as the rules of the journal allow one with an origin."""

    kind: EventKind
    subject: bytes | EdgeDetail
    body: Body

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event. `Pulled` gives it an origin.

        Raises:
            ConflictError: The event is not possible in the state of its subject.
        """
        subject = self.subject
        record = tx.edge(*subject) if isinstance(subject, EdgeDetail) else tx.atom(subject)
        if not self._is_allowed(None if record is None else record.state):
            raise ConflictError(f"{self.kind.word} is not possible here")
        if isinstance(subject, EdgeDetail):
            prev = None if record is None else record.last_seq
            return receipt("", State.LIVE, tx.append(self.kind, prev, subject, self.body))
        return receipt(subject, State.LIVE, self._append(tx, subject))

    def _append(self, tx: Transaction, atom: bytes) -> EventRef:
        record = tx.atom(atom)
        is_new = isinstance(self.body, AtomBody) or record is None
        ordinal = tx.next_ordinal if record is None or is_new else record.ordinal
        replaced = record.ordinal if record and self.kind is EventKind.ATOM_REVISED else None
        prev = tx.last_event(atom) if record is None else record.last_seq
        return tx.append(self.kind, prev, AtomDetail(atom, ordinal, replaced), self.body)

    def _is_allowed(self, state: State | None) -> bool:
        kind = self.kind
        if kind is EventKind.ATOM_ADDED:
            return state in {None, State.ERASED}
        if kind is EventKind.ATOM_REVIVED:
            return state is State.TOMBSTONED
        if state is None or state is State.ERASED:
            allowed = {EventKind.EDGE_ADDED, EventKind.ERASED, EventKind.EDGE_ERASED}
            return kind in (allowed if state is None else STUBBORN | {EventKind.EDGE_ADDED})
        # An erasure of what is there destroys payloads, which this command does not do.
        return kind not in {EventKind.ERASED, EventKind.EDGE_ERASED}
