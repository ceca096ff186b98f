"""A corrected text takes the place of another, which is kept and answers no longer (SPEC: Records)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.base import limits
from engine.base import validation as border
from engine.base.errors import ConflictError, InvalidInputError
from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.commands.atoms import Tag, live
from engine.commands.base import Transaction, receipt
from engine.commands.edges import Link
from proofs.codec import pack
from proofs.leaves import EdgeType, State

SUPERSEDED: Final = "superseded"
"""The tag of an atom that another one took the place of: no answer to a question unless asked for."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """Have the atom `new` stand for `old`, which is kept, and no longer recalled unless asked for.

    `old` gets the tag `superseded`, and `new` an edge `supersedes` to it with the reason in its data.
    Taking the tag off, or the edge away, is all it takes to have it back.
    """

    old: str
    new: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where both are there.

        Raises:
            NotFoundError: one of them was never recorded.
            ConflictError: one of them is hidden, or the old one supersedes the new one.
        """
        reason = border.line(self.reason, "reason", limits.REASON_BYTES_MAX)
        old, new = live(tx, self.old, "supersede"), live(tx, self.new, "supersede by")
        if old.id == new.id:
            raise InvalidInputError(f"atom {show_id(old.id)} cannot supersede itself")
        back = tx.edge(old.id, bytes([EdgeType.SUPERSEDES]), new.id)
        if back is not None and back.state is State.LIVE:
            raise ConflictError(
                f"atom {show_id(old.id)} supersedes {show_id(new.id)}",
                hint="take that back first: `engine history` of both says which events to revert",
            )
        first = len(tx.entries)
        data = pack({"reason": reason}) if reason else b""
        Link(show_id(new.id), EdgeType.SUPERSEDES, show_id(old.id), data=data).decide(tx)
        Tag(show_id(old.id), (SUPERSEDED,)).decide(tx)
        return receipt(old.id, State.LIVE, *tx.entries[first:])
