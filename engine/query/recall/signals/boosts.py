"""Signals that multiply scores by factors: labels, names, times, provenance, closeness of words and trust.

Some factors are computed from the index and the tag sets, the others from the texts of the best candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from engine.base.limits import TRUST_MAX
from engine.followers.tags import day_of, union, values
from engine.index.index_view import TermRows
from engine.query.recall.candidates import Mentions, Pool
from engine.query.recall.recall_run import LoadedAtom, RecallRun
from engine.query.recall.signals.scoring import WeightedTerm
from engine.text.analyzer import analyze_query
from engine.text.language.question_model import Ask
from engine.text.language.question_targets import is_by, labels_wanted
from engine.text.speaker_labels import label_of
from proofs.leaves import Group

RELATION: Final = 5.0
"""If the question asks how names are related, the weight of the signal `together` is multiplied by this
number."""

DAYS_MAX: Final = 400
"""If atoms were created on more than this many days of a time span, the time span is ignored.

Each day is looked up separately.
"""

SPOKEN_READ: Final = 64
"""The number of candidates whose labels are read if the question asks what somebody said."""

_TIME_TERMS: Final = frozenset(
    analyze_query(
        "yesterday today tonight tomorrow week weeks weekend month months year years ago last next recently "
        "morning evening monday tuesday wednesday thursday friday saturday sunday "
        "january february march april may june july august september october november december"
    )
)
"""A text that has one of these terms contains a time."""


def boost_labels(run: RecallRun, pool: Pool) -> None:
    """Boost atoms that have no title and begin with a speaker's label (`Maria:`).

    An atom is only boosted if its label contains a word of the question.
    """
    if not run.signals.label or not len(pool):
        return
    heads = [
        WeightedTerm(term, 1.0, TermRows(found.df, found.heads, ()))
        for term, found in run.find(run.question.terms, heads=True).items()
        if found.heads.count(None) < len(found.heads)
    ]
    if not heads:
        return
    labelled = ~run.lists(heads).lacking(pool.ordinals)
    labelled &= run.positions.titles[pool.ordinals] == 0
    pool.multiply("label", 1.0 + run.signals.label * labelled)


def boost_co_occurrence(run: RecallRun, pool: Pool, mentions: Mentions) -> None:
    """Boost atoms that mention several of the names in the question (signal `together`)."""
    names = [entity for entity in run.question.entities if entity.proper]
    if not run.signals.together or len(names) < 2 or not len(pool):
        return
    count = np.zeros(len(pool))
    for entity in names:
        count += np.logical_and.reduce([mentions.of(term) for term in entity.terms])
    weight = run.signals.together * (RELATION if run.question.ask is Ask.RELATION else 1.0)
    pool.multiply("together", 1.0 + weight * np.maximum(count - 1.0, 0.0))


def boost_dates(run: RecallRun, pool: Pool) -> None:
    """Boost atoms that were created at a time named in the question."""
    days = [
        day
        for span in run.question.times
        if span.start is not None and span.end is not None
        for day in _days(run, span.start, span.end)
    ]
    if run.signals.time and days and len(pool):
        created = union(run.rows, ((Group.DAY, day) for day in sorted(set(days))))
        there = np.fromiter(map(created.__contains__, pool.ordinals.tolist()), np.bool_, len(pool))
        pool.multiply("time", 1.0 + run.signals.time * there)


def _days(run: RecallRun, start: int, end: int) -> list[str]:
    """Return the days between `start` and `end` on which atoms were created.

    Return [] if there are more than DAYS_MAX such days.
    """
    first, last = day_of(start), day_of(end - 1)
    found: list[str] = []
    for day in values(run.rows, Group.DAY, first, last + "\x01"):
        if len(found) == DAYS_MAX:
            return []
        found.append(day)
    return found


def apply_provenance(run: RecallRun, pool: Pool) -> None:
    """Lower the scores of atoms that are not internal."""
    if run.atoms.lowered:
        pool.multiply("provenance", run.atoms.factors_at(pool.ordinals))


def boost_texts(run: RecallRun, pool: Pool, rows: Sequence[int], atoms: Sequence[LoadedAtom]) -> None:
    """Raise or lower the scores of the candidates in `rows` according to their texts and their trust.

    `atoms` holds these candidates with their texts, in the same order.
    """
    signals = run.signals
    dated = atoms if run.question.ask is Ask.WHEN else ()
    trusted = any(atom.record.trust is not None for atom in atoms)
    shares = {
        "proximity": [signals.proximity * atom.reading.proximity for atom in atoms if signals.proximity],
        "time": [signals.time * (not _TIME_TERMS.isdisjoint(atom.terms)) for atom in dated],
        "trust": [signals.trust * trust_of(atom) for atom in atoms] if trusted else [],
    }
    for signal, found in shares.items():
        if any(found):
            factors = np.ones(len(pool))
            factors[list(rows)] += found
            pool.multiply(signal, factors)


def boost_speaker(run: RecallRun, pool: Pool) -> None:
    """If the question asks what somebody said, raise the scores of the atoms that this speaker said."""
    if not run.signals.speaker or not len(pool):
        return
    wanted = labels_wanted(run.question)
    if not wanted or not any(run.df(term) for label in wanted for term in label):
        return
    rows = pool.ranked(SPOKEN_READ)[:SPOKEN_READ]
    atoms = run.load(pool.ordinals[rows].tolist())
    factors = np.ones(len(pool))
    factors[rows[[is_by(label_of(atom.body.content), wanted) for atom in atoms]]] += run.signals.speaker
    pool.multiply("speaker", factors)


def trust_of(atom: LoadedAtom) -> float:
    """Return an atom's trust on a scale from −1 (trust 0) to 1 (trust 100); 0 if no trust is recorded."""
    trust = atom.record.trust
    return 0.0 if trust is None else 2.0 * trust / TRUST_MAX - 1.0
