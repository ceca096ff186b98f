"""Writing the knowledge graph as the file of the MCP memory server: entities first, then relations."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from engine.knowledge import KnowledgeGraph, shapes
from engine.ledger.entities import ENTITY
from engine.ledger.records import AtomRecord
from engine.store.store import Store
from engine.transfer.adapters.base import Exported, Put
from engine.transfer.adapters.live import live

_IN_THE_GRAPH: Final = ("entity/", "entity-self/")
"""What the sources of an entity's observations, and of its relations to itself, begin with."""


def write(store: Store, put: Put) -> Exported:
    """Entities, observations and relations, as the server itself writes them: no end to the last line.

    Atoms that are neither are not in it, and are counted.
    """
    graph = KnowledgeGraph(store).read_graph()
    lines: list[dict[str, Any]] = [{"type": "entity"} | one for one in shapes.entities(graph.entities)]
    lines += [{"type": "relation"} | one for one in shapes.relations(graph.relations)]
    with live(store) as atoms:
        kinds = Counter(record.kind for record in atoms.records() if not _is_in_the_graph(record))
    for at, line in enumerate(lines):
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        put((b"\n" if at else b"") + text.encode())
    return Exported.of(len(lines), Counter({f"atoms of kind {kind}": count for kind, count in kinds.items()}))


def _is_in_the_graph(record: AtomRecord) -> bool:
    return record.kind == ENTITY or (record.source or "").startswith(_IN_THE_GRAPH)
