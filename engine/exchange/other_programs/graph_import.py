"""Import a knowledge graph of any size in batches: first the entities, then the relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from engine.base.limits import FOLLOW_EVENTS_MAX
from engine.commands.atoms import ERASED, is_destroyed
from engine.exchange.other_programs.base import ACTOR
from engine.files.ingest.documents import Skipped
from engine.knowledge.commands import GraphCommand, upsert_entities, upsert_relations
from engine.knowledge.model import Entity, Relation
from engine.store.replay import Progress, no_progress
from engine.store.store import Store

BATCH_EVENTS: Final = 4000
BATCH_BYTES: Final = 4 << 20
"""A batch is committed when it has this many bytes. The engine accepts batches four times as large."""

PIECE_OBSERVATIONS: Final = 1000
"""At most this many observations of an entity are imported in one step."""


@dataclass(frozen=True, slots=True)
class GraphItem:
    """A valid entity or relation in a file."""

    line: int
    """The line number, from 1."""
    source: str
    """The file's name, for reports."""
    value: Entity | Relation


ReadGraph = Callable[[], Iterator[GraphItem | Skipped]]
"""A function that reads the file from its beginning each time it is called."""


@dataclass(frozen=True, slots=True)
class GraphImportReport:
    """The changes that an import made, or would make in a dry run."""

    entities: int
    """The number of entities read."""
    relations: int
    """The number of relations read."""
    new_entities: int
    new_observations: int
    new_relations: int
    """The number of relations that did not exist before."""
    skipped: tuple[Skipped, ...]
    """The items that were not imported."""

    @property
    def changed(self) -> bool:
        """True if any event was appended, or would be in a dry run."""
        return bool(self.new_entities or self.new_observations or self.new_relations)


def import_graph(
    store: Store, read: ReadGraph, provenance: str, progress: Progress = no_progress
) -> GraphImportReport:
    """Add the entities and relations of a file to the store, in their order; the file is read twice.

    `progress` is called with the number of entities and relations done, and with 0 for the unknown total.
    """
    run = _GraphImport(store, provenance, progress)
    run.entities(read())
    run.relations(read())
    store.follow()
    skipped = tuple(sorted(run.skipped, key=lambda item: item.line or 0))
    return GraphImportReport(
        run.read_entities, run.read_relations, run.created, run.observed, run.related, skipped
    )


class _GraphImport:
    def __init__(self, store: Store, provenance: str, progress: Progress) -> None:
        self._store = store
        self._provenance = provenance
        self._progress = progress
        self.read_entities = self.read_relations = 0
        self.created = self.observed = self.related = 0
        self.skipped: list[Skipped] = []
        self._behind = 0

    def entities(self, lines: Iterable[GraphItem | Skipped]) -> None:
        pieces: list[Entity] = []
        events = size = 0
        for item in lines:
            if isinstance(item, Skipped):
                self.skipped.append(item)
                continue
            if not isinstance(item.value, Entity):
                continue
            self.read_entities += 1
            entity = self._without_erased(item, item.value)
            for piece, cost in () if entity is None else _pieces(entity):
                pieces.append(piece)
                events, size = events + 3 + 3 * len(piece.observations), size + cost
                if events >= BATCH_EVENTS or size >= BATCH_BYTES:
                    self._upsert_entities(pieces)
                    pieces, events, size = [], 0, 0
        self._upsert_entities(pieces)

    def _without_erased(self, item: GraphItem, entity: Entity) -> Entity | None:
        """Return the entity without its erased observations, which are reported.

        Return None if the entity's name was erased.
        """
        rows, id_key = self._store.backend, self._store.identity.id_key
        if is_destroyed(rows, id_key, entity.name):
            self.skipped.append(Skipped(item.source, ERASED, item.line))
            return None
        remaining = tuple(text for text in entity.observations if not is_destroyed(rows, id_key, text))
        erased = Skipped(item.source, f"an observation: {ERASED}", item.line)
        self.skipped += [erased] * (len(entity.observations) - len(remaining))
        return Entity(entity.name, entity.type, remaining)

    def _upsert_entities(self, pieces: list[Entity]) -> None:
        command = GraphCommand(upsert_entities, tuple(pieces), self._provenance)
        self._commit(command)
        self.created += sum(outcome.created for outcome in command.outcome)
        self.observed += sum(outcome.added for outcome in command.outcome)

    def relations(self, lines: Iterable[GraphItem | Skipped]) -> None:
        part: list[GraphItem] = []
        for item in lines:
            if isinstance(item, Skipped) or not isinstance(item.value, Relation):
                continue
            self.read_relations += 1
            part.append(item)
            if len(part) * 4 >= BATCH_EVENTS:
                self._upsert_relations(part)
                part = []
        self._upsert_relations(part)

    def _upsert_relations(self, part: list[GraphItem]) -> None:
        relations = tuple(item.value for item in part if isinstance(item.value, Relation))
        command = GraphCommand(upsert_relations, relations, self._provenance)
        self._commit(command)
        for item, outcome in zip(part, command.outcome, strict=True):
            if isinstance(outcome, bool):
                self.related += outcome
            else:
                self.skipped.append(Skipped(item.source, outcome, item.line))

    def _commit(self, command: GraphCommand[Any, Any]) -> None:
        (receipt,) = self._store.commit([command], ACTOR)
        self._behind += len(receipt.events)
        if self._behind >= FOLLOW_EVENTS_MAX // 2:
            self._store.follow(more=True)
            self._behind = 0
        self._progress(self.read_entities + self.read_relations, 0)


def _pieces(entity: Entity) -> Iterator[tuple[Entity, int]]:
    """Split an entity so that each piece fits into a batch, and yield each piece with its size in bytes."""
    part: list[str] = []
    size = 0
    for text in entity.observations:
        part.append(text)
        size += len(text.encode())
        if len(part) == PIECE_OBSERVATIONS or size >= BATCH_BYTES:
            yield Entity(entity.name, entity.type, tuple(part)), size
            part, size = [], 0
    if part or not entity.observations:
        yield Entity(entity.name, entity.type, tuple(part)), size
