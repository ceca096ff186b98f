"""The knowledge graph of a memory, with the nine operations of the MCP memory server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

from backends.base import Reader
from engine.base.characters import checked_text
from engine.base.errors import BatchLimitError, InvalidInputError, translated
from engine.base.limits import QUERY_BYTES_MAX
from engine.base.model import Direction
from engine.base.validation import several
from engine.commands.sequence import STEP
from engine.followers.tags import LIVE, members
from engine.knowledge import graph_commands, graph_encoding
from engine.knowledge.graph_commands import GraphCommand, Item, Outcome
from engine.knowledge.graph_encoding import checked_entity, checked_observations, checked_relation
from engine.knowledge.graph_values import Deleted, Entity, Knowledge, Observed, Relation
from engine.ledger.entities import ENTITY
from engine.ledger.layout import atom_key
from engine.ledger.queries import bodies_of, edges_at, ids_at, records_of
from engine.ledger.records import AtomRecord, EdgeRecord, decode_atom, type_name
from engine.store.store import Store
from proofs.leaves import Group, State

_IN_PARTS: Final = "use several calls; if an entity has thousands of observations, delete these first"

Model = TypeVar("Model", Entity, Observed, Relation, str)


class KnowledgeGraph:
    """Entities, their observations and their relations, stored in a memory as atoms and edges.

    An entity is an atom of kind `entity`: its content is the name, its title the type. `engine relate`
    and exploration use the same entities, but treat all spellings of a name as equal. In this class, names
    that differ in case or white space are different names.

    An observation is an atom of kind `observation` with the source `entity/<name>` and an edge `part_of` to
    its entity. A relation is an edge. Deleting hides atoms and edges and keeps their history. If other code
    hid an entity and this class creates it again, the entity still has its observations and relations.

    Every operation is one durable batch, which is committed completely or not at all. The events of a batch
    are chosen for the head to which they are appended, so several processes may write at the same time.

    The size of a batch is limited (SPEC.md): an operation with over 10,000 events (about 5,000 observations)
    raises BatchLimitError. Results are in the order of creation.

    Names have at most 256 bytes and types of entities at most 512 bytes, both on one line. Types of
    relations have at most 1,024 bytes. An observation is not blank and has at most 1 MiB. A text that breaks
    these rules raises InvalidInputError, and nothing is written.

    Unlike in the memory server, an entity never has two equal observations.
    """

    def __init__(self, store: Store, *, actor: str = "user", provenance: str = "internal") -> None:
        """Set the store. Nothing is read yet.

        Args:
            store: The open store; the graph does not close it.
            actor: The actor of the events in the journal.
            provenance: The provenance of new atoms.
        """
        self._store = store
        self._actor = actor
        self._provenance = provenance

    def create_entities(self, entities: Iterable[Entity]) -> tuple[Entity, ...]:
        """Create the entities whose names are new, and return them. Existing entities are not changed."""
        items = tuple(map(checked_entity, _checked_types(entities, Entity, "entities")))
        return self._apply(GraphCommand(graph_commands.create_entities, items, self._provenance))

    def create_relations(self, relations: Iterable[Relation], *, imply: bool = False) -> tuple[Relation, ...]:
        """Create the missing relations and return them.

        Args:
            relations: The relations.
            imply: True to create a relation even if an entity is missing. The missing entity is then implied:
                it is not an entity of the graph until `create_entities` creates it.

        Raises:
            NotFoundError: an entity is missing, and `imply` is False; nothing was written.
        """
        items = tuple(map(checked_relation, _checked_types(relations, Relation, "relations")))
        create = graph_commands.create_any_relations if imply else graph_commands.create_relations
        return self._apply(GraphCommand(create, items, self._provenance))

    def add_observations(self, observations: Iterable[Observed]) -> tuple[Observed, ...]:
        """Add the missing observations, and return for each item the observations that were added.

        Raises:
            NotFoundError: an entity is missing; nothing was written.
        """
        items = tuple(
            Observed(one.entity, checked_observations(one.contents))
            for one in _checked_types(observations, Observed, "observations")
        )
        return self._apply(GraphCommand(graph_commands.add_observations, items, self._provenance))

    def delete_entities(self, names: Iterable[str]) -> Deleted:
        """Delete the entities with these names, and the observations and relations of these entities."""
        return self._apply(GraphCommand(graph_commands.delete_entities, _checked_types(names, str, "names")))

    def delete_observations(self, observations: Iterable[Observed]) -> Deleted:
        """Delete the given observations. Return how many were deleted, and which entities do not exist."""
        return self._apply(
            GraphCommand(
                graph_commands.delete_observations, _checked_types(observations, Observed, "observations")
            )
        )

    def delete_relations(self, relations: Iterable[Relation]) -> Deleted:
        """Delete the given relations. Return how many relations were deleted."""
        return self._apply(
            GraphCommand(graph_commands.delete_relations, _checked_types(relations, Relation, "relations"))
        )

    def read_graph(self) -> Knowledge:
        """Return all entities and relations."""
        with self._reader() as reader:
            return reader.whole()

    def search_nodes(self, query: str) -> Knowledge:
        """Return the entities whose name, type or observations contain `query`, ignoring case.

        The relations that begin or end at one of these entities are included. Reads the whole graph.
        """
        wanted = checked_text(query, "query", QUERY_BYTES_MAX).lower()

        def matches(entity: Entity) -> bool:
            return any(wanted in text.lower() for text in (entity.name, entity.type, *entity.observations))

        with self._reader() as reader:
            return reader.chosen(matches)

    def open_nodes(self, names: Iterable[str]) -> Knowledge:
        """Return the entities with these names, and the relations that begin or end at one of them."""
        items = _checked_types(names, str, "names")
        with self._reader() as reader:
            return reader.named(items)

    def _apply(self, command: GraphCommand[Item, Outcome]) -> Outcome:
        try:
            with translated():
                self._store.commit([command], self._actor)
        except BatchLimitError as error:
            raise BatchLimitError(str(error), hint=_IN_PARTS) from error
        return command.outcome

    @contextmanager
    def _reader(self) -> Iterator[GraphReader]:
        with translated(), self._store.view(self._store.tags) as rows:
            yield GraphReader(rows, self._store.identity.id_key)


def _checked_types(values: object, kind: type[Model], what: str) -> tuple[Model, ...]:
    items: list[Model] = []
    for value in several(values, what):
        if not isinstance(value, kind):
            raise InvalidInputError(f"{what} must be {kind.__name__} objects, not {type(value).__name__}")
        items.append(value)
    return tuple(items)


Predicate = Callable[[Entity], bool]
"""A function that returns True if the answer should contain the entity."""


class GraphReader:
    """The knowledge graph in a snapshot in which the follower `tags` is at the head."""

    def __init__(self, rows: Reader, id_key: bytes) -> None:
        self._rows = rows
        self._id_key = id_key
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
        valid = {name for name in names if graph_encoding.is_valid_name(name)}
        atoms = sorted(
            {atom for name in valid for _, atom in graph_encoding.keys_and_ids(self._id_key, name)}
        )
        parts_named = []
        for atom, raw in zip(atoms, self._rows.multi_get(list(map(atom_key, atoms))), strict=True):
            record = None if raw is None else decode_atom(raw, atom)
            if record is not None and record.kind == ENTITY and record.state is State.LIVE:
                parts_named.append(record)
        return self._read(parts_named, lambda entity: entity.name in valid)

    def _read(self, records: list[AtomRecord], wanted: Predicate, *, implied: bool = False) -> Knowledge:
        """Return the wanted entities and their relations; with `implied`, also those of implied entities."""
        records.sort(key=lambda record: (graph_encoding.sequence_of(record), record.ordinal))
        bodies = bodies_of(self._rows, records)
        names = {record.id: body.content for record, body in zip(records, bodies, strict=True)}
        self._names |= names
        entities: list[Entity] = []
        relations: list[tuple[int, Relation]] = []
        edges: dict[tuple[bytes, bytes, bytes], EdgeRecord] = {}
        for record, body in zip(records, bodies, strict=True):
            entity, to_itself, edges_in = self._entity(record, body.content)
            if graph_encoding.is_implied(body):
                if not implied:
                    continue
            elif wanted(entity):
                entities.append(entity)
            else:
                continue
            relations.extend(to_itself)
            for edge in (*edges_in, *edges_at(self._rows, record.id, Direction.OUT, ())):
                edges[edge.src, edge.type, edge.dst] = edge
        relations.extend(self._relations(list(edges.values())))
        relations.sort(key=lambda item: item[0])
        return Knowledge(tuple(entities), tuple(relation for _, relation in relations))

    def _entity(
        self, record: AtomRecord, name: str
    ) -> tuple[Entity, list[tuple[int, Relation]], list[EdgeRecord]]:
        """Return an entity, its relations to itself with their sequences, and other edges that lead to it."""
        edges = list(edges_at(self._rows, record.id, Direction.IN, ()))
        atoms = [edge.src for edge in edges if edge.type == graph_encoding.PART_OF]
        parts = [
            part
            for part in records_of(self._rows, atoms)
            if part.kind in graph_encoding.PARTS and part.state is State.LIVE
        ]
        parts.sort(key=lambda part: (graph_encoding.sequence_of(part), part.ordinal))
        observations: dict[str, None] = {}
        to_itself = []
        for part, body in zip(parts, bodies_of(self._rows, parts), strict=True):
            if part.kind == graph_encoding.OBSERVATION:
                observations[body.content] = None
            else:
                relation = Relation(name, graph_encoding.relation_type_in(body.content, name), name)
                to_itself.append((graph_encoding.sequence_of(part), relation))
        entity = Entity(name, record.title or "", tuple(observations))
        ids = {part.id for part in parts}
        return entity, to_itself, [edge for edge in edges if edge.src not in ids]

    def _relations(self, edges: Sequence[EdgeRecord]) -> Iterable[tuple[int, Relation]]:
        self._read_names({end for edge in edges for end in (edge.src, edge.dst)} - self._names.keys())
        for edge in edges:
            src, dst = self._names[edge.src], self._names[edge.dst]
            if src is not None and dst is not None:
                kind = graph_encoding.relation_type_of(type_name(self._rows, edge.type), edge.data)
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
