"""The first candidates: the documents with the best scores for words, and their neighbours in their sources.

Two signals are part of this step. With `near`, an atom's score rises with the scores of the atoms near it;
with `source`, with the scores of the atoms of its source. Both are computed for each term separately. An atom
gains a share of the difference: the best score of the term in a neighbour or in the source, minus the atom's
own score for the term. The scores of several neighbours are not added up. So an atom gains most if the terms
that occur near it are not in the atom itself. In a conversation, for example, one message often contains some
of the words, and the reply to it contains the others.

Texts on the same subject often stand next to each other. A word that occurs in two of them says nothing that
the atom's own score does not say already. When such words were counted for both texts, groups of texts on a
common subject rose above the texts with the most words of the question.

The weaker an atom matches the question, the smaller the share of its scores that its neighbours gain.

Measured on the abstracts of NPL, nDCG@10 was 0.367 when neighbours lent all words in full, 0.449 when they
lent only what was lacking, and 0.463 when weak matches lent less as well; without lending it is 0.460. On
conversations, R@10 was 0.781, 0.785 and 0.789, and without lending from neighbours 0.721.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.native import NATIVE
from engine.index.positions import Positions, distinct
from engine.query.recall.recall_config import Signals
from engine.query.recall.recall_run import Pool, RecallRun
from engine.query.recall.signals.scoring import HEAVIEST_TERMS_MAX, TIES_MAX, Lists

NEIGHBOUR_STEPS: Final = 2
"""The largest distance, in atoms of the same source, at which the neighbours of a hit become candidates."""

FURTHER: Final = 0.6
"""The share that an atom gains from an atom two positions away, relative to the share from an adjacent
atom."""

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

FULL_SOURCE: Final = 25
"""An atom of a source with at most this many atoms gains the full amount of the signal `source`.

In a larger source, with n atoms, the atom gains 25 / n of the amount, because the words of one atom then say
less about the other atoms.
"""

SOURCE_ATOMS_MAX: Final = 200
"""The largest number of atoms in a source for which the signal `source` is used, because larger sources would
give less than an eighth of the full amount."""


class Neighbours(NamedTuple):
    """Hits, and for each hit the atom that is `steps` positions away in the same source, or NO_NEIGHBOUR."""

    hits: NDArray[np.int64]
    others: NDArray[np.int64]
    steps: int
    """The distance between a hit and its neighbour: 1 or 2."""


def neighbourhood(run: RecallRun, hits: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Neighbours]]:
    """Return the ordinals of hits and of their allowed neighbours, and the neighbours of each hit.

    The ordinals of the hits and of the neighbours are in one array, ascending.
    """
    if not run.signals.near:
        return np.sort(hits), []
    return documents_near(run.positions, run.mask, hits)


def documents_near(
    positions: Positions, live: NDArray[np.bool_], hits: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[Neighbours]]:
    """Do the work of `neighbourhood` in Python. `live` holds True for each allowed document."""
    near = []
    for after in (False, True):
        others = hits
        for steps in range(1, NEIGHBOUR_STEPS + 1):
            others = positions.beside(others, live, after=after)
            near.append(Neighbours(hits, others, steps))
    ordinals = distinct(np.concatenate([hits, *(one.others for one in near)]))
    return ordinals[ordinals >= 0], near


def extended(run: RecallRun, pool: Pool, words: Lists, ordinals: Sequence[int]) -> Pool:
    """Return a pool that contains the candidates of `pool` and the allowed atoms among `ordinals`."""
    if not len(ordinals):
        return pool
    new = distinct(np.asarray(ordinals, np.int64))
    new = new[run.mask[new]]
    new = new[pool.rows_of(new) < 0]
    if not len(new):
        return pool
    larger = pool.extended(new, words.at(new).scores)
    if run.atoms.lowered:
        factors = np.ones(len(larger))
        factors[larger.rows_of(new)] = run.atoms.factors_at(new)
        larger.multiply("provenance", factors)
    return larger


def pool_of(run: RecallRun, words: Lists, most: int) -> tuple[Pool, tuple[str, ...], NDArray[np.float64]]:
    """Return the pool of candidates. The pool has the scores for words and the signals `near` and `source`.

    The candidates are the `most` documents with the highest scores in `words`, and the neighbours of these
    documents. If further documents have the lowest of these scores, up to `most` of them and their neighbours
    are also candidates. Also return the heaviest terms, and the scores of the candidates for these terms (see
    `Lists.by_term`).
    """
    if NATIVE is not None and len(words.terms) <= HEAVIEST_TERMS_MAX:
        pool = _compiled(run, words, most)
        if pool is not None:
            return pool
    ordinals, near = neighbourhood(run, words.found(run.atoms, most))
    heaviest, term_scores, scores = words.by_term(ordinals)
    pool_of_best = Pool(ordinals, scores, explained=run.explain)
    propagate(run, pool_of_best, near, term_scores)
    return pool_of_best, heaviest, term_scores


def _compiled(
    run: RecallRun, words: Lists, most: int
) -> tuple[Pool, tuple[str, ...], NDArray[np.float64]] | None:
    """Do the work of `pool_of` in a compiled function. Return None if the function declines."""
    signals = run.signals
    raw = NATIVE.candidates(  # type: ignore[union-attr]
        words.kernel_lists,
        words.kernel_allowed(run.atoms),
        run.positions.kernel_orders,
        most,
        min(2 * most, most + TIES_MAX),
        (1.0, FURTHER)[:NEIGHBOUR_STEPS] if signals.near else (),
        (FULL_SOURCE, SOURCE_ATOMS_MAX),
        (signals.near, signals.source, FULL_LENGTH, TITLED),
    )
    if raw is None:
        return None
    ordinals, scores, sums, nearby, of_sources = raw
    pool = Pool(np.frombuffer(ordinals, np.int64), np.frombuffer(sums), explained=run.explain)
    if scores:
        add_gains(run, pool, np.frombuffer(nearby), np.frombuffer(of_sources))
    terms = tuple([one.term for one in words.terms])
    return pool, terms, np.frombuffer(scores).reshape(len(terms), len(pool))


def propagate(
    run: RecallRun, pool: Pool, near: Sequence[Neighbours], term_scores: NDArray[np.float64]
) -> None:
    """Add to each candidate a share of the scores of its neighbours and of its source.

    `near` holds the neighbours of the hits, and `term_scores` is the `anchors.matrix` of the pool.
    """
    if not len(pool) or not term_scores.size:
        return
    lengths = run.index.lengths_at(pool.ordinals)
    nearby, of_sources = gains_of(run.positions, lengths, pool, near, term_scores, run.signals)
    add_gains(run, pool, nearby, of_sources)


def add_gains(
    run: RecallRun, pool: Pool, nearby: NDArray[np.float64], of_sources: NDArray[np.float64]
) -> None:
    """Add to the score of each candidate the gain from its neighbours and the gain from its source."""
    if run.signals.near:
        pool.add("near", nearby)
    if run.signals.source:
        pool.add("source", of_sources)


def gains_of(
    positions: Positions,
    lengths: NDArray[np.float64],
    pool: Pool,
    near: Sequence[Neighbours],
    term_scores: NDArray[np.float64],
    signals: Signals,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the amounts that the signals `near` and `source` add. `lengths` are the candidates' lengths."""
    gains = np.minimum(1.0, FULL_LENGTH / np.maximum(lengths, 1.0)) ** 2
    gains[positions.titles[pool.ordinals] > 0] *= TITLED
    nearby = signals.near * gains * from_neighbours(pool, near, term_scores)
    return nearby, signals.source * gains * from_sources(positions, pool.ordinals, term_scores)


