"""The measures of a ranking, as pure functions.

Question: how many of the relevant documents are ranked, and how high? Data, seed: none.
How: relevance is binary. A ranking contains each document once, best first. The measures of one question are
from 0 to 1. The measures of a set are unweighted means over its questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log2, sqrt
from typing import Final

RRF_K: Final = 60
"""The constant of reciprocal-rank fusion (Cormack, Clarke & Büttcher 2009)."""


def recall_at(depth: int, ranking: Sequence[str], relevant: AbstractSet[str]) -> float:
    """Return the share of `relevant` that is among the first `depth`; `relevant` must not be empty."""
    return len(relevant & set(ranking[:depth])) / len(relevant)


def reciprocal_rank_at(depth: int, ranking: Sequence[str], relevant: AbstractSet[str]) -> float:
    """Return 1 / the rank of the first relevant document, or 0 if none of the first `depth` is relevant."""
    ranks = (rank for rank, name in enumerate(ranking[:depth], 1) if name in relevant)
    first = next(ranks, None)
    return 1 / first if first else 0.0


def ndcg_at(depth: int, ranking: Sequence[str], relevant: AbstractSet[str]) -> float:
    """Return the discounted gain of the first `depth` divided by the gain of the best possible ranking.

    Järvelin & Kekäläinen 2002, with gains of 0 and 1 and the discount log2(rank + 1).
    """
    gain = sum(1 / log2(rank + 1) for rank, name in enumerate(ranking[:depth], 1) if name in relevant)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(depth, len(relevant)) + 1))
    return gain / best


Measure = Callable[[Sequence[str], AbstractSet[str]], float]
"""A function that takes a ranking and the relevant documents and returns a number from 0 to 1."""

MEASURES: Final[Mapping[str, Measure]] = {
    "R@1": lambda ranking, relevant: reciprocal_rank_at(1, ranking, relevant),
    "R@5": lambda ranking, relevant: recall_at(5, ranking, relevant),
    "R@10": lambda ranking, relevant: recall_at(10, ranking, relevant),
    "R@20": lambda ranking, relevant: recall_at(20, ranking, relevant),
    "MRR@10": lambda ranking, relevant: reciprocal_rank_at(10, ranking, relevant),
    "nDCG@10": lambda ranking, relevant: ndcg_at(10, ranking, relevant),
}
"""The measures that are reported for each set. R@1: is the first hit relevant?"""


def mean(values: Sequence[float]) -> float:
    """Return the mean of one or more values."""
    return sum(values) / len(values)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean, √(variance / n), or 0 for a single value."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    variance = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return sqrt(variance / len(values))


def fused(rankings: Sequence[Sequence[str]], limit: int) -> list[str]:
    """Return the best `limit` names by the sum of 1 / (60 + rank) over the rankings.

    If two names have the same sum, the first ranking that contains either of them decides their order.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (RRF_K + rank)
    # `sorted` is stable, and a dict keeps the order of insertion.
    return sorted(scores, key=lambda name: -round(scores[name], 12))[:limit]
