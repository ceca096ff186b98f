"""The paths between names of different domains: their types, and the search for the strongest paths.

The types describe the connections between names: the names by domain, the paths, and the evidence of the
steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from engine.query.graph.bright import LEAST
from engine.query.graph.domains import Domain
from engine.query.prompt_text import INTERNAL

STEPS_MAX: Final = 4
"""The largest number of steps of a path."""


class StepKind(StrEnum):
    """The kind of a step between two names."""

    RELATION = "relation"
    """An edge joins the two entities. The strength is the absolute value of its weight, at most 1."""
    TOGETHER = "together"
    """An atom has both names. The strength is s / (1 + n) for s such atoms, where n is the number of atoms
    that have the rarer name."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The atom that is the evidence of a step."""

    id: str
    title: str | None
    snippet: str
    """The part of the text around the two names."""
    provenance: str = INTERNAL


@dataclass(frozen=True, slots=True)
class DomainNode:
    """A name in the answer."""

    name: str
    domain: Domain
    id: str | None
    """The id of the entity; None if the name is only a tag."""
    tag: str | None
    """The tag in its caseless form; None if no atom has it."""
    atoms: int
    """The number of atoms that have the name, at most `names.EDGES_MAX` each by edges and by the tag."""
    given: bool
    """True if the question contains the name."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a path, from the name `src` to the name `dst`."""

    kind: StepKind
    src: str
    dst: str
    relation: str | None
    """The predicate of the relation; None if the names only occur together."""
    forward: bool
    """True if the relation leads from `src` to `dst`, or has no direction."""
    strength: float
    """The strength of the step: above 0, at most 1. If the evidence is an external atom, it is halved; if the
    evidence is in quarantine, it is quartered."""
    evidence: Evidence | None
    """The evidence; None for a relation that somebody recorded without a text."""


@dataclass(frozen=True, slots=True)
class AcrossPath:
    """A path between two names of different domains."""

    names: tuple[str, ...]
    """The names along the path; the first and the last are its ends."""
    domains: tuple[Domain, ...]
    """The domain of each name."""
    steps: tuple[PathStep, ...]
    strength: float
    """The product of the strengths of the steps and of the rarities of the names in between."""


@dataclass(frozen=True, slots=True)
class AcrossGraph:
    """Names grouped by domain, and paths between them, read from the state after `size` events."""

    query: str
    nodes: tuple[DomainNode, ...]
    """The names on the paths and the names in the question, by domain, in the order of `Domain`."""
    paths: tuple[AcrossPath, ...]
    """The paths, the best first. A longer path between two names is listed only if it is stronger."""
    size: int
    omitted: int = 0
    """The number of weaker paths that were left out."""


class Way(NamedTuple):
    """A path: the identities of the names along it, and its strength."""

    strength: float
    names: tuple[str, ...]


def ways_between(
    ends: Sequence[str],
    given: set[str],
    domains: Mapping[str, Domain],
    strengths: Mapping[tuple[str, str], float],
    rarities: Mapping[str, float],
) -> Iterator[Way]:
    """Yield the best paths between ends of different domains, in the order of the ends.

    All names are identities. If names are `given`, each path has one of them as an end. `strengths` holds the
    strength of the step between two names, whose identities are in ascending order.

    For each pair of ends and each length, the strongest path is found. A longer path is yielded only if it is
    stronger than the shorter ones.
    """
    beside: dict[str, dict[str, float]] = {}
    for (one, other), strength in sorted(strengths.items()):
        beside.setdefault(one, {})[other] = beside.setdefault(other, {})[one] = strength
    for at, end in enumerate(ends):
        targets = {
            other
            for other in ends[at + 1 :]
            if domains[other] is not domains[end] and (not given or end in given or other in given)
        }
        strongest = dict.fromkeys(targets, 0.0)
        layer = {end: Way(1.0, (end,))}
        for _ in range(STEPS_MAX if targets else 0):
            layer = _longer(layer, beside, rarities, domains)
            for target in sorted(targets & layer.keys()):
                if layer[target].strength > strongest[target]:
                    strongest[target] = layer[target].strength
                    yield layer[target]


def _longer(
    layer: Mapping[str, Way],
    beside: Mapping[str, Mapping[str, float]],
    rarities: Mapping[str, float],
    domains: Mapping[str, Domain],
) -> dict[str, Way]:
    """Return the strongest path to each name that has one step more than the paths in `layer`.

    A time can only be the end of a path, because events of the same year are not related by the year alone.
    """
    ways: dict[str, Way] = {}
    for last, way in layer.items():
        if domains[last] is Domain.TIME and len(way.names) > 1:
            continue
        reach = way.strength * (rarities[last] if len(way.names) > 1 else 1.0)
        for other, strength in beside.get(last, {}).items():
            if other not in way.names:
                longer = Way(reach * strength, (*way.names, other))
                there = ways.get(other)
                if there is None or (-longer.strength, longer.names) < (-there.strength, there.names):
                    ways[other] = longer
    return ways


def ranked(ways: Sequence[Way], domains: Mapping[str, Domain]) -> list[Way]:
    """Return the paths in the order of the answer.

    The strength of the second path between two domains is divided by 2, of the third by 3, and so on, so that
    not all paths of the answer are between the same two domains.
    """
    seen: dict[frozenset[Domain], int] = {}
    ways_ranked = []
    for way in sorted(ways, key=lambda way: (-way.strength, len(way.names), way.names)):
        pair = frozenset((domains[way.names[0]], domains[way.names[-1]]))
        seen[pair] = seen.get(pair, 0) + 1
        ways_ranked.append((-way.strength / seen[pair], len(way.names), way.names, way))
    ways_ranked.sort(key=lambda one: one[:3])
    return [way._replace(strength=max(LEAST, round(way.strength, 6))) for *_, way in ways_ranked]