def lent(term_scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores that each candidate lends.

    Its scores are multiplied by the square root of its total score, divided by the best total score. So a
    candidate that hardly matches the question lends hardly anything.
    """
    totals = _sums(term_scores)
    shares: NDArray[np.float64] = np.sqrt(totals / (totals.max(initial=0.0) or 1.0))
    return term_scores * shares


def from_neighbours(
    pool: Pool, near: Sequence[Neighbours], term_scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for each candidate, what it lacks of the best score of each term nearby, summed over all terms.

    The scores that hits two positions away lend are multiplied by FURTHER.
    """
    best, scores = np.zeros_like(term_scores), lent(term_scores)
    for hits, others, steps in near:
        there = others >= 0
        receivers = pool.rows_of(others[there])
        passed = scores[:, pool.rows_of(hits[there])]
        # Hits with the same position have the same neighbour, so a receiver may occur more than once.
        np.maximum.at(best.T, receivers, (passed if steps == 1 else FURTHER * passed).T)
    return _lacking(best, term_scores)


def from_sources(
    positions: Positions, ordinals: NDArray[np.int64], term_scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for each candidate, what it lacks of the best score of each term in its source, summed."""
    sources, counts = positions.sources[ordinals], positions.source_sizes(ordinals)
    small = np.flatnonzero((counts > 1) & (counts <= SOURCE_ATOMS_MAX) & positions.placed(ordinals))
    amounts = np.zeros(len(ordinals))
    if len(small):
        order = small[sources[small].argsort(kind="stable")]
        grouped = sources[order]
        begins = np.concatenate([[True], grouped[1:] != grouped[:-1]])
        best = np.maximum.reduceat(lent(term_scores)[:, order], np.flatnonzero(begins), axis=1)
        lacking = _lacking(best[:, begins.cumsum() - 1], term_scores[:, order])
        amounts[order] = lacking * np.minimum(1.0, FULL_SOURCE / counts[order])
    return amounts


def _lacking(best: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each column of `best − own` without its negative numbers."""
    return _sums(np.maximum(best - own, 0.0))


def _sums(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each column, added row by row; `numpy.sum` adds a single column in another order."""
    sums = np.zeros(scores.shape[1])
    for row in scores:
        sums += row
    return sums
