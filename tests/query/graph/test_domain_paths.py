"""The strongest paths of small graphs, compared with all paths."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from engine.query.graph.domain_paths import STEPS_MAX, Way, ranked, ways_between
from engine.query.graph.domains import Domain

NAMES = "abcdef"
SHARES = st.sampled_from([0.25, 0.5, 0.75, 1.0])  # products of these are exact
STRENGTHS = st.dictionaries(st.sampled_from(list(combinations(NAMES, 2))), SHARES)
DOMAINS = st.fixed_dictionaries({name: st.sampled_from(list(Domain)[:5]) for name in NAMES})
RARITIES = st.fixed_dictionaries(dict.fromkeys(NAMES, SHARES))

Net = tuple[dict[tuple[str, str], float], dict[str, Domain], dict[str, float]]


def strength(names: tuple[str, ...], net: Net) -> float:
    """The strength of a path by definition; 0 if there is no such path."""
    strengths, domains, rarities = net
    between = names[1:-1]
    if any(domains[name] is Domain.TIME for name in between):
        return 0.0
    steps = [strengths.get((min(pair), max(pair)), 0.0) for pair in pairwise(names)]
    return prod(steps) * prod(rarities[name] for name in between)


@given(st.tuples(STRENGTHS, DOMAINS, RARITIES))
def test_the_strongest_path_of_each_pair_is_found(net: Net) -> None:
    """No path of at most four steps is stronger, and a longer path is stronger than the shorter ones."""
    strengths, domains, rarities = net
    found: dict[tuple[str, str], list[Way]] = {}
    for way in ways_between(NAMES, set(), domains, strengths, rarities):
        assert len(set(way.names)) == len(way.names) <= STEPS_MAX + 1
        assert way.strength == strength(way.names, net) > 0
        found.setdefault((way.names[0], way.names[-1]), []).append(way)
    for one, other in combinations(NAMES, 2):
        rest = [name for name in NAMES if name not in (one, other)]
        every = [
            strength((one, *between, other), net)
            for count in range(STEPS_MAX)
            for between in permutations(rest, count)
        ]
        ways = found.get((one, other), [])
        assert all(before.strength < after.strength for before, after in pairwise(ways))
        expected = max(every) if domains[one] is not domains[other] else 0.0
        assert max((way.strength for way in ways), default=0.0) == expected


@given(st.tuples(STRENGTHS, DOMAINS, RARITIES), st.sets(st.sampled_from(NAMES), min_size=1))
def test_with_given_names_each_path_has_one_as_an_end(net: Net, names: set[str]) -> None:
    """The paths are those without given names that have a given name as an end."""
    strengths, domains, rarities = net
    every = list(ways_between(NAMES, set(), domains, strengths, rarities))
    chosen = list(ways_between(NAMES, names, domains, strengths, rarities))
    assert chosen == [way for way in every if names & {way.names[0], way.names[-1]}]


def test_the_answer_has_paths_of_all_pairs_of_domains() -> None:
    """Of equally strong paths, the second of the same two domains comes after the first of two others."""
    domains = {"a": Domain.PERSON, "b": Domain.PLACE, "c": Domain.PLACE, "d": Domain.TIME}
    ways = [Way(0.5, ("a", "b")), Way(0.5, ("a", "c")), Way(0.5, ("a", "d")), Way(0.1, ("b", "d"))]
    assert [way.names for way in ranked(ways, domains)] == [("a", "b"), ("a", "d"), ("a", "c"), ("b", "d")]
