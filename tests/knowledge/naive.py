"""The memory server's nine operations as it has them: lists, looked through from the beginning.

Written from its documented behaviour; equal observations of an entity are one, as `Graph` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.knowledge import Deleted, Entity, Knowledge, Observed, Relation


class MissingError(Exception):
    """An entity is missing; nothing was changed."""


class NaiveGraph:
    """A graph as two lists."""

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.relations: list[Relation] = []

    def names(self) -> list[str]:
        """The names of the entities, in order."""
        return [entity.name for entity in self.entities]

    def create_entities(self, given: Sequence[Entity]) -> tuple[Entity, ...]:
        """Add the entities whose names are new."""
        created = []
        for entity in given:
            if entity.name not in self.names():
                created.append(replace(entity, observations=tuple(dict.fromkeys(entity.observations))))
                self.entities.append(created[-1])
        return tuple(created)

    def create_relations(self, given: Sequence[Relation], *, imply: bool = False) -> tuple[Relation, ...]:
        """Add the relations that are new."""
        if not imply:
            self._need(end for relation in given for end in (relation.src, relation.dst))
        created = []
        for relation in given:
            if relation not in self.relations:
                created.append(relation)
                self.relations.append(relation)
        return tuple(created)

    def add_observations(self, given: Sequence[Observed]) -> tuple[Observed, ...]:
        """Add the observations that are new."""
        self._need(one.entity for one in given)
        results = []
        for one in given:
            at = self.names().index(one.entity)
            before = self.entities[at].observations
            new = tuple(text for text in dict.fromkeys(one.contents) if text not in before)
            self.entities[at] = replace(self.entities[at], observations=before + new)
            results.append(Observed(one.entity, new))
        return tuple(results)

    def delete_entities(self, names: Sequence[str]) -> Deleted:
        """Delete entities with their observations and relations."""
        missing = tuple(name for name in names if name not in self.names())
        self.entities = [entity for entity in self.entities if entity.name not in names]
        self.relations = [one for one in self.relations if one.src not in names and one.dst not in names]
        return Deleted(len(names) - len(missing), missing)

    def delete_observations(self, given: Sequence[Observed]) -> Deleted:
        """Delete the observations that exist."""
        count, missing = 0, []
        for one in given:
            if one.entity not in self.names():
                missing.append(one.entity)
                continue
            at = self.names().index(one.entity)
            before = self.entities[at].observations
            left = tuple(text for text in before if text not in one.contents)
            self.entities[at] = replace(self.entities[at], observations=left)
            count += len(before) - len(left)
        return Deleted(count, tuple(missing))

    def delete_relations(self, given: Sequence[Relation]) -> Deleted:
        """Delete the relations that exist."""
        before = len(self.relations)
        self.relations = [relation for relation in self.relations if relation not in given]
        return Deleted(before - len(self.relations))

    def read_graph(self) -> Knowledge:
        """Return the whole graph."""
        return Knowledge(tuple(self.entities), tuple(self.relations))

    def search_nodes(self, query: str) -> Knowledge:
        """Return the entities that contain the query."""
        return self._with_relations(
            [
                one
                for one in self.entities
                if any(query.lower() in text.lower() for text in (one.name, one.type, *one.observations))
            ]
        )

    def open_nodes(self, names: Sequence[str]) -> Knowledge:
        """Return the entities with these names."""
        return self._with_relations([entity for entity in self.entities if entity.name in names])

    def _with_relations(self, found: list[Entity]) -> Knowledge:
        names = {entity.name for entity in found}
        relations = (one for one in self.relations if one.src in names or one.dst in names)
        return Knowledge(tuple(found), tuple(relations))

    def _need(self, names: Iterable[str]) -> None:
        if set(names) - set(self.names()):
            raise MissingError
