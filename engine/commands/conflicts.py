"""Record, list and settle conflicts between files and changes by people (docs/editing.md).

A conflict arises if a text in a file changes after a different actor has revised or hidden its atom. Both
versions are kept: the new text of the file becomes a separate atom. An edge `conflicts_with` leads from this
atom to the other atom. The conflict is settled when the edge is removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from backends.base import Reader
from engine.base.errors import ConflictError, InvalidInputError, RefusedError
from engine.base.model import Atom, Receipt
from engine.base.validation import atom_id, show_id
from engine.commands.atoms import Add, Tombstone, recorded
from engine.commands.edges import Unlink
from engine.commands.merge import Merge
from engine.commands.reconcile import UpsertAtom, UpsertEdge
from engine.commands.transaction import Transaction, receipt
from engine.ledger.queries import atom_of, edges_of_type, get_record, recorded_type_code
from proofs.leaves import State

CONFLICTS_WITH: Final = "conflicts_with"
"""The type of the edges from the text of a file to the atom that a different actor had revised or hidden."""
CHOICES: Final = ("file", "hand", "both")
"""The values of `Settle.keep`: keep the text of the file, the text that was changed by hand, or both."""


@dataclass(frozen=True, slots=True)
class KeepBoth:
    """Add the text of a file as a separate atom instead of revising an atom, and record the conflict."""

    wanted: Add
    atom: bytes
    """The atom that a different actor revised or hid."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add the atom and the edge; none if both are recorded."""
        added = UpsertAtom(self.wanted).decide(tx)
        joined = UpsertEdge(atom_id(added.subject), CONFLICTS_WITH, self.atom).decide(tx)
        return Receipt(added.subject, added.events + joined.events, added.state)


@dataclass(frozen=True, slots=True)
class Settle:
    """Settle the conflict between an atom with the text of a file and an atom that was changed by hand.

    If both atoms are live, the atom that is not kept is merged into the other atom; otherwise it is hidden.
    With `both`, only the edge between them is removed.
    """

    file: str
    """The id of the atom with the text of the file."""
    hand: str
    """The id of the atom that was changed by hand."""
    keep: str
    """One of `CHOICES`."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that settle the conflict.

        Raises:
            InvalidInputError: `keep` is not one of `CHOICES`.
            NotFoundError: One of the atoms was never recorded.
            ConflictError: There is no conflict between the two atoms.
            RefusedError: `keep` is `file`, but the text is no longer in a file: both atoms would be hidden.
        """
        if self.keep not in CHOICES:
            raise InvalidInputError(f"keep must be {', '.join(CHOICES)} or device")
        file, hand = recorded(tx, self.file), recorded(tx, self.hand)
        code = tx.type_code(CONFLICTS_WITH)
        edge = None if code is None else tx.edge(file.id, code, hand.id)
        if edge is None or edge.state is not State.LIVE:
            raise ConflictError(
                f"there is no conflict between atom {show_id(file.id)} and atom {show_id(hand.id)}",
                hint="`engine conflicts` lists the conflicts",
            )
        if self.keep == "file" and file.state is not State.LIVE and hand.state is State.LIVE:
            raise RefusedError(
                f"atom {show_id(file.id)} is {file.state.name.lower()}; if it were kept, both texts would be "
                "hidden",
                hint="use `--keep hand`; to hide the other text, too, use `engine tombstone` after that",
            )
        first = len(tx.events)
        Unlink(show_id(file.id), CONFLICTS_WITH, show_id(hand.id), f"settled: kept {self.keep}").decide(tx)
        if self.keep == "both":
            return receipt(file.id, file.state, *tx.events[first:])
        winner, other = (file, hand) if self.keep == "file" else (hand, file)
        if winner.state is State.LIVE and other.state is State.LIVE:
            Merge(show_id(winner.id), show_id(other.id), force=True).decide(tx)
        elif other.state is State.LIVE:
            Tombstone(show_id(other.id), f"settled: kept {show_id(winner.id)}").decide(tx)
        return receipt(winner.id, winner.state, *tx.events[first:])


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict between two atoms: one has the text of a file, and the other had been changed by hand."""

    file: Atom
    """The atom with the text of the file."""
    hand: Atom
    """The atom that was revised or hidden by hand."""


def conflicts(rows: Reader) -> list[Conflict]:
    """Return the conflicts that are not settled, sorted by source and position."""
    code = recorded_type_code(rows, CONFLICTS_WITH)
    if code is None:
        return []
    pairs = []
    for edge in edges_of_type(rows, code):
        if edge.state is State.LIVE:
            file, hand = (atom_of(rows, get_record(rows, end)) for end in (edge.src, edge.dst))
            pairs.append(Conflict(file, hand))
    return sorted(pairs, key=lambda one: (one.file.source or "", one.file.sequence or 0, one.file.id))
