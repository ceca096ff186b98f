"""The JSON form of a knowledge graph, with the keys of the MCP memory server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.knowledge.model import Entity, Knowledge, Relation

Fields = dict[str, Any]


def entity_in(fields: Mapping[str, Any]) -> Entity:
    """Return the entity that a JSON object describes. The object must have every key of an entity."""
    return Entity(fields["name"], fields["entityType"], tuple(fields["observations"]))


def relation_in(fields: Mapping[str, Any]) -> Relation:
    """Return the relation that a JSON object describes. The object must have all keys of a relation."""
    return Relation(fields["from"], fields["relationType"], fields["to"])


def entities(items: Iterable[Entity]) -> list[Fields]:
    """Return entities as JSON objects."""
    return [
        {"name": one.name, "entityType": one.type, "observations": list(one.observations)} for one in items
    ]


def relations(items: Iterable[Relation]) -> list[Fields]:
    """Return relations as JSON objects."""
    return [{"from": one.src, "to": one.dst, "relationType": one.type} for one in items]


def knowledge(found: Knowledge) -> Fields:
    """Return a graph as one JSON object."""
    return {"entities": entities(found.entities), "relations": relations(found.relations)}
