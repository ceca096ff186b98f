"""The operations on the knowledge graph. Each operation runs in one transaction, completely or not at all.

The functions expect texts that the caller has validated with `engine.knowledge.graph_encoding`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from engine.base.errors import ConflictError, RefusedError
from engine.base.model import Receipt
from engine.commands.transaction import Transaction, receipt
from engine.knowledge.graph_encoding import OBSERVATION
from engine.knowledge.graph_transaction import GraphTransaction
from engine.knowledge.graph_values import Deleted, Entity, Observed, Relation
from proofs.leaves import State

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

SUBJECT = "knowledge graph"
"""The name that the receipts of these commands contain in place of the id of an atom."""


class GraphCommand(Generic[Item, Outcome]):
    """A command that runs an operation on several items at once.

    After the command is applied, `outcome` holds the result of the operation. If another process appends
    events in the meantime, the command is decided again, and the new result replaces the old result.
    """

    outcome: Outcome

    def __init__(
        self,
        do: Callable[[GraphTransaction, tuple[Item, ...]], Outcome],
        items: tuple[Item, ...],
        provenance: str | None = None,
    ) -> None:
        """Set the operation, its items, and the provenance of new atoms (None if no atoms are added)."""
        self._do = do
        self._items = items
        self._provenance = provenance

    def decide(self, tx: Transaction) -> Receipt:
        """Run the operation. Append no event if the graph would not change."""
        first, items, provenance = len(tx.events), self._items, self._provenance
        if provenance is not None:
            items = tx.screened(items, "knowledge graph:")
        self.outcome = self._do(GraphTransaction(tx, provenance or "internal"), items)
        return receipt(SUBJECT, State.LIVE, *tx.events[first:])


def create_entities(graph: GraphTransaction, items: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """Create the entities whose names are new, and return them. Existing entities are not changed."""
    created = []
    for entity in items:
        if graph.entity(entity.name) is not None:
            continue
        graph.create_entity(entity.name, entity.type)
        for content in entity.observations:
            graph.add_part(entity.name, OBSERVATION, content)
        created.append(entity)
    return tuple(created)


class UpsertedEntity(NamedTuple):
    """The result of `upsert_entities` for one entity."""

    created: bool
    added: int
    """The number of observations that were added."""


def upsert_entities(graph: GraphTransaction, items: tuple[Entity, ...]) -> tuple[UpsertedEntity, ...]:
    """Create the entities whose names are new, and add missing observations to new and existing entities.

    The type of an existing entity does not change.
    """
    done = []
    for entity in items:
        missing = graph.entity(entity.name) is None
        if missing:
            graph.create_entity(entity.name, entity.type)
        added = sum(graph.add_part(entity.name, OBSERVATION, text) for text in entity.observations)
        done.append(UpsertedEntity(missing, added))
    return tuple(done)


def add_observations(graph: GraphTransaction, items: tuple[Observed, ...]) -> tuple[Observed, ...]:
    """Add the missing observations, and return for each item the observations that were added.

    Raises:
        NotFoundError: there is no such entity.
    """
    results = []
    for one in items:
        graph.required(one.entity)
        added = (text for text in one.contents if graph.add_part(one.entity, OBSERVATION, text))
        results.append(Observed(one.entity, tuple(added)))
    return tuple(results)


def create_relations(graph: GraphTransaction, items: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """Create the missing relations and return them.

    Raises:
        NotFoundError: an entity is missing.
    """
    return tuple(relation for relation in items if graph.create_relation(relation))


def create_any_relations(graph: GraphTransaction, items: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """Create the missing relations and return them. Missing entities are added as implied entities."""
    return tuple(relation for relation in items if graph.create_relation(relation, imply=True))


def upsert_relations(graph: GraphTransaction, items: tuple[Relation, ...]) -> tuple[bool | str, ...]:
    """Create the relations that are missing and can be created. Missing entities become implied entities.

    Return a value for each relation: True if it was created, False if it existed, and the error message if
    it cannot be created.
    """

    def one(relation: Relation) -> bool | str:
        try:
            return graph.create_relation(relation, imply=True)
        except (ConflictError, RefusedError) as error:  # raised before an event of the relation is appended
            return str(error)

    return tuple(map(one, items))


def delete_entities(graph: GraphTransaction, items: tuple[str, ...]) -> Deleted:
    """Delete the entities with these names, and the observations and relations of these entities.

    The result counts a name twice if the name is given twice.
    """
    missing = tuple(name for name in items if graph.entity(name) is None)
    for name in items:
        graph.delete_entity(name)
    return Deleted(len(items) - len(missing), missing)


def delete_observations(graph: GraphTransaction, items: tuple[Observed, ...]) -> Deleted:
    """Delete the given observations. Return how many were deleted, and which entities do not exist."""
    missing = tuple(one.entity for one in items if graph.entity(one.entity) is None)
    count = sum(graph.delete_part(one.entity, OBSERVATION, text) for one in items for text in one.contents)
    return Deleted(count, missing)


def delete_relations(graph: GraphTransaction, items: tuple[Relation, ...]) -> Deleted:
    """Delete the given relations. Return how many relations were deleted."""
    return Deleted(sum(map(graph.delete_relation, items)))
