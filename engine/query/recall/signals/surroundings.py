"""What an atom is lent by its surroundings: the atoms beside it in its source, and the source as a whole.

Both go term by term. Lending the best occurrence of a term, not the sum of all, rewards what the
atom itself lacks: in a conversation the question holds some of the words, the answer others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.pool import Pool
from engine.query.recall.scene import Scene
from engine.query.recall.signals.anchors import Beside

FURTHER: Final = 0.6
"""The atom after the next lends so much of what the next one lends."""

FULL_LENGTH: Final = 30
"""An atom of n terms more than this is lent (30 / n)² of it: the longer, the more it stands by itself.

Measured with passages in random order, whose neighbours have nothing to say: lending cost 1.5 points
of recall at 10, with no such limit 3; on conversations it makes no difference.
"""

TITLED: Final = 0.5
"""An atom with a title is lent so much less: what it shares with its neighbours is in the title."""

SOURCE_ATOMS_MAX: Final = 200
"""A source of more atoms is a collection, whose parts say nothing about one another."""


def lend(scene: Scene, pool: Pool, near: Sequence[Beside], worth: NDArray[np.float64]) -> None:
    """Give each atom of the pool what its surroundings lend.

    `near` says who is beside whom, `worth` is the `anchors.matrix` of the pool.
    """
    if not len(pool) or not worth.size:
        return
    lengths = scene.view.lengths[pool.ordinals].astype(np.float64)
    needs = np.minimum(1.0, FULL_LENGTH / np.maximum(lengths, 1.0)) ** 2
    needs[scene.places.titles[pool.ordinals] > 0] *= TITLED
    if scene.signals.near:
        pool.add("near", scene.signals.near * needs * _beside(pool, near, worth))
    if scene.signals.source:
        pool.add("source", scene.signals.source * needs * _source(scene, pool, worth))


def _beside(pool: Pool, near: Sequence[Beside], worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the hits give to those on their two sides, the best of each term."""
    lent = np.zeros_like(worth)
    for hits, others, steps in near:
        there = others >= 0
        takers = pool.at(others[there])
        given = worth[:, pool.at(hits[there])]
        # Hits in one place have the same neighbour, so a taker may come more than once.
        np.maximum.at(lent.T, takers, (given if steps == 1 else FURTHER * given).T)
    amounts: NDArray[np.float64] = lent.sum(axis=0)
    return amounts


def _source(scene: Scene, pool: Pool, worth: NDArray[np.float64]) -> NDArray[np.float64]:
    sources = scene.places.sources[pool.ordinals]
    counts = scene.places.source_sizes(pool.ordinals)
    lending = (counts > 1) & (counts <= SOURCE_ATOMS_MAX) & scene.places.placed(pool.ordinals)
    amounts = np.zeros(len(pool))
    chosen = np.flatnonzero(lending)
    if not len(chosen):
        return amounts
    order = chosen[sources[chosen].argsort(kind="stable")]
    grouped = sources[order]
    starts = np.flatnonzero(np.concatenate([[True], grouped[1:] != grouped[:-1]]))
    best = np.maximum.reduceat(worth[:, order], starts, axis=1).sum(axis=0)
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    amounts[order] = np.repeat(best, sizes)
    return amounts
