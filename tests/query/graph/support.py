"""Small memories with known hits, and their relations computed by a naive implementation."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log

from engine.commands import Add, Command, Link, RegisterType, Tombstone
from engine.query.graph.bright import Relation
from tests.query.recall.support import id_of

TYPES = ("references", "related_to", "feeds", "heats")
"""Two that are built in and two that are registered."""

Plain = tuple[str, str, str, bool, float, tuple[str, ...], float | None]
"""A relation: kind, two ids, directed, strength, names, weight."""


@dataclass(frozen=True)
class Spec:
    """An atom, by what relates it to others."""

    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ("inbox",)
    source: str | None = None
    sequence: int | None = None
    live: bool = True
    asked: bool = True
    """Whether it mentions the boiler, which is what is asked for."""


@dataclass(frozen=True)
class Tie:
    """An edge between two atoms, by their numbers."""

    src: int
    type: str
    dst: int
    weight: float = 1.0


def commands(specs: Sequence[Spec], ties: Sequence[Tie] = ()) -> list[Command]:
    """The commands that create a memory of these atoms, each with a distinct content."""
    made: list[Command] = [RegisterType(name) for name in TYPES[2:]]
    for number, spec in enumerate(specs):
        # Some mention it more often than those before them, and so are brighter.
        asked = "boiler " * (1 + number % 3) if spec.asked else "kettle "
        words = f"{asked}word{number} other{number} third{number}"
        made.append(
            Add(
                words,
                id=id_of(number),
                tags=spec.tags,
                buckets=spec.buckets,
                source=spec.source,
                sequence=spec.sequence,
            )
        )
    made += [Link(id_of(tie.src), tie.type, id_of(tie.dst), tie.weight) for tie in ties]
    made += [Tombstone(id_of(number)) for number, spec in enumerate(specs) if not spec.live]
    return made


def plain(relation: Relation) -> Plain:
    """A relation in the form that `naive` returns."""
    one = relation
    return one.kind.value, one.src, one.dst, one.directed, one.strength, one.names, one.weight


def naive(specs: Sequence[Spec], ties: Sequence[Tie]) -> list[Plain]:
    """All relations between the live atoms that mention the boiler, by definition, in any order."""
    live = {number: spec for number, spec in enumerate(specs) if spec.live}
    lit = [number for number, spec in live.items() if spec.asked]
    nexts = _nexts(live, lit)
    beside = {frozenset(pair) for pair in nexts}
    found = [_edge(tie) for tie in ties if tie.src in lit and tie.dst in lit]
    found += [
        ("next_in_source", id_of(a), id_of(b), True, 1.0, (str(live[a].source),), None) for a, b in nexts
    ]
    for a, b in combinations(lit, 2):
        pair = id_of(a), id_of(b), False
        tags = [tag for tag in sorted({*live[a].tags} & {*live[b].tags}) if _tag(live, tag)]
        if tags:
            strength = round(max(_tag(live, tag) for tag in tags), 6)
            found.append(("shares_tag", *pair, strength, tuple(tags), None))
        buckets = [name for name in sorted({*live[a].buckets} & {*live[b].buckets}) if _bucket(live, name)]
        if buckets:
            strength = round(max(_bucket(live, name) for name in buckets), 6)
            found.append(("shares_bucket", *pair, strength, tuple(buckets), None))
        source = live[a].source
        if source is not None and source == live[b].source and frozenset((a, b)) not in beside:
            size = sum(spec.source == source for spec in live.values())
            found.append(("same_source", *pair, round(1 / (1 + log(size)), 6), (source,), None))
    return found


def _edge(tie: Tie) -> Plain:
    weight = struct.unpack(">f", struct.pack(">f", tie.weight))[0]
    strength = min(1.0, max(0.000_001, round(abs(weight), 6)))
    return "edge", id_of(tie.src), id_of(tie.dst), True, strength, (tie.type,), weight


def _nexts(live: dict[int, Spec], lit: Sequence[int]) -> list[tuple[int, int]]:
    found = []
    for source in {spec.source for spec in live.values() if spec.source is not None}:
        placed = [
            (spec.sequence, number)
            for number, spec in live.items()
            if spec.source == source and spec.sequence is not None
        ]
        line = [number for _, number in sorted(placed)]
        found += [(a, b) for a, b in pairwise(line) if a in lit and b in lit]
    return found


def _tag(live: dict[int, Spec], tag: str) -> float:
    having = sum(tag in spec.tags for spec in live.values())
    if having == len(live) or (having > 20 and having > len(live) / 10):
        return 0.0
    return float((log(len(live) / having) / log(len(live))) ** 2)


def _bucket(live: dict[int, Spec], bucket: str) -> float:
    having = sum(bucket in spec.buckets for spec in live.values())
    if 2 * having > len(live):
        return 0.0
    return float((log(len(live) / having) / log(len(live))) ** 2)
