"""A transaction on the knowledge graph, with its lookups and basic changes.

All lookups read the records within the transaction. So every decision is valid for the head at which it is
committed, even if other processes write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import ConflictError, NotFoundError
from engine.base.validation import quoted, show_id
from engine.commands.atoms import Add, Revise, Tombstone
from engine.commands.edges import Unlink
from engine.commands.reconcile import UpsertAtom, UpsertEdge
from engine.commands.sequence import STEP
from engine.commands.transaction import Transaction
from engine.knowledge import graph_encoding
from engine.knowledge.graph_values import Relation
from engine.ledger.entities import ENTITY
from engine.ledger.journal import read_log
from engine.ledger.layout import EDGE_FROM, EDGE_TO
from engine.ledger.queries import far_end
from engine.ledger.records import AtomRecord, EdgeRecord, decode_edge, type_name
from proofs.leaves import EdgeType, State

DELETED: Final = "deleted from the knowledge graph"
"""The reason that is recorded when an operation on the knowledge graph hides an atom or removes an edge."""

CREATED: Final = "created again in the knowledge graph"


class _Node(NamedTuple):
    """A live entity."""

    id: bytes
    implied: bool
    """True if only relations name the entity."""


@dataclass(slots=True)
class _Parts:
    """The observations of an entity and its relations to itself."""

    unchanged: set[bytes] = field(default_factory=set)
    """The ids of the atoms that were never revised. The id of such an atom can be computed from its
    content."""
    changed: dict[tuple[str, str], set[bytes]] = field(default_factory=dict)
    """(kind, content) → the ids of the revised atoms with this kind and content."""


class GraphTransaction:
    """The knowledge graph with the changes of a transaction. Every command creates a new object."""

    def __init__(self, tx: Transaction, provenance: str = "internal") -> None:
        self._tx = tx
        self._provenance = provenance
        self._size = read_log(tx.rows).size
        # Changes by earlier commands of the same transaction are not yet in any snapshot.
        self._pending = [key for key in tx.batch.rows if key.startswith((EDGE_FROM, EDGE_TO))]
        self._nodes: dict[str, _Node | None] = {}
        self._parts: dict[bytes, _Parts] = {}

    def entity(self, name: str) -> bytes | None:
        """Return the id of the live entity with exactly this name, or None. Implied entities do not count."""
        node = self._node(name)
        return None if node is None or node.implied else node.id

    def _node(self, name: str) -> _Node | None:
        """Return the live entity with exactly this name, even if it is implied, or None."""
        if name not in self._nodes:
            record = self._recorded(name) if graph_encoding.is_valid_name(name) else None
            if record is not None and record.state is State.LIVE:
                self._nodes[name] = _Node(record.id, graph_encoding.is_implied(self._tx.body(record)))
            else:
                self._nodes[name] = None
        return self._nodes[name]

    def required(self, name: str) -> bytes:
        """Return the id of the live entity with exactly this name.

        Raises:
            NotFoundError: there is no such entity.
        """
        atom = self.entity(name)
        if atom is None:
            raise NotFoundError(f"Entity with name {name} not found")
        return atom

    def create_entity(self, name: str, kind: str, *, implied: bool = False) -> bytes:
        """Create the entity with this name, or revive it with this type, and return its id.

        The caller has checked that there is no live entity with this name, except for an implied entity.

        Raises:
            ConflictError: other atoms have the keys of the entity.
        """
        record = self._recorded(name)
        if record is None:
            atom = self._add_entity(name, kind, implied=implied)
            self._parts[atom] = _Parts()
        else:
            atom = record.id
            key = next(key for key, id_ in graph_encoding.keys_and_ids(self._tx.id_key, name) if id_ == atom)
            wanted = self._entity(name, kind, key, self._next())
            UpsertAtom(wanted, override=True, reason=CREATED).decide(self._tx)
            self._mark(atom, implied=implied)
        self._nodes[name] = _Node(atom, implied)
        return atom

    def _mark(self, atom: bytes, *, implied: bool) -> None:
        """Record in the `meta` of a live entity whether the entity is implied."""
        record = self._tx.atom(atom)
        meta = {} if record is None else dict(self._tx.body(record).meta or {})
        if (meta.pop(graph_encoding.IMPLIED, None) is True) != implied:
            meta |= {graph_encoding.IMPLIED: True} if implied else {}
            Revise(show_id(atom), meta=meta or None).decide(self._tx)

    def _add_entity(self, name: str, kind: str, *, implied: bool) -> bytes:
        for key, atom in graph_encoding.keys_and_ids(self._tx.id_key, name):
            if self._tx.atom(atom) is None:
                added = self._entity(name, kind, key)
                (replace(added, meta={graph_encoding.IMPLIED: True}) if implied else added).decide(self._tx)
                return atom
        raise ConflictError(
            f"other atoms already use the keys of the entity {quoted(name)}",
            hint="give the entity a different name",
        )

    def _entity(self, name: str, kind: str, key: str, sequence: int | None = None) -> Add:
        return Add(
            name, title=kind or None, kind=ENTITY, key=key, sequence=sequence, provenance=self._provenance
        )

    def _recorded(self, name: str) -> AtomRecord | None:
        for _, atom in graph_encoding.keys_and_ids(self._tx.id_key, name):
            record = self._tx.atom(atom)
            if record is None or record.kind != ENTITY or record.state is State.ERASED:
                continue
            if self._tx.body(record).content == name:
                return record
        return None

    def delete_entity(self, name: str) -> bool:
        """Hide the entity, its observations and its relations, even if it is implied.

        Return False if there is no such entity.
        """
        node = self._node(name)
        if node is None:
            return False
        atom = node.id
        for edge in [*self._edges(EDGE_FROM, atom), *self._edges(EDGE_TO, atom)]:
            other = self._tx.atom(far_end(edge, atom))
            if other is None:
                continue
            if other.kind == ENTITY:
                self._unlink(edge)
            elif (
                edge.type == graph_encoding.PART_OF
                and edge.dst == atom
                and other.kind in graph_encoding.PARTS
            ):
                self._hide(edge, other, name)
        Tombstone(show_id(atom), DELETED).decide(self._tx)
        self._nodes[name] = None
        self._parts.pop(atom, None)
        return True

    def add_part(self, name: str, kind: str, content: str) -> bool:
        """Add an observation to a live entity, or a relation of the entity to itself.

        Return False if the observation or relation exists already. Only a relation can be added to an implied
        entity.
        """
        node = self._node(name)
        entity = node.id if node is not None and kind == graph_encoding.SELF_RELATION else self.required(name)
        parts = self._parts_of(name, entity)
        if self._found(parts, name, kind, content):
            return False
        atom = self._add_part(name, kind, content)
        UpsertEdge(atom, EdgeType.PART_OF, entity, override=True).decide(self._tx)
        record = self._tx.atom(atom)
        if record is not None and record.version == 1:
            parts.unchanged.add(atom)
        else:
            parts.changed.setdefault((kind, content), set()).add(atom)
        return True

    def _add_part(self, name: str, kind: str, content: str) -> bytes:
        tx = self._tx
        for occurrence, atom in enumerate(graph_encoding.ids_of(tx.id_key, kind, name, content)):
            record = tx.atom(atom)
            if record is None or (record.state is not State.ERASED and tx.body(record).content == content):
                wanted = Add(
                    content,
                    title=name,
                    kind=kind,
                    source=graph_encoding.source_of(kind, name),
                    sequence=self._next(),
                    provenance=self._provenance,
                    occurrence=occurrence,
                )
                UpsertAtom(wanted, override=True, reason=CREATED).decide(tx)
                return atom
        raise AssertionError("unreachable: ids_of raises an error at its end")

    def delete_part(self, name: str, kind: str, content: str) -> bool:
        """Hide an observation of an entity, or a relation of the entity to itself.

        Return False if the observation or relation does not exist.
        """
        node = self._node(name)
        if node is None or not graph_encoding.is_valid_text(content):
            return False
        entity = node.id
        parts = self._parts_of(name, entity)
        same = self._found(parts, name, kind, content)
        for atom in sorted(same):
            edge, record = self._tx.edge(atom, graph_encoding.PART_OF, entity), self._tx.atom(atom)
            if edge is not None and record is not None:
                self._hide(edge, record, name)
        parts.unchanged -= same
        parts.changed.pop((kind, content), None)
        return bool(same)

    def _found(self, parts: _Parts, name: str, kind: str, content: str) -> set[bytes]:
        same = set(parts.changed.get((kind, content), ()))
        for atom in graph_encoding.ids_of(self._tx.id_key, kind, name, content):
            if atom in parts.unchanged:
                same.add(atom)
            elif self._tx.atom(atom) is None:
                break
        return same

    def _parts_of(self, name: str, entity: bytes) -> _Parts:
        if entity in self._parts:
            return self._parts[entity]
        parts = self._parts[entity] = _Parts()
        for edge in self._edges(EDGE_TO, entity, graph_encoding.PART_OF):
            record = self._tx.atom(edge.src)
            if record is None or record.state is not State.LIVE or record.kind not in graph_encoding.PARTS:
                continue
            if record.version == 1 and record.source == graph_encoding.source_of(record.kind, name):
                parts.unchanged.add(record.id)
            else:
                key = (record.kind, self._tx.body(record).content)
                parts.changed.setdefault(key, set()).add(record.id)
        return parts

    def create_relation(self, relation: Relation, *, imply: bool = False) -> bool:
        """Add a relation between two live entities. Return False if the relation exists already.

        With `imply`, an entity that is missing is added as an implied entity.

        Raises:
            NotFoundError: an entity is missing, and `imply` is False.
            ConflictError: the edge for the relation already represents a relation of a different type.
        """
        end = self._implied if imply else self.required
        src, dst = end(relation.src), end(relation.dst)
        if src == dst:
            content = graph_encoding.sentence(relation.src, relation.type)
            return self.add_part(relation.src, graph_encoding.SELF_RELATION, content)
        predicate, data = graph_encoding.predicate_of(relation.type)
        edge = self._edge(src, predicate, dst)
        if edge is not None:
            if graph_encoding.relation_type_of(predicate, edge.data) == relation.type:
                return False
            raise ConflictError(
                f"the relation type {quoted(relation.type)} has the same predicate, {predicate}, as the "
                "type of a different relation between the same entities",
                hint="use a different spelling of the relation type",
            )
        UpsertEdge(src, predicate, dst, data, override=True).decide(self._tx)
        return True

    def _implied(self, name: str) -> bytes:
        """Return the id of the live entity with this name. If it is missing, add it as an implied entity."""
        node = self._node(name)
        return self.create_entity(name, "", implied=True) if node is None else node.id

    def delete_relation(self, relation: Relation) -> bool:
        """Hide a relation. Return False if there is no such relation."""
        begin, end = self._node(relation.src), self._node(relation.dst)
        if begin is None or end is None or not graph_encoding.is_valid_text(relation.type):
            return False
        src, dst = begin.id, end.id
        if src == dst:
            content = graph_encoding.sentence(relation.src, relation.type)
            return self.delete_part(relation.src, graph_encoding.SELF_RELATION, content)
        predicate, _ = graph_encoding.predicate_of(relation.type)
        edge = self._edge(src, predicate, dst)
        if edge is None or graph_encoding.relation_type_of(predicate, edge.data) != relation.type:
            return False
        self._unlink(edge)
        return True

    def _edge(self, src: bytes, predicate: str, dst: bytes) -> EdgeRecord | None:
        code = self._tx.type_code(predicate)
        edge = None if code is None else self._tx.edge(src, code, dst)
        return edge if edge is not None and edge.state is State.LIVE else None

    def _unlink(self, edge: EdgeRecord) -> None:
        kind = type_name(self._tx.rows, edge.type)
        Unlink(show_id(edge.src), kind, show_id(edge.dst), DELETED).decide(self._tx)

    def _hide(self, edge: EdgeRecord, record: AtomRecord, name: str) -> None:
        """Remove the edge from an atom to its entity. Hide the atom if the knowledge graph created it."""
        self._unlink(edge)
        if record.kind in graph_encoding.PARTS and record.source == graph_encoding.source_of(
            record.kind, name
        ):
            Tombstone(show_id(record.id), DELETED).decide(self._tx)

    def _edges(self, family: bytes, atom: bytes, code: bytes = b"") -> Iterator[EdgeRecord]:
        """Yield the live edges of an atom in the order of their keys.

        `family` is the prefix of the keys: EDGE_FROM for edges that begin at the atom, EDGE_TO for edges that
        end at the atom. A `code` limits the result to edges of one type.
        """
        prefix = family + atom + b"/" + (code + b"/" if code else b"")
        rows = self._tx.rows.base
        if not isinstance(rows, Reader):
            raise TypeError(f"a {type(rows).__name__} cannot be scanned")
        keys = {key for key, _ in rows.scan_prefix(prefix)}
        keys.update(key for key in self._pending if key.startswith(prefix))
        for key in sorted(keys):
            raw = self._tx.rows.get(key)
            edge = None if raw is None else decode_edge(raw, f"edge record {key.hex()}")
            if edge is not None and edge.state is State.LIVE:
                yield edge

    def _next(self) -> int:
        """Return a sequence for a new atom, above all existing sequences, with a gap for inserted atoms."""
        return (self._size + len(self._tx.events)) * STEP
