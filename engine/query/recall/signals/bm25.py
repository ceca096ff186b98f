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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.index.index_view import TermRows

MICRO: Final = 1_000_000
"""The factor that converts a score to millionths. Scores are compared in millionths, because sums may differ
in the last bit on different machines."""

K1_MAX: Final = 1000
"""The largest k1. It is far above any useful value and keeps scores finite."""


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """The two constants of BM25. The defaults gave the best results on conversations (LoCoMo)."""

    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        """Raise InvalidInputError if the constants could make a score infinite, 0 or negative."""
        if not (0 <= self.k1 <= K1_MAX and 0 <= self.b <= 1):
            raise InvalidInputError(
                f"BM25 needs k1 from 0 to {K1_MAX} and b from 0 to 1, not k1={self.k1}, b={self.b}"
            )


def idf(documents: int, df: int) -> float:
    """Return the inverse document frequency, above 0. The term is in `df` of all `documents` documents."""
    return math.log(1 + (documents - df + 0.5) / (df + 0.5))


class WeightedTerm(NamedTuple):
    """A term of a query with its weight and its stored postings."""

    term: str
    weight: float
    """w · idf · (k1 + 1). The product of this weight and tf / (norm + tf) is added to the score of a
    document."""
    rows: TermRows


def weighted_terms(
    documents: int, found: Mapping[str, TermRows], weights: Mapping[str, float], config: Bm25Config
) -> list[WeightedTerm]:
    """Return the terms in `weights` that occur in at least one document, in ascending order.

    `documents` is N, and `found` holds the stored postings of each term.
    """
    return [
        WeightedTerm(term, weights[term] * idf(documents, found[term].df) * (config.k1 + 1), found[term])
        for term in sorted(weights)
        if found[term].df
    ]
