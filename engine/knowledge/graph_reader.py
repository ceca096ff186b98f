"""Read the knowledge graph from one snapshot, in the order of creation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from backends.base import Reader
from engine.base.direction import Direction
from engine.base.errors import LimitError
from engine.commands.sequence import STEP
from engine.followers.tags import LIVE, members
from engine.knowledge import forms
from engine.knowledge.model import Entity, Knowledge, Relation
from engine.ledger.entities import ENTITY
from engine.ledger.layout import atom_key
from engine.ledger.queries import bodies_of, edges_at, ids_at, records_of
from engine.ledger.records import AtomRecord, EdgeRecord, decode_atom, type_name
from engine.text.tokens import estimate_tokens
from proofs.leaves import State
from proofs.sets import Group

Predicate = Callable[[Entity], bool]
"""A function that returns True if the answer should contain the entity."""


class AnswerLimitError(LimitError):
    """The error that is raised if an answer would cost more tokens than the caller allows."""


class GraphReader:
    """The knowledge graph in a snapshot in which the follower `tags` is at the head.

    Reading raises AnswerLimitError if the answer costs more than `tokens_max` tokens.
    """

    def __init__(self, rows: Reader, id_key: bytes, tokens_max: int | None = None) -> None:
        self._rows = rows
        self._id_key = id_key
        self._left = tokens_max
        self._names: dict[bytes, str | None] = {}

    def chosen(self, wanted: Predicate) -> Knowledge:
        """Return the entities for which `wanted` returns True, and their relations."""
        return self._read(self._records(), wanted)

    def whole(self) -> Knowledge:
        """Return all entities and all relations, even those between implied entities."""
        return self._read(self._records(), lambda _: True, implied=True)

    def _records(self) -> list[AtomRecord]:
        live = members(self._rows, (Group.KIND, ENTITY)) & members(self._rows, LIVE)
        return records_of(self._rows, ids_at(self._rows, list(live)))

    def named(self, names: Iterable[str]) -> Knowledge:
        """Return the entities with these names and their relations."""
        valid = {name for name in names if forms.is_valid_name(name)}
        atoms = sorted({atom for name in valid for _, atom in forms.keys_and_ids(self._id_key, name)})
        found = []
        for atom, raw in zip(atoms, self._rows.multi_get(list(map(atom_key, atoms))), strict=True):
            record = None if raw is None else decode_atom(raw, atom)
            if record is not None and record.kind == ENTITY and record.state is State.LIVE:
                found.append(record)
        return self._read(found, lambda entity: entity.name in valid)

    def _read(self, records: list[AtomRecord], wanted: Predicate, *, implied: bool = False) -> Knowledge:
        """Return the wanted entities and their relations; with `implied`, also those of implied entities."""
        records.sort(key=lambda record: (forms.sequence_of(record), record.ordinal))
        bodies = bodies_of(self._rows, records)
        names = {record.id: body.content for record, body in zip(records, bodies, strict=True)}
        self._names |= names
        entities: list[Entity] = []
        relations: list[tuple[int, Relation]] = []
        edges: dict[tuple[bytes, bytes, bytes], EdgeRecord] = {}
        for record, body in zip(records, bodies, strict=True):
            entity, to_itself, edges_in = self._entity(record, body.content)
            if forms.is_implied(body):
                if not implied:
                    continue
            elif wanted(entity):
                self._charge(entity.name, entity.type, *entity.observations)
                entities.append(entity)
            else:
                continue
            relations.extend(to_itself)
            for edge in (*edges_in, *edges_at(self._rows, record.id, Direction.OUT, ())):
                edges[edge.src, edge.type, edge.dst] = edge
        relations.extend(self._relations(list(edges.values())))
        relations.sort(key=lambda item: item[0])
        for _, relation in relations:
            self._charge(relation.src, relation.type, relation.dst)
        return Knowledge(tuple(entities), tuple(relation for _, relation in relations))

    def _entity(
        self, record: AtomRecord, name: str
    ) -> tuple[Entity, list[tuple[int, Relation]], list[EdgeRecord]]:
        """Return an entity, its relations to itself with their sequences, and other edges that lead to it."""
        edges = list(edges_at(self._rows, record.id, Direction.IN, ()))
        atoms = [edge.src for edge in edges if edge.type == forms.PART_OF]
        parts = [
            part
            for part in records_of(self._rows, atoms)
            if part.kind in forms.PARTS and part.state is State.LIVE
        ]
        parts.sort(key=lambda part: (forms.sequence_of(part), part.ordinal))
        observations: dict[str, None] = {}
        to_itself = []
        for part, body in zip(parts, bodies_of(self._rows, parts), strict=True):
            if part.kind == forms.OBSERVATION:
                observations[body.content] = None
            else:
                relation = Relation(name, forms.relation_type_in(body.content, name), name)
                to_itself.append((forms.sequence_of(part), relation))
        entity = Entity(name, record.title or "", tuple(observations))
        known = {part.id for part in parts}
        return entity, to_itself, [edge for edge in edges if edge.src not in known]

    def _relations(self, edges: Sequence[EdgeRecord]) -> Iterable[tuple[int, Relation]]:
        self._read_names({end for edge in edges for end in (edge.src, edge.dst)} - self._names.keys())
        for edge in edges:
            src, dst = self._names[edge.src], self._names[edge.dst]
            if src is not None and dst is not None:
                kind = forms.relation_type_of(type_name(self._rows, edge.type), edge.data)
                yield edge.payload_seq * STEP, Relation(src, kind, dst)

    def _read_names(self, atoms: set[bytes]) -> None:
        """Read and cache the names of atoms. The name of an atom that is not a live entity is None."""
        self._names |= dict.fromkeys(atoms)
        records = [
            record
            for record in records_of(self._rows, sorted(atoms))
            if record.kind == ENTITY and record.state is State.LIVE
        ]
        for record, body in zip(records, bodies_of(self._rows, records), strict=True):
            self._names[record.id] = body.content

    def _charge(self, *texts: str) -> None:
        """Subtract the tokens of some texts from the remaining tokens, or raise AnswerLimitError."""
        if self._left is None:
            return
        self._left -= sum(map(estimate_tokens, texts))
        if self._left < 0:
            raise AnswerLimitError("the answer would cost more tokens than `tokens_max` allows")
