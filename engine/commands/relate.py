"""Triples in words: `daemon → listens_on → unix_socket` (SPEC: Entities).

Entities are named, not looked up: each is made the first time its name is used.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.base import validation as border
from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from engine.base.model import Receipt
from engine.base.validation import atom_id, show_id
from engine.commands.atoms import Add, Revive, live
from engine.commands.base import Transaction, receipt
from engine.commands.edges import Link, RegisterType, Unlink
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_key, entity_name, predicate
from proofs.codec import pack
from proofs.leaves import State


@dataclass(frozen=True, slots=True)
class Relate:
    """Have an edge `predicate` from the entity `subject` to the entity `object`.

    Entities and predicate are made where they are missing, revived where they are hidden. With `source`,
    the atom that says so, the edge's data names it, and it has an edge `mentions` to both entities.
    """

    subject: str
    predicate: str
    object: str
    source: str | None = None
    weight: float = 1.0
    force: bool = False
    """Also entities that were erased."""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where all of it is there.

        Raises:
            InvalidInputError: a name or the predicate breaks a rule, or both names are one entity's.
            NotFoundError: the source was never recorded.
            ConflictError: the source is hidden, or an atom of another kind has an entity's key.
            RefusedError: an entity was erased, or an atom with its name as content, and `force` is not set.
        """
        names = (
            entity_name(tx.screened(entity_name(self.subject), "entity name")),
            entity_name(tx.screened(entity_name(self.object), "entity name")),
        )
        kind = predicate(self.predicate)
        source = None if self.source is None else live(tx, self.source, "relate from")
        first = len(tx.entries)
        ends = [_have(tx, name, force=self.force) for name in names]
        _refuse_one(ends, names)
        RegisterType(kind).decide(tx)
        data = b"" if source is None else pack({"source": source.id})
        edge = Link(ends[0], kind, ends[1], self.weight, data).decide(tx)
        if source is not None:
            RegisterType(MENTIONS).decide(tx)
            for end in ends:
                if atom_id(end) != source.id:
                    Link(show_id(source.id), MENTIONS, end).decide(tx)
        return receipt(edge.subject, State.LIVE, *tx.entries[first:])


@dataclass(frozen=True, slots=True)
class Unrelate:
    """Have the edge `predicate` between two entities hidden, and kept; the entities stay."""

    subject: str
    predicate: str
    object: str
    reason: str = ""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where there is no such live edge.

        Raises:
            NotFoundError: there never was such an entity or predicate.
        """
        names = entity_name(self.subject), entity_name(self.object)
        ends = []
        for name in names:
            atom = entity_id(tx.id_key, name)
            if tx.atom(atom) is None:
                raise NotFoundError(f"there never was an entity {border.quoted(name)}")
            ends.append(show_id(atom))
        _refuse_one(ends, names)
        return Unlink(ends[0], predicate(self.predicate), ends[1], self.reason).decide(tx)


def _have(tx: Transaction, name: str, *, force: bool) -> str:
    """The id of the live entity of this name, made or revived where it takes that."""
    atom = entity_id(tx.id_key, name)
    record = tx.atom(atom)
    if record is None or record.state is State.ERASED:
        return Add(name, kind=ENTITY, key=entity_key(name), force=force).decide(tx).subject
    if record.kind != ENTITY:
        raise ConflictError(
            f"atom {show_id(atom)} has the key of the entity {border.quoted(name)} and is a {record.kind}",
            hint="give that atom another key, or the entity another name",
        )
    if record.state is State.TOMBSTONED:
        Revive(show_id(atom), "related", force).decide(tx)
    return show_id(atom)


def _refuse_one(ends: list[str], names: tuple[str, str]) -> None:
    if ends[0] == ends[1]:
        first, second = map(border.quoted, names)
        raise InvalidInputError(f"{first} and {second} are one entity; a relation joins two")
