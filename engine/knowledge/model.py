"""The values that the operations of a knowledge graph take and return."""

from __future__ import annotations

from dataclasses import dataclass


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
