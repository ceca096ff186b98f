"""Tests of the retrieval measures (`pytest bench/retrieval`).

Question: can the figures be trusted? Data: small. Seed: none. How: ordinary tests; nothing is measured.
"""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.retrieval.measures import (
    MEASURES,
    RRF_K,
    fused,
    mean,
    ndcg_at,
    recall_at,
    reciprocal_rank_at,
    standard_error,
)

names = st.text("abcdefgh", min_size=1, max_size=2)
rankings = st.lists(names, unique=True, max_size=30)
some = st.frozensets(names, min_size=1, max_size=15)


def test_recall_is_the_share_of_what_is_relevant() -> None:
    """Recall is a third if one of three relevant documents is ranked high enough."""
    assert recall_at(2, ["a", "b", "c"], frozenset("bcd")) == pytest.approx(1 / 3)


def test_reciprocal_rank_counts_the_first_relevant_one() -> None:
    """The rank of the first relevant document decides; a ranking without one within the depth gets 0."""
    assert reciprocal_rank_at(10, ["x", "a", "b"], frozenset("ab")) == 0.5
    assert reciprocal_rank_at(1, ["x", "a"], frozenset("a")) == 0


def test_ndcg_is_the_gain_in_proportion_to_the_best_there_could_be() -> None:
    """With the two relevant documents at ranks 1 and 3, nDCG is (1 + 1/log2 4) / (1 + 1/log2 3)."""
    found = ndcg_at(10, ["a", "x", "b"], frozenset("ab"))

    assert found == pytest.approx((1 + 1 / 2) / (1 + 1 / log2(3)))


@given(rankings, some)
def test_measures_are_from_0_to_1(ranking: list[str], relevant: frozenset[str]) -> None:
    """All measures are from 0 to 1 for any ranking."""
    assert all(0 <= measure(ranking, relevant) <= 1 + 1e-12 for measure in MEASURES.values())


@given(rankings, some)
def test_all_relevant_ones_first_is_the_best(ranking: list[str], relevant: frozenset[str]) -> None:
    """No ranking has a higher measure than a ranking that begins with all relevant documents."""
    best = [*sorted(relevant), *(name for name in ranking if name not in relevant)]

    assert ndcg_at(10, best, relevant) == pytest.approx(1)
    for measure in MEASURES.values():
        assert measure(best, relevant) >= measure(ranking, relevant) - 1e-12


@given(rankings, some, st.data())
def test_moving_a_relevant_one_up_never_hurts(
    ranking: list[str], relevant: frozenset[str], data: st.DataObject
) -> None:
    """If a relevant document changes places with an irrelevant document above it, no measure falls."""
    pairs = [
        (high, low)
        for low, name in enumerate(ranking)
        for high in range(low)
        if name in relevant and ranking[high] not in relevant
    ]
    if not pairs:
        return
    high, low = data.draw(st.sampled_from(pairs))
    moved = list(ranking)
    moved[high], moved[low] = moved[low], moved[high]

    for measure in MEASURES.values():
        assert measure(moved, relevant) >= measure(ranking, relevant) - 1e-12


def test_fusion_adds_up_the_reciprocal_ranks() -> None:
    """A document at rank 2 of two rankings (2 / 62) is above a document at rank 1 of one ranking (1 / 61)."""
    assert 2 / (RRF_K + 2) > 1 / (RRF_K + 1)
    assert fused([["a", "b"], ["c", "b"]], 3) == ["b", "a", "c"]


def test_fusion_settles_ties_by_the_first_ranking() -> None:
    """If two documents have equal ranks in different rankings, the one from the first ranking comes first."""
    assert fused([["b"], ["a"]], 2) == ["b", "a"]


@given(rankings, st.integers(1, 40))
def test_fusing_a_ranking_with_itself_or_nothing_changes_nothing(ranking: list[str], limit: int) -> None:
    """Fusing a ranking with itself or with an empty ranking does not change the order."""
    for several in ([ranking], [ranking, ranking], [ranking, []], [[], ranking]):
        assert fused(several, limit) == ranking[:limit]


def test_the_standard_error_falls_with_the_root_of_the_number() -> None:
    """The standard error is √(variance / n) with n − 1 degrees of freedom, and 0 for a single value."""
    assert standard_error([0, 1]) == pytest.approx(0.5)
    assert standard_error([0, 1] * 50) == pytest.approx((0.25 / 99) ** 0.5)
    assert (standard_error([0.3]), mean([0, 1, 1, 1])) == (0, 0.75)
