"""Read access for exports: the live atoms of a snapshot in the order of their creation, and their fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.base.json_text import JsonError, parse
from engine.base.model import Atom, Direction, Edge
from engine.base.validation import show_id
from engine.exchange.other_programs.item_commands import FIELDS, IMPORTED_FROM, ORIGIN, origin_id
from engine.followers.tags import LIVE, members
from engine.ledger.codec import unpack
from engine.ledger.queries import atom_of, edge_of, edges_at, record_at
from engine.ledger.records import AtomRecord, read_edge, type_code
from engine.store.store import Store


class LiveAtoms:
    """The live atoms of one snapshot."""

    def __init__(self, rows: Reader, id_key: bytes) -> None:
        self._rows = rows
        self._id_key = id_key
        self._code = type_code(rows, IMPORTED_FROM)

    def records(self) -> Iterator[AtomRecord]:
        """Yield the live atoms in the order of their creation, except atoms that represent other programs.

        The iterator keeps about 100 bytes per atom in memory.
        """
        found = []
        for ordinal in members(self._rows, LIVE):
            record = record_at(self._rows, ordinal)
            if record.kind != ORIGIN and record.ordinal == ordinal:
                found.append((record.created_seq, ordinal))
        for _, ordinal in sorted(found):
            yield record_at(self._rows, ordinal)

    def atom(self, record: AtomRecord) -> Atom:
        """Return the atom of a record, with its content."""
        return atom_of(self._rows, record)

    def fields(self, record: AtomRecord, form: str) -> dict[str, Any] | None:
        """Return the fields that an import in the format `form` stored on the edge to the origin.

        Return None if there are no such fields, for example if the atom was not imported in this format.
        """
        origin = origin_id(self._id_key, form)
        edge = None if self._code is None else read_edge(self._rows, record.id, self._code, origin)
        if edge is None or edge.tombstoned_at is not None or not edge.data:
            return None
        try:
            value = parse(unpack(edge.data, "edge data")[FIELDS])
        except (KeyError, TypeError, AttributeError, JsonError, CorruptionError):
            return None  # the edge was not created by an import
        return value if isinstance(value, dict) else None

    def edges(self, record: AtomRecord) -> Iterator[Edge]:
        """Yield the live outgoing edges of an atom, except edges to atoms that represent other programs."""
        for edge in edges_at(self._rows, record.id, Direction.OUT, ()):
            if edge.type != self._code:
                yield edge_of(self._rows, edge)


@contextmanager
def live_atoms(store: Store) -> Iterator[LiveAtoms]:
    """Open a snapshot of the live atoms of a store."""
    with store.view(store.tags) as rows:
        yield LiveAtoms(rows, store.identity.id_key)


def name_of(record: AtomRecord) -> str:
    """Return the name of an atom for other programs: the key, or the id if the atom has no key."""
    return show_id(record.id) if record.key is None else record.key
