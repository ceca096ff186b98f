"""The command that adds a relation which a sentence states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.commands import Add, Link, RegisterType
from engine.commands.atoms import is_destroyed
from engine.commands.transaction import Transaction, receipt
from engine.knowledge import forms
from engine.knowledge.dreaming.relations.predicates import SYMMETRIC
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_key
from proofs.codec import pack
from proofs.leaves import State

IMPLIED: Final = {forms.IMPLIED: True}
"""The `meta` of an entity that only relations name. The dreamer does not look for its name in texts."""


class End(NamedTuple):
    """An end of a relation."""

    name: str
    id: bytes | None
    """The entity that has this name or alias; None for the entity with exactly this name."""


@dataclass(slots=True)
class AddRelation:
    """A command that adds the edge for a relation, with the sentence as its evidence.

    The data of the edge names the atom (`source`), the event with the content that was read (`seq`) and the
    sentence, by its first character and the character after its last one (`at`). The text of the sentence is
    not copied, so that it does not outlive the content if the atom is erased.
    """

    atom: bytes
    payload_seq: int
    subject: End
    predicate: str
    object: End
    at: tuple[int, int]
    by_parse: bool = False
    """True if only the parse of the sentence shows the relation."""
    added: int = field(default=0, init=False)
    """The number of edges between entities that were added when the command was last decided: 0 or 1."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add the relation, missing ends, and mentions of both ends.

        Append nothing if the atom was revised, if an end was hidden or erased, or if the edge was ever
        recorded (for a symmetric predicate, in either direction).
        """
        first, self.added = len(tx.events), 0
        record = tx.atom(self.atom)
        unchanged = receipt(self.atom, State.LIVE)
        if record is None or record.state is not State.LIVE or record.payload_seq != self.payload_seq:
            return unchanged
        ends = [_found(tx, end) for end in (self.subject, self.object)]
        if None in ends or ends[0] == ends[1] or self._is_recorded(tx, *ends):
            return unchanged
        for end, found in zip((self.subject, self.object), ends, strict=True):
            if found is not None and tx.atom(found) is None:
                Add(end.name, kind=ENTITY, key=entity_key(end.name), meta=IMPLIED).decide(tx)
        RegisterType(self.predicate).decide(tx)
        data = pack({"source": self.atom, "seq": self.payload_seq, "at": list(self.at)})
        src, dst = (show_id(found) for found in ends if found is not None)
        Link(src, self.predicate, dst, data=data).decide(tx)
        self.added = 1
        self._mention(tx, src, dst)
        return receipt(self.atom, State.LIVE, *tx.events[first:])

    def _is_recorded(self, tx: Transaction, src: bytes | None, dst: bytes | None) -> bool:
        code = tx.type_code(self.predicate)
        if code is None or src is None or dst is None:
            return False
        if tx.edge(src, code, dst) is not None:
            return True
        return self.predicate in SYMMETRIC and tx.edge(dst, code, src) is not None

    def _mention(self, tx: Transaction, *ends: str) -> None:
        RegisterType(MENTIONS).decide(tx)
        code = tx.type_code(MENTIONS)
        for end in ends:
            target = bytes.fromhex(end.replace("-", ""))
            if code is not None and target != self.atom and tx.edge(self.atom, code, target) is None:
                Link(show_id(self.atom), MENTIONS, end).decide(tx)


def _found(tx: Transaction, end: End) -> bytes | None:
    """Return the id of the entity at an end, which may still be missing. Return None if it was removed."""
    if end.id is None and tx.screened(end.name, "entity name") != end.name:
        return None
    atom = entity_id(tx.id_key, end.name) if end.id is None else end.id
    record = tx.atom(atom)
    if record is None:
        gone = tx.may_be_destroyed() and is_destroyed(tx.rows, tx.id_key, end.name)
        return None if gone else atom
    return atom if record.kind == ENTITY and record.state is State.LIVE else None
