"""Taking in a whole knowledge graph, of any size: entities first, then relations, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engine.base.error_translation import translated
from engine.base.limits import FOLLOW_EVENTS_MAX
from engine.commands.destroyed import ERASED, is_destroyed
from engine.knowledge.commands import GraphCommand, HoldEntities, HoldRelations
from engine.knowledge.graph import Graph
from engine.knowledge.model import Entity, Relation
from engine.transfer.ingest.documents import Skipped

if TYPE_CHECKING:
    from engine.engine import Engine

ACTOR: Final = "import"
"""Who all events of an import are by."""

BATCH_EVENTS: Final = 4000
BATCH_BYTES: Final = 4 << 20
"""What one batch is meant to hold; the limits on batches are over twice as large."""

PIECE_OBSERVATIONS: Final = 1000
"""An entity with more goes in in pieces."""

Progress = Callable[[int, int], None]
"""Told (entities and relations done, 0: how many there are is not known)."""


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
class ImportReport:
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


def no_progress(done: int, total: int) -> None:
    """Shows nothing."""


def hold(engine: Engine, lines: Lines, provenance: str, progress: Progress = no_progress) -> ImportReport:
    """Have the memory hold what the lines say, in their order. Reads them twice."""
    run = _Run(engine, provenance, progress)
    run.entities(lines())
    run.relations(lines())
    engine.catch_up()
    return run.report()


def count(engine: Engine, lines: Lines, progress: Progress = no_progress) -> ImportReport:
    """What `hold` would do to the memory as it is now. Holds all of both graphs in memory."""
    known = Graph(engine).read_graph()
    observations = {entity.name: set(entity.observations) for entity in known.entities}
    relations = set(known.relations)
    counts = _Counts()
    for item in lines():
        if isinstance(item, Skipped):
            counts.skipped.append(item)
        elif isinstance(item.found, Entity):
            counts.entities += 1
            counts.created += item.found.name not in observations
            held = observations.setdefault(item.found.name, set())
            before = len(held)
            held.update(item.found.observations)
            counts.observed += len(held) - before
            progress(counts.done, 0)
    for item in _of(lines(), Relation):
        counts.relations += 1
        relation = item.found
        if isinstance(relation, Relation) and {relation.src, relation.dst} <= observations.keys():
            counts.related += relation not in relations
            relations.add(relation)
        else:
            counts.skipped.append(_unrelated(item, observations.__contains__))
        progress(counts.done, 0)
    return counts.report()


class _Counts:
    def __init__(self) -> None:
        self.entities = self.relations = 0
        self.created = self.observed = self.related = 0
        self.skipped: list[Skipped] = []

    @property
    def done(self) -> int:
        return self.entities + self.relations

    def report(self) -> ImportReport:
        skipped = tuple(sorted(self.skipped, key=lambda item: item.line or 0))
        return ImportReport(self.entities, self.relations, self.created, self.observed, self.related, skipped)


class _Run:
    def __init__(self, engine: Engine, provenance: str, progress: Progress) -> None:
        self._engine = engine
        self._provenance = provenance
        self._progress = progress
        self._counts = _Counts()
        self._behind = 0

    def entities(self, lines: Iterable[Read | Skipped]) -> None:
        pieces: list[Entity] = []
        events = size = 0
        for item in lines:
            if isinstance(item, Skipped):
                self._counts.skipped.append(item)
                continue
            if not isinstance(item.found, Entity):
                continue
            self._counts.entities += 1
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
        store = self._engine.store

        def erased(content: str) -> bool:
            return is_destroyed(store.backend, store.identity.id_key, content)

        if erased(entity.name):
            self._counts.skipped.append(Skipped(item.source, ERASED, item.line))
            return None
        kept = tuple(one for one in entity.observations if not erased(one))
        for _ in range(len(entity.observations) - len(kept)):
            self._counts.skipped.append(Skipped(item.source, f"an observation: {ERASED}", item.line))
        return Entity(entity.name, entity.type, kept)

    def _hold_entities(self, pieces: list[Entity]) -> None:
        command = HoldEntities(tuple(pieces), self._provenance)
        self._apply(command)
        self._counts.created += sum(held.created for held in command.outcome)
        self._counts.observed += sum(held.added for held in command.outcome)
        self._progress(self._counts.done, 0)

    def relations(self, lines: Iterable[Read | Skipped]) -> None:
        part: list[Read] = []
        for item in _of(lines, Relation):
            self._counts.relations += 1
            part.append(item)
            if len(part) * 4 >= BATCH_EVENTS:
                self._hold_relations(part)
                part = []
        self._hold_relations(part)

    def _hold_relations(self, part: list[Read]) -> None:
        given = tuple(item.found for item in part if isinstance(item.found, Relation))
        command = HoldRelations(given, self._provenance)
        self._apply(command)
        for item, outcome in zip(part, command.outcome, strict=True):
            if isinstance(outcome, bool):
                self._counts.related += outcome
            else:
                self._counts.skipped.append(Skipped(item.source, outcome, item.line))
        self._progress(self._counts.done, 0)

    def _apply(self, command: GraphCommand[Any, Any]) -> None:
        receipts = self._engine.apply([command], actor=ACTOR)
        self._behind += len(receipts[0].events)
        if self._behind >= FOLLOW_EVENTS_MAX // 2:
            with translated():
                self._engine.store.follow(more=True)
            self._behind = 0

    def report(self) -> ImportReport:
        return self._counts.report()


def _of(lines: Iterable[Read | Skipped], kind: type) -> Iterator[Read]:
    return (item for item in lines if isinstance(item, Read) and isinstance(item.found, kind))


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


def _unrelated(item: Read, known: Callable[[str], bool]) -> Skipped:
    relation = item.found
    ends = (relation.src, relation.dst) if isinstance(relation, Relation) else ()
    missing = next((end for end in ends if not known(end)), "")
    return Skipped(item.source, f"Entity with name {missing} not found", item.line)
