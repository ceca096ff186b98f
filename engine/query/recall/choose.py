"""Choose hits among the ranked candidates: group near-duplicates, limit walkers and keep to the budget.

    the best candidates ──▶ hits ──▶ does any subject of the question lack its share? ──▶ choose again,
                                                                                         the shares first

A walker is a candidate without words of the question, found only through its relations to other atoms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from backends.base import Reader
from engine.ledger.queries import ids_at
from engine.query.duplicates import near_earlier
from engine.query.recall.chosen import TOO_LONG, Chosen, Ranked, Wanted
from engine.query.recall.pool import ALIAS, Pool
from engine.query.recall.protocol import Ranking
from engine.query.recall.retired import SupersededAtoms
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals.bm25 import MICRO
from engine.query.recall.subjects import Subjects, subjects_of

SPARE: Final = 20
"""The number of candidates that are read in addition to the requested number of hits.

These further candidates may be near-duplicates of hits, or are listed as left out.
"""

BLOCK: Final = 32
"""The number of candidates that are examined together."""

CATEGORY_CANDIDATES: Final = 400
"""The number of further candidates that are ranked if the query names categories.

Many candidates may not belong to these categories.
"""


def choose(scope: RecallScope, ranking: Ranking, wanted: Wanted) -> Chosen:
    """Choose the best hits within the budget. Candidates with equal scores are ordered by id.

    If there are fewer hits than the target, more of the ranking is read, up to its end. Reading stops after 2
    · target + 20 candidates have exceeded the budget. An incomplete ranking is completed when more of it is
    needed. Places that are still empty go to the walkers that were refused.

    With a budget, hits are added beyond the target, as long as their scores are high enough.

    If the hits mention a subject of the question less often than its share (`subjects_of`), the hits are
    chosen again: first the best candidates of each subject, up to its share, then the best of the rest.
    """
    chosen = _chosen(scope, ranking, wanted, None)
    subjects = subjects_of(scope, ranking.words, wanted.target)
    if subjects is None or not chosen.hits:
        return chosen
    mentions = subjects.mentions(chosen.ordinals)
    lacking = subjects.lacking(mentions, wanted.target)
    if lacking:
        ranking = chosen.ranking
        pool = subjects.extended(ranking.pool, lacking)
        chosen = _chosen(scope, replace(ranking, pool=pool), wanted, subjects)
        mentions = subjects.mentions(chosen.ordinals)
    chosen.subjects = subjects.shown(chosen.hits, mentions)
    return chosen


def _chosen(scope: RecallScope, ranking: Ranking, wanted: Wanted, subjects: Subjects | None) -> Chosen:
    """Return the hits. With `subjects`, the share of each subject is chosen before all other hits."""
    chosen = Chosen(scope, ranking, wanted)
    superseded = SupersededAtoms(scope.rows, scope.index, scope.marked) if scope.marked else None
    if subjects:
        _give_shares(scope, chosen, subjects, superseded)
    shared = frozenset(chosen.ordinals)
    target, too_long = wanted.target, 0
    for number, one in enumerate(_ranked(scope, ranking, chosen, target)):
        if (number >= target + SPARE and chosen.is_full) or too_long >= 2 * target + SPARE:
            break
        if one.ordinal in shared:
            continue
        reason = (superseded.reason(one.ordinal) if superseded else None) or chosen.take(one)
        too_long += reason == TOO_LONG
        if reason:
            chosen.leave_out(one, reason)
    chosen.fill()
    chosen.finish()
    return chosen


def _give_shares(
    scope: RecallScope, chosen: Chosen, subjects: Subjects, superseded: SupersededAtoms | None
) -> None:
    """Choose the best candidates of each subject, up to its share of the hits and of the budget.

    The subjects take turns. In the first turn, each subject gets a hit. If there is a budget, the tokens that
    are left are divided equally among the subjects that have no hit yet, the subject with the shortest text
    first; a text that costs more is cut. In later turns, a subject that has used its part of the budget gets
    no more hits.
    """
    pool, budget = chosen.ranking.pool, chosen.wanted.budget
    queues = [list(_as_ranked(scope, pool, rows)) for rows in subjects.candidates(pool)]
    counts, spent = np.zeros(len(queues), np.int64), np.zeros(len(queues))
    for turn in range(max(subject.share for subject in subjects.found)):
        waiting = [at for at, subject in enumerate(subjects.found) if turn < subject.share]
        if budget is not None and not turn:
            waiting.sort(key=lambda at: (min((chosen.cost(one) for one in queues[at][:1]), default=0), at))
        while waiting:
            at = waiting.pop(0)
            if counts[at] > turn or (budget is not None and spent[at] * len(queues) >= budget):
                continue
            lacking = 1 + sum(counts[other] <= turn for other in waiting)
            allowance = None if chosen.left is None or turn else chosen.left // int(lacking)
            before = chosen.tokens
            taken = _next_hit(chosen, queues[at], superseded, allowance)
            if taken is not None:
                there = subjects.mentions([taken.ordinal])[:, 0]
                counts += there
                spent += there * (chosen.tokens - before)


def _next_hit(
    chosen: Chosen, queue: list[Ranked], superseded: SupersededAtoms | None, allowance: int | None
) -> Ranked | None:
    """Choose the first candidate in the queue that can be a hit, and return it. Empty the queue up to it."""
    while queue:
        one = queue.pop(0)
        if one.ordinal in chosen.ordinals or (superseded and superseded.reason(one.ordinal)):
            continue
        if not chosen.take(one, allowance):
            return one
    return None


def _as_ranked(scope: RecallScope, pool: Pool, rows: NDArray[np.int64]) -> Iterator[Ranked]:
    """Return rows of the pool as candidates. Any of them may be a near-duplicate of a hit."""
    ordinals = pool.ordinals[rows]
    scores = pool.micros_at(rows) / MICRO
    fingerprints = scope.index.facts.fingerprints[ordinals]
    sources = scope.positions.sources[ordinals]
    own = (rows.tolist(), ordinals.tolist(), scores.tolist(), fingerprints.tolist(), [True] * len(rows))
    return map(Ranked, *own, sources.tolist(), _by_words(pool, rows).tolist())


def _ranked(scope: RecallScope, ranking: Ranking, chosen: Chosen, target: int) -> Iterator[Ranked]:
    """Yield the candidates, the best first. Candidates with equal scores are ordered by id.

    They are not ordered by ordinal, because ordinals may change when the atoms are ingested again. Ids are
    read only where scores are equal. The caller adds hits to `chosen`. If the answer is not explained, the
    last candidates may be left out when they can no longer change the answer.
    """
    pool = ranking.pool
    rows = pool.ranked(ranking.first)
    micros = pool.micros_at(rows)
    hits = chosen.fingerprints
    start, end = 0, min(target, BLOCK)
    while start < len(rows) or ranking.first is not None:
        if start >= len(rows):
            ranking = chosen.complete()
            pool = ranking.pool
            rows = pool.ranked()
            micros = pool.micros_at(rows)
            continue
        if chosen.is_full and not scope.explain:
            last = _after_equal(micros, target + SPARE)
            others = scope.index.facts.fingerprints[pool.ordinals[rows[start:last]]]
            if not any(near_earlier(np.concatenate([np.array(hits, np.uint64), others]), len(hits))):
                return
        end = _after_equal(micros, end)
        ordered = _by_id(scope.rows, rows[start:end], pool.ordinals[rows[start:end]], micros[start:end])
        for begin in range(0, end - start, BLOCK):  # more than one block if many scores are equal
            block = ordered[begin : begin + BLOCK]
            ordinals = pool.ordinals[block]
            # Nearly all of these become hits, so they are read together.
            scope.load(ordinals[: max(0, target - len(hits))].tolist())
            fingerprints = scope.index.facts.fingerprints[ordinals]
            before = np.array(hits, np.uint64)
            alike = near_earlier(np.concatenate([before, fingerprints]), len(before))
            scores = micros[start + begin : end][:BLOCK] / MICRO
            own = (block.tolist(), ordinals.tolist(), scores.tolist(), fingerprints.tolist(), alike)
            sources = scope.positions.sources[ordinals].tolist()
            yield from map(Ranked, *own, sources, _by_words(pool, block).tolist())
        start, end = end, end + BLOCK


def _by_words(pool: Pool, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for each candidate with a word of the question or with an alias that is in the question."""
    found: NDArray[np.bool_] = pool.parts["words"][rows] > 0
    if ALIAS in pool.parts:
        found |= pool.parts[ALIAS][rows] > 0
    return found


def _after_equal(micros: NDArray[np.int64], end: int) -> int:
    """Return the first index from `end` on at which the score differs from the score before it."""
    end = min(end, len(micros))
    while end < len(micros) and micros[end] == micros[end - 1]:
        end += 1
    return end


def _by_id(
    snapshot: Reader, rows: NDArray[np.int64], ordinals: NDArray[np.int64], micros: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows of candidates by descending score. Candidates with equal scores are sorted by id."""
    equal = micros[1:] == micros[:-1]
    if not equal.any():
        return rows
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal)).tolist()
    ids = ids_at(snapshot, ordinals[tied].tolist())
    # The places of equal scores are adjacent, so sorting by score and id permutes them among themselves.
    order = sorted(zip((-micros[tied]).tolist(), ids, tied, strict=True))
    sorted_rows = rows.copy()
    sorted_rows[tied] = rows[[at for _, _, at in order]]
    return sorted_rows
