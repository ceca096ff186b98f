"""What can be done on the knowledge graph, each decided in one transaction: all of it or nothing.

Texts have been checked before (`engine.knowledge.forms`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from engine.base.errors import ConflictError, NotFoundError, RefusedError
from engine.base.model import Receipt
from engine.commands.base import Transaction, receipt
from engine.knowledge.forms import OBSERVATION
from engine.knowledge.model import Deleted, Entity, Observed, Relation
from engine.knowledge.transaction import GraphTransaction
from proofs.leaves import State

Given = TypeVar("Given")
Outcome = TypeVar("Outcome")

SUBJECT = "knowledge graph"
"""What the receipts of these commands are about."""


class OnGraph(Generic[Given, Outcome]):
    """A command that does something with several things at once.

    What came of it is in `outcome` once it was applied; deciding again, after another process moved the
    head, sets it anew.
    """

    outcome: Outcome

    def __init__(
        self,
        do: Callable[[GraphTransaction, tuple[Given, ...]], Outcome],
        given: tuple[Given, ...],
        provenance: str | None = None,
    ) -> None:
        """Set what is done, with what, and the provenance of new atoms; None where nothing is written."""
        self._do = do
        self._given = given
        self._provenance = provenance

    def decide(self, tx: Transaction) -> Receipt:
        """No event where everything is so already."""
        first, given, provenance = len(tx.entries), self._given, self._provenance
        if provenance is not None:
            given = tx.screened(given, "knowledge graph:")
        self.outcome = self._do(GraphTransaction(tx, provenance or "internal"), given)
        return receipt(SUBJECT, State.LIVE, *tx.entries[first:])


def create_entities(graph: GraphTransaction, given: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """Have entities of these names; those that are there stay as they are. Returns those created."""
    created = []
    for entity in given:
        if graph.entity(entity.name) is not None:
            continue
        graph.create_entity(entity.name, entity.type)
        for content in entity.observations:
            graph.add_part(entity.name, OBSERVATION, content)
        created.append(entity)
    return tuple(created)


class Held(NamedTuple):
    """What became of one entity that was to be held."""

    created: bool
    added: int
    """Observations."""


def upsert_entities(graph: GraphTransaction, given: tuple[Entity, ...]) -> tuple[Held, ...]:
    """Have entities of these names with, besides others, these observations.

    The type of one that is there stays as it is.
    """
    done = []
    for entity in given:
        missing = graph.entity(entity.name) is None
        if missing:
            graph.create_entity(entity.name, entity.type)
        added = sum(graph.add_part(entity.name, OBSERVATION, text) for text in entity.observations)
        done.append(Held(missing, added))
    return tuple(done)


def add_observations(graph: GraphTransaction, given: tuple[Observed, ...]) -> tuple[Observed, ...]:
    """Have these observations. Returns those that were added, for each that was given.

    Raises:
        NotFoundError: there is no such entity.
    """
    results = []
    for one in given:
        graph.needed(one.entity)
        added = (text for text in one.contents if graph.add_part(one.entity, OBSERVATION, text))
        results.append(Observed(one.entity, tuple(added)))
    return tuple(results)


def create_relations(graph: GraphTransaction, given: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """Have these relations. Returns those created.

    Raises:
        NotFoundError: an entity is missing.
    """
    return tuple(relation for relation in given if graph.create_relation(relation))


def upsert_relations(graph: GraphTransaction, given: tuple[Relation, ...]) -> tuple[bool | str, ...]:
    """Have those of these relations that can be. Returns whether each was created, or why it cannot be."""

    def one(relation: Relation) -> bool | str:
        try:
            return graph.create_relation(relation)
        except (NotFoundError, ConflictError, RefusedError) as error:  # raised before anything is appended
            return str(error)

    return tuple(map(one, given))


def delete_entities(graph: GraphTransaction, given: tuple[str, ...]) -> Deleted:
    """Have no entities of these names, nor what hangs on them. A name that is there twice counts twice."""
    missing = tuple(name for name in given if graph.entity(name) is None)
    for name in given:
        graph.delete_entity(name)
    return Deleted(len(given) - len(missing), missing)


def delete_observations(graph: GraphTransaction, given: tuple[Observed, ...]) -> Deleted:
    """Have none of these observations."""
    missing = tuple(one.entity for one in given if graph.entity(one.entity) is None)
    count = sum(graph.delete_part(one.entity, OBSERVATION, text) for one in given for text in one.contents)
    return Deleted(count, missing)


def delete_relations(graph: GraphTransaction, given: tuple[Relation, ...]) -> Deleted:
    """Have none of these relations."""
    return Deleted(sum(map(graph.delete_relation, given)))
