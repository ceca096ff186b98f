"""Commands on the knowledge graph. Each looks first and decides in one transaction: all of it or nothing.

What a command found out is in its `outcome` once it was applied: deciding again, after another process
moved the head, sets it anew. Texts have been checked before (`engine.knowledge.forms`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

from engine.base.errors import ConflictError, NotFoundError
from engine.base.model import Receipt
from engine.commands.base import Transaction, event_ref
from engine.knowledge.desk import Desk
from engine.knowledge.forms import OBSERVATION
from engine.knowledge.model import Deleted, Entity, Observed, Relation
from proofs.events import EventKind
from proofs.leaves import State

Given = TypeVar("Given")
Outcome = TypeVar("Outcome")

SUBJECT = "knowledge graph"
"""What the receipts of these commands are about."""


class GraphCommand(ABC, Generic[Given, Outcome]):
    """A command on several things at once."""

    writes = True
    """Whether what is given is written; else it names what is there."""

    def __init__(self, given: tuple[Given, ...], provenance: str = "internal") -> None:
        self.given = given
        self.provenance = provenance
        self.outcome: Outcome
        self.kinds: tuple[EventKind, ...] = ()
        """What was appended for it."""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where everything is so already."""
        first = len(tx.entries)
        if self.writes:
            self.given = tx.screened(self.given, "knowledge graph:")
        self.outcome = self.on(Desk(tx, self.provenance))
        events = tuple(map(event_ref, tx.entries[first:]))
        self.kinds = tuple(event.kind for event in events)
        return Receipt(SUBJECT, events, State.LIVE)

    @abstractmethod
    def on(self, desk: Desk) -> Outcome:
        """Do it, and say what came of it."""


class CreateEntities(GraphCommand[Entity, tuple[Entity, ...]]):
    """Have entities of these names; those that are there stay as they are. The outcome: those created."""

    def on(self, desk: Desk) -> tuple[Entity, ...]:
        """Create what is missing, in order."""
        created = []
        for entity in self.given:
            if desk.entity(entity.name) is not None:
                continue
            desk.create_entity(entity.name, entity.type)
            for content in entity.observations:
                desk.add_part(entity.name, OBSERVATION, content)
            created.append(entity)
        return tuple(created)


class Held(NamedTuple):
    """What became of one entity that was to be held."""

    created: bool
    added: int
    """Observations."""


class HoldEntities(GraphCommand[Entity, tuple[Held, ...]]):
    """Have entities of these names with, besides others, these observations.

    The type of one that is there stays as it is.
    """

    def on(self, desk: Desk) -> tuple[Held, ...]:
        """Create or complete each."""
        done = []
        for entity in self.given:
            missing = desk.entity(entity.name) is None
            if missing:
                desk.create_entity(entity.name, entity.type)
            added = sum(desk.add_part(entity.name, OBSERVATION, text) for text in entity.observations)
            done.append(Held(missing, added))
        return tuple(done)


class AddObservations(GraphCommand[Observed, tuple[Observed, ...]]):
    """Have these observations. The outcome: those that were added, for each that was given."""

    def on(self, desk: Desk) -> tuple[Observed, ...]:
        """Add what is missing.

        Raises:
            NotFoundError: there is no such entity.
        """
        results = []
        for given in self.given:
            desk.needed(given.entity)
            added = (text for text in given.contents if desk.add_part(given.entity, OBSERVATION, text))
            results.append(Observed(given.entity, tuple(added)))
        return tuple(results)


class CreateRelations(GraphCommand[Relation, tuple[Relation, ...]]):
    """Have these relations. The outcome: those created."""

    def on(self, desk: Desk) -> tuple[Relation, ...]:
        """Create what is missing.

        Raises:
            NotFoundError: an entity is missing.
        """
        return tuple(relation for relation in self.given if desk.create_relation(relation))


class HoldRelations(GraphCommand[Relation, tuple[bool | str, ...]]):
    """Have those of these relations that can be.

    The outcome: for each whether it was created, or why it cannot be.
    """

    def on(self, desk: Desk) -> tuple[bool | str, ...]:
        """Create what is missing and can be."""
        return tuple(self._one(desk, relation) for relation in self.given)

    def _one(self, desk: Desk, relation: Relation) -> bool | str:
        try:
            return desk.create_relation(relation)
        except (NotFoundError, ConflictError) as error:  # both are raised before anything is appended
            return str(error)


class DeleteEntities(GraphCommand[str, Deleted]):
    """Have no entities of these names, nor what hangs on them. A name that is there twice counts twice."""

    writes = False

    def on(self, desk: Desk) -> Deleted:
        """Hide those that are there."""
        missing = tuple(name for name in self.given if desk.entity(name) is None)
        for name in self.given:
            desk.delete_entity(name)
        return Deleted(len(self.given) - len(missing), missing)


class DeleteObservations(GraphCommand[Observed, Deleted]):
    """Have none of these observations."""

    writes = False

    def on(self, desk: Desk) -> Deleted:
        """Hide those that are there."""
        missing = tuple(given.entity for given in self.given if desk.entity(given.entity) is None)
        count = sum(
            desk.delete_part(given.entity, OBSERVATION, content)
            for given in self.given
            for content in given.contents
        )
        return Deleted(count, missing)


class DeleteRelations(GraphCommand[Relation, Deleted]):
    """Have none of these relations."""

    writes = False

    def on(self, desk: Desk) -> Deleted:
        """Hide those that are there."""
        return Deleted(sum(map(desk.delete_relation, self.given)))
