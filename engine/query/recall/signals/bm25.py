"""BM25F scores from the index (Robertson & Zaragoza 2009, with the IDF of Lucene, which is never negative).

    score(d) = Σ over terms of  (w · idf(t) · (k1 + 1)) · (tf / (norm(d) + tf))
    norm(d)  = k1 · (1 − b + b · (length(d) / average))
    idf(t)   = ln(1 + (N − df + 0.5) / (df + 0.5))

tf is the number of occurrences of the term in the document. Each occurrence in the head (the title, or the
label of a speaker) adds the weight `head` to tf. df is the number of documents with the term, N is the number
of all documents, and w is the weight of the term in the query.

Every step is one IEEE 754 double operation, terms are summed in ascending order of their code points, and
scores are rounded to six decimals before they are compared. So all machines compute equal results.
N, df and the average count all ordinals of the index, including those that the filters exclude.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.followers.index_view import IndexView, TermImpacts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MICRO: Final = 1_000_000
"""The factor that converts a score to millionths. Scores are compared in millionths, because sums may differ
in the last bit on different machines."""

TIES_MAX: Final = 1000
"""The largest number of further documents that are returned because their score equals that of the last
document within the limit."""

K1_MAX: Final = 1000
"""The largest k1. It is far above any useful value and keeps scores finite."""

_BLOCKS: Final = (128, 32, 8)
"""The possible sizes of a block, in documents. The search for the best scores divides documents into blocks.

The largest size that results in more than four blocks per requested hit is used.
"""


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """The two constants of BM25. The defaults gave the best results on conversations (LoCoMo)."""

    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        """Raise InvalidInputError if a score could be infinite, 0 or negative because of these constants."""
        if not (0 <= self.k1 <= K1_MAX and 0 <= self.b <= 1):
            raise InvalidInputError(
                f"BM25 needs k1 from 0 to {K1_MAX} and b from 0 to 1, not k1={self.k1}, b={self.b}"
            )


def idf(documents: int, df: int) -> float:
    """Return the inverse document frequency, above 0. The term is in `df` of all `documents` documents."""
    return math.log(1 + (documents - df + 0.5) / (df + 0.5))


class WeightedTerm(NamedTuple):
    """A term of a query with its weight and its impacts."""

    term: str
    weight: float
    """w · idf · (k1 + 1). The product of this weight and the impact of the term in a document is added to the
    score of the document."""
    impacts: TermImpacts


def weighted_terms(
    view: IndexView, weights: Mapping[str, float], config: Bm25Config, head: float = 0.0
) -> list[WeightedTerm]:
    """Return the terms in `weights` that occur in at least one document, in ascending order."""
    found = []
    for term in sorted(weights):
        impacts = view.impacts(term, config.k1, config.b, head)
        if impacts.parts:
            found.append(
                WeightedTerm(term, weights[term] * idf(view.counted, impacts.df) * (config.k1 + 1), impacts)
            )
    return found


def add_up(terms: Sequence[WeightedTerm], scores: NDArray[np.float64]) -> None:
    """Add to `scores`, which holds one score per document, the scores of the documents for each term."""
    import numpy as np

    for _, weight, impacts in terms:
        for start, offsets, values in impacts.parts:
            if offsets is None:
                scores[start : start + len(values)] += weight * values
            else:
                scores[start:][offsets.astype(np.intp)] += weight * values


def best(scores: NDArray[np.float64], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ordinals of the best `limit` documents in order, and their scores in millionths, above 0.

    Documents with equal scores are in the order of their ordinals. Further documents with the same score
    as the last one are included: those with the lowest ordinals, at most TIES_MAX.
    """
    import numpy as np

    floor = 0.5 / MICRO
    size = next((size for size in _BLOCKS if len(scores) // size > 4 * limit), 0)
    if size:
        # At least `limit` blocks have a maximum as high as the limit-th highest maximum, so no document
        # with a lower score is among the best. Measured for 100,000 documents: 0.04 ms, whereas
        # partitioning all of them takes 1 ms. A block consists of every n-th document, where n is the
        # number of blocks; with blocks of adjacent documents it takes 0.08 ms.
        blocks = len(scores) // size
        tops = scores[: blocks * size].reshape(size, blocks).max(axis=0)
        floor = max(floor, float(np.partition(tops, -limit)[-limit]) - 1 / MICRO)
    ordinals = np.flatnonzero(scores >= floor)
    micros = np.rint(scores[ordinals] * MICRO).astype(np.int64)
    if len(micros) > limit + TIES_MAX:
        # If all documents are equally long, thousands have the same score as the last. Most are not sorted.
        last = np.partition(micros, -limit)[-limit]
        above, ties = np.flatnonzero(micros > last), np.flatnonzero(micros == last)
        chosen = np.sort(np.concatenate([above, ties[: limit + TIES_MAX - len(above)]]))
        ordinals, micros = ordinals[chosen], micros[chosen]
    # Ordinals are ascending already, and a stable sort keeps that order among equal scores.
    order = np.argsort(-micros, kind="stable")
    ordinals, micros = ordinals[order], micros[order]
    if len(micros) > limit:
        ordinals = ordinals[: min(int((micros >= micros[limit - 1]).sum()), limit + TIES_MAX)]
    end = min(len(ordinals), int((micros > 0).sum()))
    return ordinals[:end], micros[:end]
