"""A search by words alone: BM25 over a view of the index, without any other signal."""

from collections.abc import Iterable

import numpy as np

from engine.followers.index_view import IndexView
from engine.query.recall.signals.bm25 import MICRO, Bm25Config, add_up, best, weighted_terms

Scored = tuple[int, float]
"""An ordinal, and its score rounded to six decimals."""


def search(
    view: IndexView, terms: Iterable[str], limit: int, config: Bm25Config | None = None
) -> list[Scored]:
    """The best `limit` documents that contain a term, and those that tie with the last one."""
    scores = np.zeros(view.documents)
    add_up(weighted_terms(view, dict.fromkeys(terms, 1.0), config or Bm25Config()), scores)
    ordinals, micros = best(scores, limit)
    return [
        (ordinal, micro / MICRO) for ordinal, micro in zip(ordinals.tolist(), micros.tolist(), strict=True)
    ]
