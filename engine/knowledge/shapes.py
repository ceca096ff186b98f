"""The JSON of a knowledge graph, in the memory server's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.knowledge.model import Entity, Knowledge, Relation

Fields = dict[str, Any]


def entity_in(fields: Mapping[str, Any]) -> Entity:
    """The entity that an object with all its keys is."""
    return Entity(fields["name"], fields["entityType"], tuple(fields["observations"]))


def relation_in(fields: Mapping[str, Any]) -> Relation:
    """The relation that an object with all its keys is."""
    return Relation(fields["from"], fields["relationType"], fields["to"])


def entities(given: Iterable[Entity]) -> list[Fields]:
    """Entities as objects."""
    return [
        {"name": one.name, "entityType": one.type, "observations": list(one.observations)} for one in given
    ]


def relations(given: Iterable[Relation]) -> list[Fields]:
    """Relations as objects."""
    return [{"from": one.src, "to": one.dst, "relationType": one.type} for one in given]


def knowledge(found: Knowledge) -> Fields:
    """A graph as one object."""
    return {"entities": entities(found.entities), "relations": relations(found.relations)}
