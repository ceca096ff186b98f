"""Signals `near` and `source`: the scores that an atom gains from its neighbours and from its whole source.

Both are computed term by term. For each term, an atom gains a share of the best score of the term around it,
not of the sum of the scores. This rewards atoms in whose surroundings many terms of the question occur: in a
conversation, one message often contains some of the words and the reply to it the others.
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
"""The share that an atom gains from the second next atom, relative to the share from the next atom."""

FULL_LENGTH: Final = 30
"""The number of terms up to which an atom gains the full amount.

A longer atom of n terms gains (30 / n)² of the amount, because a long atom depends less on its context.

Measured with passages in random order, whose neighbours are unrelated: these signals cost 1.5 points of
recall at 10, and 3 points without this limit; on conversations the limit makes no difference.
"""

TITLED: Final = 0.5
"""The share of the amount that an atom with a title gains.

The title already contains the words that the atom has in common with its neighbours.
"""

SOURCE_ATOMS_MAX: Final = 200
"""The largest source, in atoms, for which the signal `source` is used.

Larger sources are collections of unrelated texts.
"""


def propagate(
    scope: RecallScope, pool: Pool, near: Sequence[Neighbours], term_scores: NDArray[np.float64]
) -> None:
    """Add to each candidate a share of the scores of its neighbours and of its source.

    `near` holds the neighbours of the hits, and `term_scores` is the `anchors.matrix` of the pool.
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
    """Return, for each candidate, the sum over the terms of the best score among the hits next to it."""
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
    """Return, for each candidate, the sum over the terms of the best score in its source."""
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
