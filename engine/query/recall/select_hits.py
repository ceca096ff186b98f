"""Select hits among the ranked candidates: group near-duplicates, limit walkers and keep to the budget.

    the best candidates ──▶ hits ──▶ does any subject of the question lack its share? ──▶ select again,
                                                                                         the shares first

A walker is a candidate without words of the question, found only through its relations to other atoms.

A question about Rob, events and life is answered badly by ten texts about events. So if the best hits leave
out a subject of the question, the best texts about the subject take the places of other hits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.recall_answer import Hit, Subject
from engine.query.recall.recall_run import (
    ALIAS,
    Pool,
    Ranking,
    RecallRun,
    after_equal,
    best_ordinals,
    best_rows,
    by_id,
)
from engine.query.recall.selection import TOO_LONG, Candidate, Selection, SelectionLimits
from engine.query.recall.signals.anchors import extended
from engine.query.recall.signals.scoring import MICRO, Lists
from engine.query.recall.signals.words import by_words
from engine.query.recall.superseded import SupersededAtoms
from engine.text.language.phrasing import is_asked_for, listed
from engine.text.language.question_model import Entity
from engine.text.simhash import near_earlier

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

SUBJECT_SPARE: Final = 8
"""The number of candidates of each subject that are kept in addition to its share, because some of them may
be near-duplicates of hits or hits that are too long."""


def select_hits(run: RecallRun, ranking: Ranking, wanted: SelectionLimits) -> Selection:
    """Choose the best hits within the budget. Candidates with equal scores are ordered by id.

    If there are fewer hits than the target, more of the ranking is read, up to its end. Reading stops after 2
    · target + 20 candidates have exceeded the budget. An incomplete ranking is completed when more of it is
    needed. Places that are still empty go to the walkers that were refused.

    With a budget, hits are added beyond the target, as long as their scores are high enough.

    If the hits mention a subject of the question less often than its share (`subjects_of`), the hits are
    chosen again: first the best candidates of each subject, up to its share, then the best of the rest.
    """
    selection = _select(run, ranking, wanted, None)
    subjects = subjects_of(run, ranking.words, wanted.target)
    if subjects is None or not selection.hits:
        return selection
    mentions = subjects.mentions(selection.ordinals)
    lacking = subjects.lacking(mentions, wanted.target)
    if lacking:
        ranking = selection.ranking
        pool = subjects.extended(ranking.pool, lacking)
        selection = _select(run, replace(ranking, pool=pool), wanted, subjects)
        mentions = subjects.mentions(selection.ordinals)
    selection.subjects = subjects.shown(selection.hits, mentions)
    return selection


def _select(
    run: RecallRun, ranking: Ranking, wanted: SelectionLimits, subjects: Subjects | None
) -> Selection:
    """Return the hits. With `subjects`, the share of each subject is chosen before all other hits."""
    selection = Selection(run, ranking, wanted)
    superseded = SupersededAtoms(run.rows, run.index, run.marked) if run.marked else None
    if subjects:
        _give_shares(run, selection, subjects, superseded)
    shared = frozenset(selection.ordinals)
    target, too_long = wanted.target, 0
    for number, one in enumerate(_ranked(run, ranking, selection, target)):
        if (number >= target + SPARE and selection.is_full) or too_long >= 2 * target + SPARE:
            break
        if one.ordinal in shared:
            continue
        reason = (superseded.reason(one.ordinal) if superseded else None) or selection.take(one)
        too_long += reason == TOO_LONG
        if reason:
            selection.leave_out(one, reason)
    selection.fill()
    selection.finish()
    return selection


def _give_shares(
    run: RecallRun, selection: Selection, subjects: Subjects, superseded: SupersededAtoms | None
) -> None:
    """Choose the best candidates of each subject, up to its share of the hits and of the budget.

    The subjects take turns. In the first turn, each subject gets a hit. If there is a budget, the tokens that
    are left are divided equally among the subjects that have no hit yet, the subject with the shortest text
    first; a text that costs more is cut. In later turns, a subject that has used its part of the budget gets
    no more hits.
    """
    pool, budget = selection.ranking.pool, selection.wanted.budget
    queues = [list(_as_ranked(run, pool, rows)) for rows in subjects.candidates(pool)]
    counts, spent = np.zeros(len(queues), np.int64), np.zeros(len(queues))
    for turn in range(max(subject.share for subject in subjects.shares)):
        waiting = [at for at, subject in enumerate(subjects.shares) if turn < subject.share]
        if budget is not None and not turn:
            waiting.sort(key=lambda at: (min((selection.cost(one) for one in queues[at][:1]), default=0), at))
        while waiting:
            at = waiting.pop(0)
            if counts[at] > turn or (budget is not None and spent[at] * len(queues) >= budget):
                continue
            lacking = 1 + sum(counts[other] <= turn for other in waiting)
            allowance = None if selection.left is None or turn else selection.left // int(lacking)
            before = selection.tokens
            taken = _next_hit(selection, queues[at], superseded, allowance)
            if taken is not None:
                there = subjects.mentions([taken.ordinal])[:, 0]
                counts += there
                spent += there * (selection.tokens - before)


def _next_hit(
    selection: Selection, queue: list[Candidate], superseded: SupersededAtoms | None, allowance: int | None
) -> Candidate | None:
    """Choose the first candidate in the queue that can be a hit, and return it. Empty the queue up to it."""
    while queue:
        one = queue.pop(0)
        if one.ordinal in selection.ordinals or (superseded and superseded.reason(one.ordinal)):
            continue
        if not selection.take(one, allowance):
            return one
    return None


def _as_ranked(run: RecallRun, pool: Pool, rows: NDArray[np.int64]) -> Iterator[Candidate]:
    """Return rows of the pool as candidates. Any of them may be a near-duplicate of a hit."""
    ordinals = pool.ordinals[rows]
    scores = pool.micros_at(rows) / MICRO
    fingerprints = run.index.facts.fingerprints[ordinals]
    sources = run.positions.sources[ordinals]
    row = (rows.tolist(), ordinals.tolist(), scores.tolist(), fingerprints.tolist(), [True] * len(rows))
    return map(Candidate, *row, sources.tolist(), _by_words(pool, rows).tolist())


def _ranked(run: RecallRun, ranking: Ranking, selection: Selection, target: int) -> Iterator[Candidate]:
    """Yield the candidates, the best first. Candidates with equal scores are ordered by id.

    They are not ordered by ordinal, because ordinals may change when the atoms are ingested again. Ids are
    read only where scores are equal. The caller adds hits to `chosen`. If the answer is not explained, the
    last candidates may be left out when they can no longer change the answer.
    """
    pool = ranking.pool
    rows = pool.ranked(ranking.first)
    micros = pool.micros_at(rows)
    hits = selection.fingerprints
    start, end = 0, min(target, BLOCK)
    while start < len(rows) or ranking.first is not None:
        if start >= len(rows):
            ranking = selection.complete()
            pool = ranking.pool
            rows = pool.ranked()
            micros = pool.micros_at(rows)
            continue
        if selection.is_full and not run.explain:
            last = after_equal(micros, target + SPARE)
            others = run.index.facts.fingerprints[pool.ordinals[rows[start:last]]]
            if not any(near_earlier(np.concatenate([np.array(hits, np.uint64), others]), len(hits))):
                return
        end = after_equal(micros, end)
        ordered = by_id(run.rows, rows[start:end], pool.ordinals[rows[start:end]], micros[start:end])
        for begin in range(0, end - start, BLOCK):  # more than one block if many scores are equal
            block = ordered[begin : begin + BLOCK]
            ordinals = pool.ordinals[block]
            # Nearly all of these become hits, so they are read together.
            run.load(ordinals[: max(0, target - len(hits))].tolist())
            fingerprints = run.index.facts.fingerprints[ordinals]
            before = np.array(hits, np.uint64)
            alike = near_earlier(np.concatenate([before, fingerprints]), len(before))
            scores = micros[start + begin : end][:BLOCK] / MICRO
            row = (block.tolist(), ordinals.tolist(), scores.tolist(), fingerprints.tolist(), alike)
            sources = run.positions.sources[ordinals].tolist()
            yield from map(Candidate, *row, sources, _by_words(pool, block).tolist())
        start, end = end, end + BLOCK


def _by_words(pool: Pool, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for each candidate with a word of the question or with an alias that is in the question."""
    is_hit: NDArray[np.bool_] = pool.parts["words"][rows] > 0
    if ALIAS in pool.parts:
        is_hit |= pool.parts[ALIAS][rows] > 0
    return is_hit


