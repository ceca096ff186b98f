"""BM25F over a view of the index (Robertson & Zaragoza 2009, with Lucene's IDF, which is never negative).

    score(d) = Σ over terms of  (w · idf(t) · (k1 + 1)) · (tf / (norm(d) + tf))
    norm(d)  = k1 · (1 − b + b · (length(d) / average))
    idf(t)   = ln(1 + (N − df + 0.5) / (df + 0.5))

tf counts an occurrence in the title `head` times more; w is the weight that the question gives a term.

Every step is one IEEE 754 double operation, terms are summed in ascending order of their code
points, and scores are rounded to six decimals before they are compared: machines give equal results.
N, df and the average count all ordinals of the index, whatever `allowed` lets through.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.followers.index_view import Impacts, IndexView, TermImpacts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import BitMap

MICRO: Final = 1_000_000
TIES_MAX: Final = 1000
"""At most this many hits beyond `limit` are returned because they tie with the last one."""

K1_MAX: Final = 1000
"""Far beyond any use; scores stay finite."""

_BLOCKS: Final = (128, 32, 8)
"""Documents to a block, of which there must be four times as many as hits are wanted."""
_START: Final = attrgetter("start")


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


DEFAULT: Final = Bm25Config()


class Scored(NamedTuple):
    """A hit."""

    ordinal: int
    score: float
    """Rounded to six decimals; more than 0."""
    contributions: tuple[tuple[str, float], ...]
    """When explaining: what each query term that occurs adds, rounded likewise, terms ascending."""


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
    view: IndexView, weights: Mapping[str, float], config: Bm25Config = DEFAULT, head: float = 0.0
) -> list[Weighed]:
    """Those of the terms that are mentioned anywhere, ascending.

    Raises:
        CorruptionError: a row of the index is malformed.
    """
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


def search(
    view: IndexView,
    terms: Iterable[str],
    allowed: BitMap | None,
    limit: int,
    config: Bm25Config = DEFAULT,
    *,
    explain: bool = False,
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
        explain: Fill in `Scored.contributions`.

    Raises:
        InvalidInputError: `limit` is below 1.
        CorruptionError: a row of the index is malformed.
    """
    import numpy as np

    if limit < 1:
        raise InvalidInputError(f"limit is {limit}; ask for at least one hit")
    weighed = weigh(view, dict.fromkeys(terms, 1.0), config)
    if not weighed:
        return []
    scores = np.zeros(view.documents)
    add_up(weighed, scores)
    ordinals, micros = best(scores, limit) if allowed is None else _best_allowed(scores, allowed, limit)
    hits = zip(ordinals.tolist(), micros.tolist(), strict=True)
    return [
        Scored(ordinal, micro / MICRO, _contributions(ordinal, weighed) if explain else ())
        for ordinal, micro in hits
    ]


def _best_allowed(
    scores: NDArray[np.float64], allowed: BitMap, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As `best`, of the ordinals in `allowed`, which may reach beyond the documents."""
    import numpy as np

    if 4 * len(allowed) >= 3 * len(scores):
        # Most may be returned, so looking at the best will do. Measured: 0.02 ms, against 0.3 for
        # looking up the scores of all that are allowed among 100,000.
        ordinals, micros = best(scores, 2 * limit)
        kept = np.fromiter((ordinal in allowed for ordinal in ordinals.tolist()), np.bool_, len(ordinals))
        complete = len(ordinals) < 2 * limit
        last = micros[-1] if len(micros) else 0
        ordinals, micros = ordinals[kept], micros[kept]
        # Both are the beginning of the whole ranking. It goes far enough if it goes beyond all that tie
        # with the last hit wanted; those that tie with its own last one may have been cut.
        if complete or (len(micros) >= limit and micros[limit - 1] > last):
            end = _end(micros, limit)
            return ordinals[:end], micros[:end]
    members = np.frombuffer(allowed.to_array(), np.uint32)
    among = members[: int(np.searchsorted(members, len(scores)))].astype(np.int64)
    places, micros = best(scores.take(among), limit)
    return among[places], micros


def _end(micros: NDArray[np.int64], limit: int) -> int:
    """How many of a ranking are returned: `limit`, and those that tie with the last of them."""
    if len(micros) <= limit:
        return len(micros)
    return min(int((micros >= micros[limit - 1]).sum()), limit + TIES_MAX)


def best(scores: NDArray[np.float64], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ordinals of the best `limit`, in order, and their scores in millionths, all above 0.

    Order and ties as in `search`.
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
    end = min(_end(micros, limit), int((micros > 0).sum()))
    return ordinals[:end], micros[:end]


def _contributions(ordinal: int, weighed: Sequence[Weighed]) -> tuple[tuple[str, float], ...]:
    """What each term added to the score of a document."""
    shares = []
    for term, weight, (_, parts) in weighed:
        part = parts[bisect_right(parts, ordinal, key=_START) - 1]
        impact = _impact(part, ordinal - part.start)
        if impact:
            shares.append((term, round(weight * impact * MICRO) / MICRO))
    return tuple(shares)


def _impact(part: Impacts, offset: int) -> float:
    """What the term is worth in one document; 0 where it is not mentioned."""
    _, offsets, values = part
    if offsets is None:
        return float(values[offset]) if 0 <= offset < len(values) else 0.0
    at = int(offsets.searchsorted(offset))
    return float(values[at]) if at < len(offsets) and offsets[at] == offset else 0.0
