"""BM25F over a view of the index (Robertson & Zaragoza 2009, with Lucene's IDF, which is never negative).

    score(d) = Σ over terms of  (w · idf(t) · (k1 + 1)) · (tf / (norm(d) + tf))
    norm(d)  = k1 · (1 − b + b · (length(d) / average))
    idf(t)   = ln(1 + (N − df + 0.5) / (df + 0.5))

tf counts an occurrence in the title `head` times more; w is the weight that the question gives a term.

Every step is one IEEE 754 double operation, terms are summed in ascending order of their code
points, and scores are rounded to six decimals before they are compared: machines give equal results.
N, df and the average count all ordinals of the index, whatever the filters let through.
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
"""Scores are compared in millionths, so that machines whose sums differ in the last bit agree."""

TIES_MAX: Final = 1000
"""At most this many hits beyond `limit` are returned because they tie with the last one."""

K1_MAX: Final = 1000
"""Far beyond any use; scores stay finite."""

_BLOCKS: Final = (128, 32, 8)
"""Documents to a block, of which there must be four times as many as hits are wanted."""


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """The two constants of BM25; the defaults were measured best on conversations (LoCoMo)."""

    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        """Refuse constants with which scores would not be finite or not be positive."""
        if not (0 <= self.k1 <= K1_MAX and 0 <= self.b <= 1):
            raise InvalidInputError(
                f"BM25 needs k1 from 0 to {K1_MAX} and b from 0 to 1, not k1={self.k1}, b={self.b}"
            )


def idf(documents: int, df: int) -> float:
    """How much a term that `df` of `documents` mention tells; more than 0."""
    return math.log(1 + (documents - df + 0.5) / (df + 0.5))


class Weighed(NamedTuple):
    """A term of a question, and what it is worth where it is mentioned."""

    term: str
    weight: float
    """w · idf · (k1 + 1); times an impact it is what the term adds to a score."""
    impacts: TermImpacts


def weigh(
    view: IndexView, weights: Mapping[str, float], config: Bm25Config, head: float = 0.0
) -> list[Weighed]:
    """Those of the terms that are mentioned anywhere, ascending."""
    found = []
    for term in sorted(weights):
        impacts = view.impacts(term, config.k1, config.b, head)
        if impacts.parts:
            found.append(
                Weighed(term, weights[term] * idf(view.counted, impacts.df) * (config.k1 + 1), impacts)
            )
    return found


def add_up(weighed: Sequence[Weighed], scores: NDArray[np.float64]) -> None:
    """Add what the terms are worth to the scores of all documents."""
    import numpy as np

    for _, weight, impacts in weighed:
        for start, offsets, values in impacts.parts:
            if offsets is None:
                scores[start : start + len(values)] += weight * values
            else:
                scores[start:][offsets.astype(np.intp)] += weight * values


def best(scores: NDArray[np.float64], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ordinals of the best `limit`, in order, and their scores in millionths, all above 0.

    Equals are in the order of their ordinals. Those that tie with the last are there, too, the lowest
    first, but no more than TIES_MAX beyond `limit`.
    """
    import numpy as np

    floor = 0.5 / MICRO
    size = next((size for size in _BLOCKS if len(scores) // size > 4 * limit), 0)
    if size:
        # The limit-th best of the blocks' best is reached by `limit` documents at least, so nothing
        # below it is among the best. Measured: 0.04 ms where partitioning all 100,000 takes 1 ms, and
        # 0.08 with blocks of neighbours; here a block is every n-th document, n their number.
        blocks = len(scores) // size
        tops = scores[: blocks * size].reshape(size, blocks).max(axis=0)
        floor = max(floor, float(np.partition(tops, -limit)[-limit]) - 1 / MICRO)
    ordinals = np.flatnonzero(scores >= floor)
    micros = np.rint(scores[ordinals] * MICRO).astype(np.int64)
    if len(micros) > limit + TIES_MAX:
        # Where all documents are equally long, thousands tie with the last one: most are never sorted.
        last = np.partition(micros, -limit)[-limit]
        above, ties = np.flatnonzero(micros > last), np.flatnonzero(micros == last)
        chosen = np.sort(np.concatenate([above, ties[: limit + TIES_MAX - len(above)]]))
        ordinals, micros = ordinals[chosen], micros[chosen]
    # Ordinals are ascending already, and a stable sort keeps that among equals.
    order = np.argsort(-micros, kind="stable")
    ordinals, micros = ordinals[order], micros[order]
    if len(micros) > limit:
        ordinals = ordinals[: min(int((micros >= micros[limit - 1]).sum()), limit + TIES_MAX)]
    end = min(len(ordinals), int((micros > 0).sum()))
    return ordinals[:end], micros[:end]