class SubjectShare(NamedTuple):
    """A subject of a question that the memory knows."""

    text: str
    terms: Mapping[str, float]
    """Each term of the subject that an atom contains, with its inverse document frequency."""
    proper: bool
    """True for a name."""
    share: int
    """The number of hits that should mention the subject, if there are so many atoms that do."""


class Subjects:
    """The subjects of a question, and the atoms that mention them."""

    def __init__(self, run: RecallRun, words: Lists, shares: Sequence[SubjectShare]) -> None:
        """Prepare to look for at least two subjects. `words` are the scores for all terms of the question."""
        self._run = run
        self._words = words
        self.shares = shares
        self._rows = {one.term: row for row, one in enumerate(words.terms)}

    def mentions(self, ordinals: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a matrix with a row for each subject and a column for each atom: True if it is mentioned.

        An atom mentions a subject if the terms of the subject in the atom have at least half of the weight of
        all its terms, or the share in the configuration.
        """
        there = self._words.at(np.asarray(ordinals, np.int64)).by_list > 0
        covers = self._run.config.protocol.covers
        rows = []
        for subject in self.shares:
            if len(subject.terms) == 1:
                rows.append(there[self._rows[next(iter(subject.terms))]])
                continue
            weight = np.zeros(there.shape[1])
            for term, idf in subject.terms.items():
                weight = weight + idf * there[self._rows[term]]
            rows.append((weight > 0) & (weight >= covers * sum(subject.terms.values())))
        return np.array(rows)

    def lacking(self, mentions: NDArray[np.bool_], target: int) -> list[SubjectShare]:
        """Return the subjects that fewer hits mention than their share. `mentions` is the matrix of the hits.

        If no hit mentions two subjects, no atom is about all of them. Then each subject has a share from now
        on, and if one of them is a name, all have equal shares. (Measured: with equal shares for subjects
        without names, R@10 falls by half a point on two sets of abstracts.)
        """
        if (mentions.sum(axis=0) < 2).all():
            named = any(one.proper for one in self.shares)
            least = target // len(self.shares) if named else 1
            self.shares = [one._replace(share=max(one.share, least)) for one in self.shares]
        counts = mentions.sum(axis=1).tolist()
        return [subject for subject, count in zip(self.shares, counts, strict=True) if count < subject.share]

    def shown(self, hits: Sequence[Hit], mentions: NDArray[np.bool_]) -> tuple[Subject, ...]:
        """Return the subjects with the hits that mention them."""
        ids = [hit.id for hit in hits]
        return tuple(
            Subject(subject.text, tuple(compress(ids, row)))
            for subject, row in zip(self.shares, mentions.tolist(), strict=True)
        )

    def extended(self, pool: Pool, lacking: Sequence[SubjectShare]) -> Pool:
        """Return a pool that also contains the best atoms of each subject in `lacking`."""
        for subject in lacking:
            hits = by_words(self._run, dict.fromkeys(subject.terms, 1.0), tags=False)
            best = best_ordinals(self._run, hits, subject.share + SUBJECT_SPARE)
            pool = extended(self._run, pool, self._words, best.tolist())
        return pool

    def candidates(self, pool: Pool) -> list[NDArray[np.int64]]:
        """Return the rows of the best candidates that mention each subject, the best first."""
        ranked = pool.ranked()
        mentioned = self.mentions(pool.ordinals[ranked])
        return [
            best_rows(self._run.rows, pool, ranked[there], subject.share + SUBJECT_SPARE)
            for subject, there in zip(self.shares, mentioned, strict=True)
        ]


def subjects_of(run: RecallRun, words: Lists, target: int) -> Subjects | None:
    """Return the subjects of the question, or None if the memory knows fewer than two of them.

    The subjects are the first three entities of the question (or the configured number of them), apart from
    the kind of answer that is asked for, and all names in a list such as "Anna, Boris and Clara". The names
    in a list share the hits equally, because the question asks the same about each. Any other name gets one
    hit, because most questions with several names ask for the atom that mentions them all; so does a noun in
    a list. Other nouns get no share at first (see `Subjects.lacking`). A question with six or more entities,
    most of them not in a list, describes one topic, so it has no subjects. With a small target, the last
    entities get no hit.

    Measured: with a third of the hits for each name outside a list, R@10 falls by 1.5 points on two sets of
    documents. If descriptions had subjects, R@10 would fall by 1.5 points on a set of abstracts.
    """
    entities = _entities(run.question.entities)
    if len(entities) < 2 or target < 2:
        return None
    side_by_side = [entities.index(one) for one in listed(run.question.core, entities)]
    first = run.config.protocol.entities
    if len(entities) >= 2 * first and 2 * len(side_by_side) <= len(entities):
        return None
    terms_of = {at: terms for at, one in enumerate(entities) if (terms := _known(run, one.terms))}
    equals = [at for at in side_by_side if at in terms_of and entities[at].proper]
    equals = equals if len(equals) > 1 else []
    core = run.question.core
    others = [
        at for at in terms_of if at not in equals and at < first and not is_asked_for(core, entities[at])
    ]
    others = others[: target // 2]
    shares = {at: int(entities[at].proper or at in side_by_side) for at in others}
    left = target - sum(shares.values())
    equals = equals[:left]
    shares.update(dict.fromkeys(equals, left // max(1, len(equals))))
    subjects = [
        SubjectShare(entities[at].text, terms_of[at], entities[at].proper, shares[at])
        for at in sorted(shares)
    ]
    return Subjects(run, words, subjects) if len(subjects) > 1 else None


def _entities(entities: Sequence[Entity]) -> Sequence[Entity]:
    """Return the entities. A single entity that is a row of words, as in "rob events life", is divided.

    Such a row is the whole question of somebody who types keywords, and nothing says that they are one name.
    """
    if len(entities) != 1 or len(entities[0].terms) < 2:
        return entities
    return [Entity(term, (term,), False) for term in entities[0].terms]


def _known(run: RecallRun, terms: Sequence[str]) -> dict[str, float]:
    """Return the terms that an atom contains, each with its inverse document frequency."""
    return {term: run.idf(term) for term in terms if run.df(term)}
