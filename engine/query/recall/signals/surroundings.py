"""Signals `near` and `source`: scores that an atom gains from its neighbours and from its whole source.

Both are computed term by term. Each term passes on its best occurrence, not the sum of all occurrences,
which rewards an atom for terms that it lacks itself: in a conversation the question often holds some of
the words and the answer the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.pool import Pool
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals.anchors import Neighbours

FURTHER: Final = 0.6
"""The share that the second-next atom passes on, relative to the next one."""

FULL_LENGTH: Final = 30
"""An atom of n terms, n above this, gains only (30 / n)² as much: a long atom depends less on its context.

Measured with passages in random order, whose neighbours are unrelated: these signals cost 1.5 points of
recall at 10, and 3 points without this limit; on conversations the limit makes no difference.
"""

TITLED: Final = 0.5
"""The share that an atom with a title gains: the title already holds what it shares with its neighbours."""

SOURCE_ATOMS_MAX: Final = 200
"""A source with more atoms is a collection of unrelated texts, so its atoms gain nothing from it."""


def propagate(
    scope: RecallScope, pool: Pool, near: Sequence[Neighbours], term_scores: NDArray[np.float64]
) -> None:
    """Add the scores that neighbours and sources pass on to each candidate.

    `near` holds the neighbours of the hits, `term_scores` is the `anchors.matrix` of the pool.
    """
    if not len(pool) or not term_scores.size:
        return
    lengths = scope.index.lengths[pool.ordinals].astype(np.float64)
    gains = np.minimum(1.0, FULL_LENGTH / np.maximum(lengths, 1.0)) ** 2
    gains[scope.positions.titles[pool.ordinals] > 0] *= TITLED
    if scope.signals.near:
        pool.add("near", scope.signals.near * gains * _from_neighbours(pool, near, term_scores))
    if scope.signals.source:
        pool.add("source", scope.signals.source * gains * _from_sources(scope, pool, term_scores))


def _from_neighbours(
    pool: Pool, near: Sequence[Neighbours], term_scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the best score of each term among the hits beside each candidate, summed over the terms."""
    best = np.zeros_like(term_scores)
    for hits, others, steps in near:
        there = others >= 0
        receivers = pool.rows_of(others[there])
        passed = term_scores[:, pool.rows_of(hits[there])]
        # Hits with the same position have the same neighbour, so a receiver may occur more than once.
        np.maximum.at(best.T, receivers, (passed if steps == 1 else FURTHER * passed).T)
    amounts: NDArray[np.float64] = best.sum(axis=0)
    return amounts


def _from_sources(scope: RecallScope, pool: Pool, term_scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the best score of each term in each candidate's source, summed over the terms."""
    sources = scope.positions.sources[pool.ordinals]
    counts = scope.positions.source_sizes(pool.ordinals)
    small = (counts > 1) & (counts <= SOURCE_ATOMS_MAX) & scope.positions.placed(pool.ordinals)
    amounts = np.zeros(len(pool))
    chosen = np.flatnonzero(small)
    if not len(chosen):
        return amounts
    order = chosen[sources[chosen].argsort(kind="stable")]
    grouped = sources[order]
    starts = np.flatnonzero(np.concatenate([[True], grouped[1:] != grouped[:-1]]))
    best = np.maximum.reduceat(term_scores[:, order], starts, axis=1).sum(axis=0)
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    amounts[order] = np.repeat(best, sizes)
    return amounts
