"""What goes into a knowledge graph and comes out of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing. Names are exact: case and white space count."""

    name: str
    type: str = ""
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """One directed, typed relation between two entities, named."""

    src: str
    type: str
    dst: str


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations of one entity: to be added or deleted, or those that were added."""

    entity: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A knowledge graph, or a part of one: everything in the order in which it was created."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion found: how many things it deleted, and the names of entities that there are not."""

    count: int
    missing: tuple[str, ...] = ()
