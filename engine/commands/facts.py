"""Events that record what this version does not interpret: facts, and states of other stores.

No public method runs these commands. Their data does not pass the filter for secrets, because a changed byte
could make it meaningless.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.base import limits
from engine.base.errors import InvalidInputError, LimitError
from engine.base.model import Receipt
from engine.base.validation import atom_id, integer
from engine.commands.transaction import Transaction, receipt
from engine.ledger.journal import read_identity
from proofs.events import (
    FACT_KINDS,
    EventKind,
    FactBody,
    FactDetail,
    ForeignHeadBody,
    ForeignHeadDetail,
)
from proofs.hashing import DIGEST_BYTES, STORE_ID_BYTES
from proofs.leaves import State


@dataclass(frozen=True, slots=True)
class AppendFact:
    """Append a fact, in general or about an atom. A repeated fact is another event."""

    kind: int
    """The number of the kind of event, 32 to 63."""
    atom: str | None
    """The id of the atom, which need not be recorded, or None."""
    data: bytes
    """Opaque bytes, at most 1 MiB. Erasing the atom destroys them."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event.

        Raises:
            InvalidInputError: The kind is not one of a fact, or the id is not valid.
            LimitError: There are too many bytes.
        """
        if self.kind not in FACT_KINDS:
            raise InvalidInputError(f"the kind of a fact must be 32 to 63, not {self.kind}")
        if len(self.data) > limits.FACT_BYTES_MAX:
            raise LimitError(
                f"the fact has {len(self.data)} bytes; at most {limits.FACT_BYTES_MAX} are allowed"
            )
        atom = None if self.atom is None else atom_id(self.atom)
        prev = None if atom is None else tx.last_event(atom)
        event = tx.append(EventKind(self.kind), prev, FactDetail(atom), FactBody(self.data))
        return receipt("" if atom is None else atom, State.LIVE, event)


@dataclass(frozen=True, slots=True)
class RecordForeignHead:
    """Record that this store saw another store in the state with this log root."""

    store_id: bytes
    size: int
    """The number of events of the other store, at least 1."""
    log_root: bytes
    root: bytes | None = None
    """The overall root at this size, if it is known."""
    note: str | None = None
    """The checkpoint note with this head, if there is one."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event.

        Raises:
            InvalidInputError: The head is of this store, or a field is not valid.
            LimitError: The size is above the largest size, or the note is too long.
        """
        roots = (self.log_root, self.root)
        if len(self.store_id) != STORE_ID_BYTES or any(
            r is not None and len(r) != DIGEST_BYTES for r in roots
        ):
            raise InvalidInputError("a store id has 16 bytes, and a root has 32")
        if self.store_id == read_identity(tx.rows).store_id:
            raise InvalidInputError("the head is of this store; only heads of other stores are recorded")
        if integer(self.size, "size", limits.SEQ_MAX + 1) < 1:
            raise InvalidInputError("a store has at least one event")
        if self.note is not None and len(self.note.encode()) > limits.NOTE_BYTES_MAX:
            raise LimitError(f"the note is over {limits.NOTE_BYTES_MAX} bytes")
        detail = ForeignHeadDetail(self.store_id, self.size, self.log_root, self.root)
        return receipt(
            "", State.LIVE, tx.append(EventKind.FOREIGN_HEAD, None, detail, ForeignHeadBody(self.note))
        )
