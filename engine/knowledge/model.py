"""The values that a knowledge graph takes and returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity. Names are exact: case and white space matter."""

    name: str
    type: str = ""
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed relation of a type between two entities, given by their names."""

    src: str
    type: str
    dst: str


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations of one entity, to be added or deleted or as they were added."""

    entity: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A knowledge graph or a part of one, in the order of creation."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Deleted:
    """The result of a deletion: the number of deleted items, and the names without an entity."""

    count: int
    missing: tuple[str, ...] = ()
