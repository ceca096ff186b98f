"""Import and export the file of the MCP memory server: `memory.jsonl`, formerly `memory.json`.

Each line is a JSON object in UTF-8: `{"type":"entity","name","entityType","observations":[text]}` or
`{"type":"relation","from","to","relationType"}`. The import also accepts `entityName` or `id` for `name`;
`from_id`, `to_id` and `relation_type` in relations; entities without type or observations; a byte order mark;
a last line without a line end; and several objects on one line, which concurrent writes of the server can
leave behind.

The file is read twice: first for the entities, then for the relations.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

from engine.base.errors import InvalidInputError, translated
from engine.base.json_text import JsonError, parse_several
from engine.base.validation import content as checked_content
from engine.base.validation import provenance as checked_provenance
from engine.base.validation import quoted
from engine.commands.atoms import ERASED, is_destroyed
from engine.exchange.other_programs.item_atoms import live_atoms
from engine.exchange.other_programs.program_items import ACTOR, ItemsExported, Put, check_readable
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.jsonl import lines_of
from engine.knowledge import KnowledgeGraph, graph_values
from engine.knowledge.graph_commands import GraphCommand, upsert_entities, upsert_relations
from engine.knowledge.graph_encoding import checked_entity, checked_relation
from engine.knowledge.graph_values import Entity, Relation
from engine.ledger.entities import ENTITY
from engine.ledger.records import AtomRecord
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store

_T = TypeVar("_T")

LINE_BYTES_MAX: Final = 16 << 20

_READ_CHARS: Final = 1 << 20
_NAMES: Final = ("name", "entityName", "id")
_GRAPH_SOURCES: Final = ("entity/", "entity-self/")
"""Two prefixes of sources: for an entity's observations, and for an entity's relations to itself."""

OBSERVATIONS_MAX: Final = 8
"""The maximum number of observations of an entity in one step: the largest ones still fit into a batch."""

BATCH_CHARS: Final = 4 << 20
"""A batch is committed when it has this many characters. Each item and observation counts as 4,000 more: it
gives up to four events."""


def import_file(
    store: Store,
    path: str | Path,
    *,
    provenance: str = "internal",
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> GraphImportReport:
    """Add the graph in a file of the MCP memory server to the store.

    Items (entities, observations and relations) that exist already are left unchanged, and tombstoned items
    are revived. If the process is killed, the next run continues the import.

    Args:
        store: The store to import into.
        path: The file.
        provenance: The provenance of new atoms. The default is `internal`, because the file is the user's own
            memory.
        dry_run: Only count the changes, without writing.
        progress: Called after each batch with the number of items done, and with 0 for the unknown total.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: the file is not a regular file, cannot be read, or is not UTF-8; nothing was
            written.
    """
    file = Path(path)
    checked_provenance(provenance)
    check_file(file)
    with translated(), dry_run_store(store, when=dry_run) as target:
        run = _GraphRun(target, provenance, progress)
        run.entities(read_file(file))
        run.relations(read_file(file))
        target.follow()
    return run.report()


def check_file(path: Path) -> None:
    """Check that a file can be read to its end and is UTF-8.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: the file is not a regular file, cannot be read, or is not UTF-8.
    """
    check_readable(path)
    try:
        with path.open(encoding="utf-8") as stream:
            while stream.read(_READ_CHARS):
                pass
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not valid UTF-8", hint="save it as UTF-8") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {(error.strerror or 'failed').lower()}") from None


def read_file(path: Path, *, line_bytes_max: int = LINE_BYTES_MAX) -> Iterator[GraphItem | Skipped]:
    """Yield the entities and relations of a checked file in order.

    For an item that cannot be imported, yield the reason. Invalid observations of an entity are left out
    and reported. At most one line is held in memory.
    """
    name = path.name
    with path.open("rb") as stream:
        for number, raw in lines_of(stream, line_bytes_max):
            if raw is None:
                yield Skipped(name, f"the line is over {line_bytes_max:,} bytes long", number)
                continue
            try:
                for fields in _objects(raw):
                    yield from _parse(fields, name, number)
            except BadItemError as error:
                yield Skipped(name, str(error), number)


def _objects(raw: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield each object on a line, one or more; raise `BadItemError` at an invalid object."""
    try:
        for value in parse_several(raw):
            if not isinstance(value, dict):
                raise BadItemError("not a JSON object")
            yield value
    except JsonError as error:
        raise BadItemError(str(error)) from None


def _parse(fields: Mapping[str, Any], name: str, line: int) -> Iterator[GraphItem | Skipped]:
    kind = fields.get("type")
    try:
        if kind == "entity":
            entity = Entity(_text(fields, *_NAMES), _text(fields, "entityType", default=""))
            valid, problems = _observations(fields)
            yield GraphItem(line, name, checked_entity(Entity(entity.name, entity.type, valid)))
            yield from (Skipped(name, problem, line) for problem in problems)
        elif kind == "relation":
            src, dst = _text(fields, "from", "from_id"), _text(fields, "to", "to_id")
            relation = Relation(src, _text(fields, "relationType", "relation_type"), dst)
            yield GraphItem(line, name, checked_relation(relation))
        else:
            raise BadItemError(f"the type is {quoted(kind)}; it must be entity or relation")
    except InvalidInputError as error:
        raise BadItemError(str(error)) from None


