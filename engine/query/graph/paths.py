"""The strongest paths between names of different domains, given the strength of each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from engine.query.graph.bright import LEAST
from engine.query.graph.domains import Domain

STEPS_MAX: Final = 4
"""The largest number of steps of a path."""


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

    A time is an end of paths only: what happened in the same year is not linked by the year.
    """
    found: dict[str, Way] = {}
    for last, way in layer.items():
        if domains[last] is Domain.TIME and len(way.names) > 1:
            continue
        reach = way.strength * (rarities[last] if len(way.names) > 1 else 1.0)
        for other, strength in beside.get(last, {}).items():
            if other not in way.names:
                longer = Way(reach * strength, (*way.names, other))
                there = found.get(other)
                if there is None or (-longer.strength, longer.names) < (-there.strength, there.names):
                    found[other] = longer
    return found


def ranked(ways: Sequence[Way], domains: Mapping[str, Domain]) -> list[Way]:
    """Return the paths in the order of the answer.

    The strength of the second path between two domains counts half, that of the third a third, and so on, so
    that the answer does not consist of paths between the same two domains.
    """
    seen: dict[frozenset[Domain], int] = {}
    found = []
    for way in sorted(ways, key=lambda way: (-way.strength, len(way.names), way.names)):
        pair = frozenset((domains[way.names[0]], domains[way.names[-1]]))
        seen[pair] = seen.get(pair, 0) + 1
        found.append((-way.strength / seen[pair], len(way.names), way.names, way))
    found.sort(key=lambda one: one[:3])
    return [way._replace(strength=max(LEAST, round(way.strength, 6))) for *_, way in found]
