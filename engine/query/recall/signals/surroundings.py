"""Signals `near` and `source`: an atom's score rises with the scores of the atoms near it and in its source.

Both signals are computed for each term separately. For each term, an atom gains a share of the best score
that the term has in a neighbour or in the source, not of the sum of these scores. So an atom gains most if
many different terms of the question occur near it. In a conversation, for example, one message often contains
some of the words, and the reply to it contains the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels import NATIVE
from engine.query.recall.pool import Pool
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals.anchors import Neighbours

FURTHER: Final = 0.6
"""The share that an atom gains from an atom two positions away, relative to that from an adjacent atom."""

FULL_LENGTH: Final = 30
"""An atom of at most this many terms gains the full amount of the signals `near` and `source`.

A longer atom of n terms gains (30 / n)² of the amount, because a long atom depends less on its context.

Measured with passages in random order, so that neighbours are unrelated: the two signals lower recall at 10
by 1.5 points, and would lower it by 3 points without this limit. On conversations the limit makes no
difference.
"""

TITLED: Final = 0.5
"""The amount that an atom with a title gains from the atoms near it, relative to an atom without a title.

The title already contains the words that the atom has in common with its neighbours.
"""

SOURCE_ATOMS_MAX: Final = 200
"""The largest number of atoms in a source for which the signal `source` is used.

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
    lengths = scope.index.lengths_at(pool.ordinals)
    gains = np.minimum(1.0, FULL_LENGTH / np.maximum(lengths, 1.0)) ** 2
    gains[scope.positions.titles[pool.ordinals] > 0] *= TITLED
    if scope.signals.near:
        pool.add("near", scope.signals.near * gains * _from_neighbours(pool, near, term_scores))
    if scope.signals.source:
        pool.add("source", scope.signals.source * gains * _from_sources(scope, pool, term_scores))


def _from_neighbours(
    pool: Pool, near: Sequence[Neighbours], term_scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for each candidate, the sum over all terms of the best score of the term in a nearby hit.

    The scores of hits two positions away are multiplied by FURTHER.
    """
    best = None
    if NATIVE is not None and near:
        others = [(1.0 if steps == 1 else FURTHER, others.tobytes()) for _, others, steps in near]
        raw = NATIVE.best_nearby(
            term_scores.tobytes(), pool.ordinals.tobytes(), near[0].hits.tobytes(), others
        )
        best = None if raw is None else np.frombuffer(raw).reshape(term_scores.shape)
    if best is None:
        best = best_nearby(pool, near, term_scores)
    amounts: NDArray[np.float64] = best.sum(axis=0)
    return amounts


def best_nearby(
    pool: Pool, near: Sequence[Neighbours], term_scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a matrix of the best score of each term (row) that a nearby hit passes on to each candidate."""
    best = np.zeros_like(term_scores)
    for hits, others, steps in near:
        there = others >= 0
        receivers = pool.rows_of(others[there])
        passed = term_scores[:, pool.rows_of(hits[there])]
        # Hits with the same position have the same neighbour, so a receiver may occur more than once.
        np.maximum.at(best.T, receivers, (passed if steps == 1 else FURTHER * passed).T)
    return best


def _from_sources(scope: RecallScope, pool: Pool, term_scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each candidate, the sum over all terms of the best score of the term in its source."""
    sources = scope.positions.sources[pool.ordinals]
    counts = scope.positions.source_sizes(pool.ordinals)
    small = (counts > 1) & (counts <= SOURCE_ATOMS_MAX) & scope.positions.placed(pool.ordinals)
    amounts = np.zeros(len(pool))
    if not small.any():
        return amounts
    found = None
    if NATIVE is not None:
        found = NATIVE.best_in_groups(term_scores.tobytes(), sources.tobytes(), small.tobytes())
    if found is None:
        groups, best = best_in_groups(sources, small, term_scores)
    else:
        groups = np.frombuffer(found[0], np.int64)
        best = np.frombuffer(found[1]).reshape(len(term_scores), -1)
    amounts[small] = best.sum(axis=0)[groups[small]]
    return amounts


def best_in_groups(
    sources: NDArray[np.uint64], small: NDArray[np.bool_], term_scores: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Group the candidates in `small` by source, and return the best score of each term in each group.

    Returns:
        The number of the group of each candidate, in ascending order of the sources, or −1; and a matrix with
        one row for each term and one column for each group.
    """
    chosen = np.flatnonzero(small)
    order = chosen[sources[chosen].argsort(kind="stable")]
    grouped = sources[order]
    begins = np.concatenate([[True], grouped[1:] != grouped[:-1]])
    groups = np.full(len(sources), -1, np.int64)
    groups[order] = begins.cumsum() - 1
    return groups, np.maximum.reduceat(term_scores[:, order], np.flatnonzero(begins), axis=1)
