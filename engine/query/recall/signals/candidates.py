"""The candidates of a question: the documents that score best for its words, and the neighbours of these."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels import NATIVE
from engine.query.recall.pool import Pool
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals import surroundings
from engine.query.recall.signals.anchors import (
    HEAVIEST_TERMS_MAX,
    NEIGHBOUR_STEPS,
    WordScores,
    neighbourhood,
)
from engine.query.recall.signals.scoring import TIES_MAX


def pool_of(
    scope: RecallScope, found: WordScores, most: int
) -> tuple[Pool, tuple[str, ...], NDArray[np.float64]]:
    """Return the pool of candidates. The pool has the scores for words and the signals `near` and `source`.

    The candidates are the `most` documents with the highest scores in `found`, and the neighbours of these
    documents. If further documents have the lowest of these scores, up to `most` of them and their neighbours
    are also candidates. Also return the heaviest terms, and the scores of the candidates for these terms (see
    `WordScores.by_term`).
    """
    if NATIVE is not None and len(found.terms) <= HEAVIEST_TERMS_MAX:
        pool = _compiled(scope, found, most)
        if pool is not None:
            return pool
    ordinals, near = neighbourhood(scope, found.best(scope, most))
    heaviest, term_scores, scores = found.by_term(ordinals)
    pool_of_best = Pool(ordinals, scores, explained=scope.explain)
    surroundings.propagate(scope, pool_of_best, near, term_scores)
    return pool_of_best, heaviest, term_scores


def _compiled(
    scope: RecallScope, found: WordScores, most: int
) -> tuple[Pool, tuple[str, ...], NDArray[np.float64]] | None:
    """Do the work of `pool_of` in a compiled function. Return None if the function declines."""
    signals, lists = scope.signals, found.lists
    raw = NATIVE.candidates(  # type: ignore[union-attr]
        lists.kernel_lists,
        lists.kernel_allowed(scope.atoms),
        scope.positions.kernel_orders,
        most,
        min(2 * most, most + TIES_MAX),
        (1.0, surroundings.FURTHER)[:NEIGHBOUR_STEPS] if signals.near else (),
        (surroundings.FULL_SOURCE, surroundings.SOURCE_ATOMS_MAX),
        (signals.near, signals.source, surroundings.FULL_LENGTH, surroundings.TITLED),
    )
    if raw is None:
        return None
    ordinals, scores, sums, nearby, of_sources = raw
    pool = Pool(np.frombuffer(ordinals, np.int64), np.frombuffer(sums), explained=scope.explain)
    if scores:
        surroundings.add(scope, pool, np.frombuffer(nearby), np.frombuffer(of_sources))
    terms = tuple([one.term for one in found.terms])
    return pool, terms, np.frombuffer(scores).reshape(len(terms), len(pool))
