"""BM25 over a view of the index (Robertson & Zaragoza 2009, with Lucene's IDF, which is never negative).

    score(d) = Σ over terms of  ((idf(t) · (k1 + 1)) · tf) / (k1 · (1 − b + b · (length(d) / average)) + tf)
    idf(t)   = ln(1 + (N − df + 0.5) / (df + 0.5))

Every step is one IEEE 754 double operation, terms are summed in ascending order of their code
points, and scores are rounded to six decimals before they are compared: machines give equal results.
N, df and the average count all ordinals of the index, whatever `allowed` lets through.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.errors import InvalidInputError
from engine.followers.index_view import IndexView, Postings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import BitMap

MICRO: Final = 1_000_000
TIES_MAX: Final = 1000
"""At most this many hits beyond `limit` are returned because they tie with the last one."""

_BLOCK: Final = 128


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """The two constants of BM25; the defaults were measured best on conversations (LoCoMo)."""

    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        """Refuse constants with which scores would not be finite or not be positive."""
        if not (math.isfinite(self.k1) and self.k1 >= 0 and 0 <= self.b <= 1):
            raise InvalidInputError(f"BM25 needs k1 >= 0 and 0 <= b <= 1, not k1={self.k1}, b={self.b}")


DEFAULT: Final = Bm25Config()


class Scored(NamedTuple):
    """A hit."""

    ordinal: int
    score: float
    """Rounded to six decimals; more than 0."""
    contributions: tuple[tuple[str, float], ...]
    """What each query term that occurs adds, rounded likewise, in ascending order of the terms."""


def idf(documents: int, df: int) -> float:
    """How much a term that `df` of `documents` mention tells; more than 0."""
    return math.log(1 + (documents - df + 0.5) / (df + 0.5))


def search(
    view: IndexView,
    terms: Iterable[str],
    allowed: BitMap | None,
    limit: int,
    config: Bm25Config = DEFAULT,
) -> list[Scored]:
    """The best `limit` documents that mention a term, best first, ties by ascending ordinal.

    Documents that tie with the last are returned too, so that a caller can break the tie in its own
    way, but no more than TIES_MAX beyond `limit`: of those, the ones with the lowest ordinals.

    Args:
        view: Where to search.
        terms: Analysed terms; a repeated one counts once.
        allowed: The only ordinals that may be returned; None for all.
        limit: How many hits are wanted; 1 or more.
        config: The constants.

    Raises:
        InvalidInputError: `limit` is below 1.
        CorruptionError: a row of the index is malformed.
    """
    import numpy as np

    if limit < 1:
        raise InvalidInputError(f"limit is {limit}; ask for at least one hit")
    found = [(term, view.postings(term)) for term in sorted(set(terms))]
    found = [(term, parts) for term, parts in found if parts]
    if not found:
        return []
    norms = view.norms(config.k1, config.b)
    weights = [_weight(view.documents, parts) * (config.k1 + 1) for _, parts in found]
    scores = np.zeros(view.documents)
    for weight, (_, parts) in zip(weights, found, strict=True):
        for start, offsets, tfs in parts:
            shares = tfs.astype(np.float64)
            below = norms[start:].take(offsets)
            below += shares
            shares *= weight
            shares /= below
            scores[start:][offsets] += shares
    if allowed is not None:
        _forbid(scores, allowed)
    ordinals, micros = best(scores, limit)
    parts_of = _contributions(ordinals, found, weights, norms)
    return [
        Scored(ordinal, micro / MICRO, share)
        for ordinal, micro, share in zip(ordinals.tolist(), micros.tolist(), parts_of, strict=True)
    ]


def _weight(documents: int, parts: Sequence[Postings]) -> float:
    return idf(documents, sum(len(part.offsets) for part in parts))


def _forbid(scores: NDArray[np.float64], allowed: BitMap) -> None:
    """Set to 0 what is not in `allowed`, which may reach beyond the documents."""
    import numpy as np

    ordinals = np.frombuffer(allowed.to_array(), np.uint32)
    kept = np.zeros(len(scores), np.bool_)
    kept[ordinals[: int(np.searchsorted(ordinals, len(scores)))]] = True
    scores *= kept


def best(scores: NDArray[np.float64], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ordinals of the best `limit`, in order, and their scores in millionths, all above 0.

    Order and ties as in `search`.
    """
    import numpy as np

    floor = 0.5 / MICRO
    blocks = len(scores) // _BLOCK
    if blocks > 4 * limit:
        # The limit-th best of the blocks' best is reached by `limit` documents at least, so nothing
        # below it is among the best. Measured: 0.1 ms where partitioning all 100,000 takes 1 ms.
        tops = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        floor = max(floor, float(np.partition(tops, -limit)[-limit]) - 1 / MICRO)
    ordinals = np.flatnonzero(scores >= floor)
    micros = np.rint(scores[ordinals] * MICRO).astype(np.int64)
    # Ordinals are ascending already, and a stable sort keeps that among equals.
    order = np.argsort(-micros, kind="stable")
    if len(order) > limit:
        last = micros[order[limit - 1]]
        ties = int(np.count_nonzero(micros >= last))
        order = order[: min(ties, limit + TIES_MAX)]
    positive = order[micros[order] > 0]
    return ordinals[positive], micros[positive]


def _contributions(
    hits: NDArray[np.int64],
    found: Sequence[tuple[str, Sequence[Postings]]],
    weights: Sequence[float],
    norms: NDArray[np.float64],
) -> list[tuple[tuple[str, float], ...]]:
    """For each hit, what each term added to its score."""
    import numpy as np

    shares: list[list[tuple[str, float]]] = [[] for _ in hits]
    order = np.argsort(hits)
    ascending = hits[order]
    for weight, (term, parts) in zip(weights, found, strict=True):
        for start, offsets, tfs in parts:
            first, last = np.searchsorted(ascending, (start, start + int(offsets[-1]) + 1))
            if first == last:
                continue
            wanted = ascending[first:last] - start
            at = np.searchsorted(offsets, wanted)
            for hit, position, offset in zip(
                order[first:last].tolist(), at.tolist(), wanted.tolist(), strict=True
            ):
                if int(offsets[position]) == offset:
                    tf = int(tfs[position])
                    share = weight * tf / (float(norms[start + offset]) + tf)
                    shares[hit].append((term, round(share * MICRO) / MICRO))
    return [tuple(share) for share in shares]