def _text(fields: Mapping[str, Any], *names: str, default: str | None = None) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str):
            return value
        if value is not None:
            raise BadItemError(f"`{name}` must be a string")
    if default is None:
        raise BadItemError(f"`{names[0]}` is missing")
    return default


def _observations(fields: Mapping[str, Any]) -> tuple[tuple[str, ...], list[str]]:
    """Return the valid observations, and a message for each invalid one."""
    observations = fields.get("observations")
    if observations is None:
        observations = []
    if not isinstance(observations, list):
        raise BadItemError("`observations` must be a list of strings")
    valid, problems = [], []
    for number, value in enumerate(observations, 1):
        try:
            valid.append(checked_content(value))
        except InvalidInputError as error:
            problems.append(f"observation {number}: {error}")
    return tuple(valid), problems


def write(store: Store, put: Put) -> ItemsExported:
    """Write entities and then relations in the server's format, without a line end after the last line.

    All other atoms are not written, but counted by kind.
    """
    graph = KnowledgeGraph(store).read_graph()
    lines: list[dict[str, Any]] = [
        {"type": "entity"} | one for one in graph_values.entities_as_json(graph.entities)
    ]
    lines += [{"type": "relation"} | one for one in graph_values.relations_as_json(graph.relations)]
    with live_atoms(store) as atoms:
        kinds = Counter(record.kind for record in atoms.records() if not _is_in_the_graph(record))
    for at, line in enumerate(lines):
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        put((b"\n" if at else b"") + text.encode())
    return ItemsExported.of(
        len(lines), Counter({f"atoms of kind {kind}": count for kind, count in kinds.items()})
    )


def _is_in_the_graph(record: AtomRecord) -> bool:
    return record.kind == ENTITY or (record.source or "").startswith(_GRAPH_SOURCES)


@dataclass(frozen=True, slots=True)
class GraphItem:
    """A valid entity or relation in a file."""

    line: int
    """The line number, from 1."""
    source: str
    """The file's name, for reports."""
    value: Entity | Relation


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


class _GraphRun:
    def __init__(self, store: Store, provenance: str, progress: Progress) -> None:
        self._store = store
        self._provenance = provenance
        self._progress = progress
        self._entities = self._relations = 0
        self._created = self._observed = self._related = 0
        self._skipped: list[Skipped] = []

    def entities(self, items: Iterable[GraphItem | Skipped]) -> None:
        """Add the entities and their observations, and collect the reports."""
        for parts in _batches(chain.from_iterable(map(self._parts, items)), _cost):
            for done in self._commit(GraphCommand(upsert_entities, parts, self._provenance)):
                self._created += done.created
                self._observed += done.added

    def _parts(self, item: GraphItem | Skipped) -> Iterator[Entity]:
        """Yield an entity several times, each time with a few of its observations."""
        if isinstance(item, Skipped):
            self._skipped.append(item)
        elif isinstance(item.value, Entity):
            self._entities += 1
            entity = self._without_erased(item, item.value)
            if entity is not None:
                for at in range(0, len(entity.observations) or 1, OBSERVATIONS_MAX):
                    yield Entity(entity.name, entity.type, entity.observations[at : at + OBSERVATIONS_MAX])

    def _without_erased(self, item: GraphItem, entity: Entity) -> Entity | None:
        """Return the entity without its erased observations, which are reported.

        Return None if the entity's name was erased.
        """
        rows, id_key = self._store.backend, self._store.identity.id_key
        if is_destroyed(rows, id_key, entity.name):
            self._skipped.append(Skipped(item.source, ERASED, item.line))
            return None
        remaining = tuple(text for text in entity.observations if not is_destroyed(rows, id_key, text))
        erased = Skipped(item.source, f"an observation: {ERASED}", item.line)
        self._skipped += [erased] * (len(entity.observations) - len(remaining))
        return Entity(entity.name, entity.type, remaining)

    def relations(self, items: Iterable[GraphItem | Skipped]) -> None:
        """Add the relations. The entities must have been added."""
        related = (one for one in items if isinstance(one, GraphItem) and isinstance(one.value, Relation))
        for batch in _batches(related, lambda _: 0):
            self._relations += len(batch)
            values = tuple(item.value for item in batch if isinstance(item.value, Relation))
            outcomes = self._commit(GraphCommand(upsert_relations, values, self._provenance))
            for item, outcome in zip(batch, outcomes, strict=True):
                if isinstance(outcome, bool):
                    self._related += outcome
                else:
                    self._skipped.append(Skipped(item.source, outcome, item.line))

    def _commit(self, command: GraphCommand[Any, _T]) -> _T:
        self._store.commit([command], ACTOR)
        self._store.follow(more=True)
        self._progress(self._entities + self._relations, 0)
        return command.outcome

    def report(self) -> GraphImportReport:
        """Return the report of the run."""
        skipped = tuple(sorted(self._skipped, key=lambda one: one.line or 0))
        return GraphImportReport(
            self._entities, self._relations, self._created, self._observed, self._related, skipped
        )


def _cost(entity: Entity) -> int:
    return sum(4000 + len(text) for text in entity.observations)


def _batches(items: Iterable[_T], cost: Callable[[_T], int]) -> Iterator[tuple[_T, ...]]:
    batch: list[_T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += 4000 + cost(item)
        if total >= BATCH_CHARS:
            yield tuple(batch)
            batch, total = [], 0
    if batch:
        yield tuple(batch)
