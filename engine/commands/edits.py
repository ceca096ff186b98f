"""Record a text that a person edited in a copy of the store, such as a page of the mirror.

The copy may be older than the store. If the atom was changed in the store after the copy was made, its
present text is kept: the edited text becomes a separate atom, and the two atoms are in conflict
(`engine.commands.conflicts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from engine.base.errors import ConflictError
from engine.base.model import Receipt
from engine.commands.atoms import Add, Revise, recorded
from engine.commands.conflicts import CONFLICTS_WITH
from engine.commands.reconcile import UpsertEdge
from engine.commands.transaction import Transaction, receipt
from engine.ledger.entities import ENTITY
from engine.ledger.journal import entries_back
from engine.ledger.records import AtomRecord, id_of_occurrence
from proofs.events import AtomBody
from proofs.leaves import State


@dataclass(frozen=True, slots=True)
class TakeEdit:
    """Revise an atom with a text from an edited copy, unless the atom changed since the copy was made."""

    atom: str
    before: str
    """The content of the atom in the copy before it was edited."""
    after: str
    """The edited content."""
    size: int
    """The number of events in the store when the copy was made."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that revises the atom, or the events that record a conflict.

        If the atom had the edited content at any time after the copy was made, the edit was already recorded,
        and no event is appended.

        Returns:
            The receipt. It contains the id of the atom with the edited text.

        Raises:
            NotFoundError: The atom was never recorded.
            ConflictError: The atom was erased, or it is an entity that was changed in the store.
            RefusedError: The edited content was erased earlier.
        """
        record = recorded(tx, self.atom)
        if record.state is State.ERASED:
            raise ConflictError(f"atom {self.atom} was erased; its text cannot be edited")
        present = tx.body(record)
        after = tx.screened(self.after, "content")
        if _had(tx, record, after, self.size):
            return receipt(record.id, record.state)
        if record.state is State.LIVE and present.content == self.before:
            return Revise(self.atom, after).decide(tx)
        if record.kind == ENTITY:
            raise ConflictError(f"atom {self.atom} is an entity that was changed in the store since")
        return _keep_both(tx, record, present, after)


def _keep_both(tx: Transaction, record: AtomRecord, present: AtomBody, content: str) -> Receipt:
    """Add the edited text as a second atom, and record the conflict between the two atoms."""
    code = tx.type_code(CONFLICTS_WITH)
    for occurrence in count():
        atom = id_of_occurrence(tx.id_key, present.source, content, occurrence)
        other = tx.atom(atom)
        if other is None:
            break
        if code is not None and tx.edge(record.id, code, atom) is not None:
            return receipt(atom, other.state)  # the conflict was recorded before, and perhaps settled
    wanted = Add(
        content, present.title, present.kind, record.tags, present.buckets, present.source, present.sequence,
        present.provenance, present.trust, record.created, occurrence, folder=present.folder,
    )  # fmt: skip
    added = wanted.decide(tx)
    joined = UpsertEdge(record.id, CONFLICTS_WITH, atom).decide(tx)
    return Receipt(added.subject, added.events + joined.events, added.state)


def _had(tx: Transaction, record: AtomRecord, content: str, size: int) -> bool:
    """Return True if the atom has this content now, or had it at event `size` or later."""
    for header, body, _ in entries_back(tx.rows, record.payload_seq):
        if isinstance(body, AtomBody):
            if body.content == content:
                return True
            if header.seq < size:
                return False
    return False
