"""Taking in a whole knowledge graph, of any size: entities first, then relations, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from engine.base.limits import FOLLOW_EVENTS_MAX
from engine.commands.atoms import ERASED, is_destroyed
from engine.knowledge.commands import GraphCommand, upsert_entities, upsert_relations
from engine.knowledge.model import Entity, Relation
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.transfer.ingest.documents import Skipped
from engine.transfer.other_programs.base import ACTOR

BATCH_EVENTS: Final = 4000
BATCH_BYTES: Final = 4 << 20
"""What one batch is meant to hold; the limits on batches are over twice as large."""

PIECE_OBSERVATIONS: Final = 1000
"""An entity with more goes in in pieces."""


@dataclass(frozen=True, slots=True)
class Read:
    """Something that a line of a file says, in a form in which it can be kept."""

    line: int
    """From 1."""
    source: str
    """The file's name, for reports."""
    found: Entity | Relation


Lines = Callable[[], Iterator[Read | Skipped]]
"""Reads the file from its beginning, each time it is called."""


@dataclass(frozen=True, slots=True)
class GraphImportReport:
    """What an import did, or would do."""

    entities: int
    """Read; so are the relations."""
    relations: int
    new_entities: int
    new_observations: int
    new_relations: int
    """Those that were not there."""
    skipped: tuple[Skipped, ...]
    """What did not go in."""

    @property
    def changed(self) -> bool:
        """Whether anything was, or would be, appended."""
        return bool(self.new_entities or self.new_observations or self.new_relations)


def hold(store: Store, lines: Lines, provenance: str, progress: Progress = no_progress) -> GraphImportReport:
    """Make the store hold what the lines say, in their order. Reads them twice.

    `progress` is told (entities and relations done, 0: how many there are is not known).
    """
    run = _Run(store, provenance, progress)
    run.entities(lines())
    run.relations(lines())
    store.follow()
    skipped = tuple(sorted(run.skipped, key=lambda item: item.line or 0))
    return GraphImportReport(
        run.read_entities, run.read_relations, run.created, run.observed, run.related, skipped
    )


class _Run:
    def __init__(self, store: Store, provenance: str, progress: Progress) -> None:
        self._store = store
        self._provenance = provenance
        self._progress = progress
        self.read_entities = self.read_relations = 0
        self.created = self.observed = self.related = 0
        self.skipped: list[Skipped] = []
        self._behind = 0

    def entities(self, lines: Iterable[Read | Skipped]) -> None:
        pieces: list[Entity] = []
        events = size = 0
        for item in lines:
            if isinstance(item, Skipped):
                self.skipped.append(item)
                continue
            if not isinstance(item.found, Entity):
                continue
            self.read_entities += 1
            entity = self._without_erased(item, item.found)
            for piece, cost in () if entity is None else _pieces(entity):
                pieces.append(piece)
                events, size = events + 3 + 3 * len(piece.observations), size + cost
                if events >= BATCH_EVENTS or size >= BATCH_BYTES:
                    self._hold_entities(pieces)
                    pieces, events, size = [], 0, 0
        self._hold_entities(pieces)

    def _without_erased(self, item: Read, entity: Entity) -> Entity | None:
        """The entity without observations that were erased, which are reported; None if it was itself."""
        rows, id_key = self._store.backend, self._store.identity.id_key
        if is_destroyed(rows, id_key, entity.name):
            self.skipped.append(Skipped(item.source, ERASED, item.line))
            return None
        kept = tuple(one for one in entity.observations if not is_destroyed(rows, id_key, one))
        erased = Skipped(item.source, f"an observation: {ERASED}", item.line)
        self.skipped += [erased] * (len(entity.observations) - len(kept))
        return Entity(entity.name, entity.type, kept)

    def _hold_entities(self, pieces: list[Entity]) -> None:
        command = GraphCommand(upsert_entities, tuple(pieces), self._provenance)
        self._commit(command)
        self.created += sum(held.created for held in command.outcome)
        self.observed += sum(held.added for held in command.outcome)

    def relations(self, lines: Iterable[Read | Skipped]) -> None:
        part: list[Read] = []
        for item in lines:
            if isinstance(item, Skipped) or not isinstance(item.found, Relation):
                continue
            self.read_relations += 1
            part.append(item)
            if len(part) * 4 >= BATCH_EVENTS:
                self._hold_relations(part)
                part = []
        self._hold_relations(part)

    def _hold_relations(self, part: list[Read]) -> None:
        given = tuple(item.found for item in part if isinstance(item.found, Relation))
        command = GraphCommand(upsert_relations, given, self._provenance)
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
    """The entity cut so that each piece fits a batch, and the bytes of each piece."""
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
