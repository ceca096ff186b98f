"""A search by words alone: BM25 over a view of the index, without any other signal."""

from collections.abc import Iterable

from pyroaring import BitMap

from engine.index.index_view import IndexView
from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_config import Bm25Config
from engine.query.recall.signals.scoring import MICRO, Lists, weighted_terms

Scored = tuple[int, float]
"""An ordinal, and its score rounded to six decimals."""


def lists_of(view: IndexView, terms: Iterable[str], config: Bm25Config, head: float = 0.0) -> Lists:
    """The lists of these terms, each with the weight 1."""
    weights = dict.fromkeys(terms, 1.0)
    found = dict(zip(weights, view.find(list(weights), heads=head > 0), strict=True))
    weighted = weighted_terms(view.counted, found, weights, config)
    norms = view.norms(config.k1, config.b)
    return Lists(view, norms, weighted, head)


def search(
    view: IndexView, terms: Iterable[str], limit: int, config: Bm25Config | None = None
) -> list[Scored]:
    """The best `limit` documents that contain a term, and those that tie with the last one."""
    everything = AtomSet(BitMap(range(view.documents)), view.documents)
    ordinals, micros = lists_of(view, terms, config or Bm25Config()).best(everything, limit)
    return [
        (ordinal, micro / MICRO) for ordinal, micro in zip(ordinals.tolist(), micros.tolist(), strict=True)
    ]
