"""Turn items of other programs into commands.

The origin is an atom that represents the other program. If an atom cannot represent some fields of an item,
these fields are stored on the edge from the atom to its origin, so that an export in the same format can
write them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.commands import Add, Command
from engine.commands.reconcile import RetireAtom, RetireEdge, UpsertAtom, UpsertEdge
from engine.exchange.other_programs.base import Item
from engine.ledger.records import Lookup, default_id, default_id_of, read_atom
from proofs.codec import pack

IMPORTED_FROM: Final = "imported_from"
"""The predicate of the edge from an atom to the origin, which represents the other program."""

ORIGIN: Final = "origin"
"""The kind of the atom that represents another program."""

FIELDS: Final = "fields"


class ItemCommands:
    """A factory of the commands for items of one format."""

    def __init__(self, id_key: bytes, form: str, provenance: str, buckets: tuple[str, ...]) -> None:
        """Set the values that all items share: `form` names the origin, `buckets` are the default buckets."""
        self._id_key = id_key
        self._provenance = provenance
        self._buckets = buckets
        self._origin = Add(form, kind=ORIGIN, key=_origin_key(form), provenance=provenance)

    def atoms(self, item: Item) -> list[Add]:
        """Return the atoms for the pieces of an item."""
        return [self._atom(item, at, content) for at, content in enumerate(item.pieces)]

    def id(self, atom: Add) -> bytes:
        """Return the id that an atom has or will have."""
        return default_id_of(self._id_key, atom)

    def commands(self, rows: Lookup, item: Item) -> Iterator[Command]:
        """Yield the commands for an item; if the item had more pieces before, tombstone the surplus atoms."""
        atoms = self.atoms(item)
        yield from map(UpsertAtom, atoms)
        at = len(atoms)
        while item.key is not None and read_atom(rows, more := self.id(self._atom(item, at, ""))) is not None:
            yield RetireAtom(more)
            at += 1
        atom, origin = self.id(atoms[0]), self.id(self._origin)
        if item.fields:
            yield self._origin
            yield UpsertEdge(atom, IMPORTED_FROM, origin, pack({FIELDS: item.fields}))
        else:
            yield RetireEdge(atom, IMPORTED_FROM, origin)

    def _atom(self, item: Item, at: int, content: str) -> Add:
        return Add(
            content=content,
            title=item.title,
            kind=item.kind,
            tags=item.tags,
            buckets=self._buckets if item.buckets is None else item.buckets,
            source=item.source,
            sequence=None if item.sequence is None else item.sequence + at,
            provenance=self._provenance,
            trust=item.trust,
            created=item.created,
            occurrence=item.occurrence,
            key=item.key if item.key is None or not at else f"{item.key}#{at + 1}",
        )


def origin_id(id_key: bytes, form: str) -> bytes:
    """Return the id of the atom that represents the other program."""
    return default_id(id_key, None, "", 0, _origin_key(form))


def _origin_key(form: str) -> str:
    return f"origin:{form}"
