"""Import and export the file of the MCP memory server: `memory.jsonl`, formerly `memory.json`.

Each line is a JSON object in UTF-8: `{"type":"entity","name","entityType","observations":[text]}` or
`{"type":"relation","from","to","relationType"}`. The import also accepts `entityName` or `id` for `name`;
`from_id`, `to_id` and `relation_type` in relations; entities without type or observations; a byte order mark;
a last line without a line end; and several objects on one line, which concurrent writes of the server can
leave behind.
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from engine.base.error_translation import translated
from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.json_text import JsonError, parse_several
from engine.base.validation import content as checked_content
from engine.base.validation import provenance as checked_provenance
from engine.base.validation import quoted
from engine.exchange.other_programs.base import ItemsExported, Put
from engine.exchange.other_programs.graph_import import GraphImportReport, GraphItem, import_graph
from engine.exchange.other_programs.live_atoms import live_atoms
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.jsonl import lines_of
from engine.knowledge import KnowledgeGraph, shapes
from engine.knowledge.forms import checked_entity, checked_relation
from engine.knowledge.model import Entity, Relation
from engine.ledger.entities import ENTITY
from engine.ledger.records import AtomRecord
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store

LINE_BYTES_MAX: Final = 16 << 20

_READ_BYTES: Final = 1 << 20
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NAMES: Final = ("name", "entityName", "id")
_GRAPH_SOURCES: Final = ("entity/", "entity-self/")
"""Two prefixes of sources: for an entity's observations, and for an entity's relations to itself."""


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
        return import_graph(target, lambda: read_file(file), provenance, progress)


def check_file(path: Path) -> None:
    """Check that a file can be read to its end and is UTF-8.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: the file is not a regular file, cannot be read, or is not UTF-8.
    """
    if not path.exists():
        raise NotFoundError(f"there is no file {path}")
    if not path.is_file():
        raise InvalidInputError(f"{path} is not a file")
    decoder, read, start, part = codecs.getincrementaldecoder("utf-8")(), 0, 0, b" "
    try:
        with path.open("rb") as stream:
            while part:
                part = stream.read(_READ_BYTES)
                if read == 0 and part.startswith(_UTF16):
                    raise InvalidInputError(f"{path} is UTF-16, not UTF-8", hint="save it as UTF-8")
                start = read - len(decoder.getstate()[0])  # the decoder buffers an incomplete character
                decoder.decode(part, final=not part)
                read += len(part)
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path} is not valid UTF-8 at byte {start + error.start}",
            hint="nothing was imported; save it as UTF-8",
        ) from None
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
    lines: list[dict[str, Any]] = [{"type": "entity"} | one for one in shapes.entities(graph.entities)]
    lines += [{"type": "relation"} | one for one in shapes.relations(graph.relations)]
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
