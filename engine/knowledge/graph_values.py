"""The values that the operations of a knowledge graph take and return, and their form in JSON.

The keys in JSON are those of the MCP memory server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity. Names that differ in case or white space are different names."""

    name: str
    type: str = ""
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed relation between two entities, with the names of the entities and a type."""

    src: str
    type: str
    dst: str


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations of one entity that are to be added or deleted, or that were added."""

    entity: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A knowledge graph or a part of one, in the order of creation."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Deleted:
    """The result of a deletion: the number of items deleted, and the given names that no entity has."""

    count: int
    missing: tuple[str, ...] = ()


Fields = dict[str, Any]


def entity_in(fields: Mapping[str, Any]) -> Entity:
    """Return the entity that a JSON object describes. The object must have every key of an entity."""
    return Entity(fields["name"], fields["entityType"], tuple(fields["observations"]))


def relation_in(fields: Mapping[str, Any]) -> Relation:
    """Return the relation that a JSON object describes. The object must have all keys of a relation."""
    return Relation(fields["from"], fields["relationType"], fields["to"])


def entities_as_json(items: Iterable[Entity]) -> list[Fields]:
    """Return entities as JSON objects."""
    return [
        {"name": one.name, "entityType": one.type, "observations": list(one.observations)} for one in items
    ]


def relations_as_json(items: Iterable[Relation]) -> list[Fields]:
    """Return relations as JSON objects."""
    return [{"from": one.src, "to": one.dst, "relationType": one.type} for one in items]


def graph_as_json(found: Knowledge) -> Fields:
    """Return a graph as one JSON object."""
    return {"entities": entities_as_json(found.entities), "relations": relations_as_json(found.relations)}
