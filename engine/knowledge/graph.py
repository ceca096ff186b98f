"""The knowledge graph of a memory, with the nine operations of the MCP memory server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from engine.base.error_translation import translated
from engine.base.errors import BatchLimitError, InvalidInputError
from engine.base.limits import QUERY_BYTES_MAX
from engine.base.validation import several, text_bytes
from engine.knowledge import commands
from engine.knowledge.commands import GraphCommand, Item, Outcome
from engine.knowledge.forms import checked_entity, checked_observations, checked_relation
from engine.knowledge.graph_reader import GraphReader
from engine.knowledge.model import Deleted, Entity, Knowledge, Observed, Relation
from engine.store.store import Store

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
        return self._apply(GraphCommand(commands.create_entities, items, self._provenance))

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
        create = commands.create_any_relations if imply else commands.create_relations
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
        return self._apply(GraphCommand(commands.add_observations, items, self._provenance))

    def delete_entities(self, names: Iterable[str]) -> Deleted:
        """Delete the entities with these names, and the observations and relations of these entities."""
        return self._apply(GraphCommand(commands.delete_entities, _checked_types(names, str, "names")))

    def delete_observations(self, observations: Iterable[Observed]) -> Deleted:
        """Delete the given observations. Return how many were deleted, and which entities do not exist."""
        return self._apply(
            GraphCommand(commands.delete_observations, _checked_types(observations, Observed, "observations"))
        )

    def delete_relations(self, relations: Iterable[Relation]) -> Deleted:
        """Delete the given relations. Return how many relations were deleted."""
        return self._apply(
            GraphCommand(commands.delete_relations, _checked_types(relations, Relation, "relations"))
        )

    def read_graph(self, *, tokens_max: int | None = None) -> Knowledge:
        """Return all entities and relations.

        Raises:
            AnswerLimitError: the texts of the answer cost over `tokens_max` tokens, even without the JSON
                around them.
        """
        with self._reader(tokens_max) as reader:
            return reader.whole()

    def search_nodes(self, query: str, *, tokens_max: int | None = None) -> Knowledge:
        """Return the entities whose name, type or observations contain `query`, ignoring case.

        The relations that begin or end at one of these entities are included. Reads the whole graph.

        Raises:
            AnswerLimitError: the texts of the answer cost over `tokens_max` tokens, even without the JSON
                around them.
        """
        wanted = text_bytes(query, "query", QUERY_BYTES_MAX).lower()

        def matches(entity: Entity) -> bool:
            return any(wanted in text.lower() for text in (entity.name, entity.type, *entity.observations))

        with self._reader(tokens_max) as reader:
            return reader.chosen(matches)

    def open_nodes(self, names: Iterable[str], *, tokens_max: int | None = None) -> Knowledge:
        """Return the entities with these names, and the relations that begin or end at one of these entities.

        Raises:
            AnswerLimitError: the texts of the answer cost over `tokens_max` tokens, even without the JSON
                around them.
        """
        items = _checked_types(names, str, "names")
        with self._reader(tokens_max) as reader:
            return reader.named(items)

    def _apply(self, command: GraphCommand[Item, Outcome]) -> Outcome:
        try:
            with translated():
                self._store.commit([command], self._actor)
        except BatchLimitError as error:
            raise BatchLimitError(str(error), hint=_IN_PARTS) from error
        return command.outcome

    @contextmanager
    def _reader(self, tokens_max: int | None) -> Iterator[GraphReader]:
        with translated(), self._store.view(self._store.tags) as rows:
            yield GraphReader(rows, self._store.identity.id_key, tokens_max)


def _checked_types(values: object, kind: type[Model], what: str) -> tuple[Model, ...]:
    items: list[Model] = []
    for value in several(values, what):
        if not isinstance(value, kind):
            raise InvalidInputError(f"{what} must be {kind.__name__} objects, not {type(value).__name__}")
        items.append(value)
    return tuple(items)
