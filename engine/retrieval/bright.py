"""Bright nodes: the atoms a question lights up, and how they hang together (Standard 065).

A reasoning model is better served by a small graph than by a list: which of the hits are linked, which
share a rare tag, which stand side by side in their source.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, islice
from math import log
from typing import TYPE_CHECKING, Final

from engine.border import show_id, tag_identity
from engine.followers.tags import LIVE, Group, members
from engine.model import Direction
from engine.queries import edges_at
from engine.records import AtomRecord, type_name
from engine.retrieval.answer import Recall
from engine.retrieval.walk import rarity

if TYPE_CHECKING:
    from backends.base import Reader
    from engine.retrieval.places import Places

NODES_MAX: Final = 50

RELATIONS_MAX: Final = 200
"""So many are shown, the strongest."""

EDGES_READ_MAX: Final = 1000
"""So many of the edges that leave an atom are looked through for those that lead to another lit one."""

COMMON_BUCKET: Final = 0.5
"""A bucket that a larger share of all atoms is in relates nobody."""


class RelationKind(StrEnum):
    """What joins two lit atoms."""

    EDGE = "edge"
    """A recorded edge, directed."""
    NEXT = "next_in_source"
    """The second is the next live atom of the first one's source; directed."""
    TAG = "shares_tag"
    BUCKET = "shares_bucket"
    SOURCE = "same_source"


@dataclass(frozen=True, slots=True)
class BrightNode:
    """A lit atom. `created` is µs UTC."""

    id: str
    brightness: float
    """Its score beside the best one's: more than 0 to 1."""
    title: str | None
    snippet: str
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    source: str | None
    sequence: int | None
    created: int


@dataclass(frozen=True, slots=True)
class Relation:
    """Two lit atoms that have something to do with each other."""

    kind: RelationKind
    src: str
    dst: str
    strength: float
    """More than 0 to 1: an edge's weight as far as it is in there, else how telling what they share is."""
    names: tuple[str, ...]
    """The edge's type, the tags, the buckets, or the source."""

    @property
    def directed(self) -> bool:
        """Whether `src` and `dst` may not be exchanged."""
        return self.kind in (RelationKind.EDGE, RelationKind.NEXT)


@dataclass(frozen=True, slots=True)
class BrightGraph:
    """The lit atoms, the brightest first, and their relations, the strongest first, as of `size` events."""

    query: str
    nodes: tuple[BrightNode, ...]
    relations: tuple[Relation, ...]
    size: int


def nodes_of(answer: Recall, records: Sequence[AtomRecord]) -> tuple[BrightNode, ...]:
    """The hits of an answer as nodes; `records` are theirs."""
    best = answer.hits[0].score if answer.hits else 1.0
    return tuple(
        BrightNode(
            id=hit.id,
            brightness=round(hit.score / best, 6),
            title=hit.title,
            snippet=hit.snippet,
            tags=hit.tags,
            buckets=record.buckets,
            source=hit.source,
            sequence=hit.sequence,
            created=hit.created,
        )
        for hit, record in zip(answer.hits, records, strict=True)
    )


def relations_of(rows: Reader, places: Places, records: Sequence[AtomRecord]) -> tuple[Relation, ...]:
    """The relations between atoms, at most RELATIONS_MAX: the strongest, equals by kind and ids.

    Raises:
        CorruptionError: a row is malformed or missing.
    """
    live = members(rows, LIVE)
    found = [
        *_edges(rows, records),
        *_next(places, records, list(live)),
        *_sharing(rows, records, RelationKind.TAG, len(live)),
        *_sharing(rows, records, RelationKind.BUCKET, len(live)),
    ]
    beside = {frozenset((one.src, one.dst)) for one in found if one.kind is RelationKind.NEXT}
    found.extend(one for one in _sources(rows, records) if frozenset((one.src, one.dst)) not in beside)
    found.sort(key=lambda one: (-one.strength, one.kind, one.src, one.dst, one.names))
    return tuple(found[:RELATIONS_MAX])


def _edges(rows: Reader, records: Sequence[AtomRecord]) -> Iterator[Relation]:
    lit = {record.id for record in records}
    for record in records:
        for edge in islice(edges_at(rows, record.id, Direction.OUT, ()), EDGES_READ_MAX):
            weight = struct.unpack(">f", edge.weight)[0]
            if edge.dst in lit and weight > 0:
                name = type_name(rows, edge.type)
                strength = round(min(1.0, weight), 6)
                yield Relation(RelationKind.EDGE, show_id(edge.src), show_id(edge.dst), strength, (name,))


def _next(places: Places, records: Sequence[AtomRecord], live: Sequence[int]) -> Iterator[Relation]:
    import numpy as np

    mask = np.zeros(len(places.sources), np.bool_)
    mask[list(live)] = True
    ordinals = np.array([record.ordinal for record in records], np.int64)
    by_ordinal = {record.ordinal: record for record in records}
    if not len(ordinals):
        return
    following = places.beside(ordinals, mask, after=True, same_title=False).tolist()
    for record, after in zip(records, following, strict=True):
        if after in by_ordinal and record.source is not None:
            other = by_ordinal[after]
            yield Relation(RelationKind.NEXT, show_id(record.id), show_id(other.id), 1.0, (record.source,))


def _sharing(
    rows: Reader, records: Sequence[AtomRecord], kind: RelationKind, total: int
) -> Iterator[Relation]:
    """Pairs that have tags or buckets in common, as strong as the rarest of them."""
    held = [_names(record, kind) for record in records]
    weights = {name: _weight(rows, name, kind, total) for name in sorted({n for one in held for n in one})}
    for (one, its), (other, others) in combinations(zip(records, held, strict=True), 2):
        shared = sorted(name for name in its.keys() & others.keys() if weights[name])
        if shared:
            first, second = sorted((show_id(one.id), show_id(other.id)))
            strength = round(max(weights[name] for name in shared), 6)
            yield Relation(kind, first, second, strength, tuple(its[name] for name in shared))


def _names(record: AtomRecord, kind: RelationKind) -> dict[str, str]:
    """Identity → name as it is shown."""
    if kind is RelationKind.TAG:
        return {tag_identity(tag): tag for tag in record.tags}
    return {bucket: bucket for bucket in record.buckets}


def _weight(rows: Reader, name: str, kind: RelationKind, total: int) -> float:
    """How telling a tag or a bucket is; 0 for one that nearly everything has."""
    group = Group.TAG if kind is RelationKind.TAG else Group.BUCKET
    atoms = len(members(rows, (group, name)) & members(rows, LIVE))
    if kind is RelationKind.TAG:
        return rarity(atoms, total)
    if atoms > COMMON_BUCKET * total or atoms < 2:
        return 0.0
    return (log(total / atoms) / log(total)) ** 2


def _sources(rows: Reader, records: Sequence[AtomRecord]) -> Iterator[Relation]:
    """Pairs of one source, the stronger the smaller it is."""
    named = [record for record in records if record.source is not None]
    sizes = {source: _size(rows, source) for source in _distinct(named)}
    for one, other in combinations(named, 2):
        if one.source == other.source and one.source is not None:
            first, second = sorted((show_id(one.id), show_id(other.id)))
            strength = round(1 / (1 + log(max(sizes[one.source], 1))), 6)
            yield Relation(RelationKind.SOURCE, first, second, strength, (one.source,))


def _distinct(records: Iterable[AtomRecord]) -> list[str]:
    return sorted({record.source for record in records if record.source is not None})


def _size(rows: Reader, source: str) -> int:
    return len(members(rows, (Group.SOURCE, source)) & members(rows, LIVE))
