"""Signals that multiply scores by factors computed from the index and the tag sets. They read no texts."""

from __future__ import annotations

from typing import Final

import numpy as np

from engine.followers.tags import day_of, union, values
from engine.index.index_view import TermRows
from engine.query.recall.mentions import Mentions
from engine.query.recall.pool import Pool
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals.bm25 import WeightedTerm
from engine.text.language.model import Ask
from proofs.sets import Group

RELATION: Final = 5.0
"""If the question asks how names are related, the weight of the signal `together` is multiplied by this
number."""

DAYS_MAX: Final = 400
"""If atoms were created on more than this many days of a time span, the time span is ignored.

Each day is looked up separately.
"""


def speakers(scope: RecallScope, pool: Pool) -> None:
    """Boost atoms that have no title and begin with a speaker's label (`Maria:`).

    An atom is only boosted if its label contains a word of the question.
    """
    if not scope.signals.label or not len(pool):
        return
    heads = [
        WeightedTerm(term, 1.0, TermRows(found.df, found.heads, ()))
        for term, found in scope.find(scope.question.terms, heads=True).items()
        if found.heads.count(None) < len(found.heads)
    ]
    if not heads:
        return
    labelled = ~scope.lists(heads).lacking(pool.ordinals)
    labelled &= scope.positions.titles[pool.ordinals] == 0
    pool.multiply("label", 1.0 + scope.signals.label * labelled)


def co_occurrence(scope: RecallScope, pool: Pool, mentions: Mentions) -> None:
    """Boost atoms that mention several of the names in the question (signal `together`)."""
    names = [entity for entity in scope.question.entities if entity.proper]
    if not scope.signals.together or len(names) < 2 or not len(pool):
        return
    count = np.zeros(len(pool))
    for entity in names:
        count += np.logical_and.reduce([mentions.of(term) for term in entity.terms])
    weight = scope.signals.together * (RELATION if scope.question.ask is Ask.RELATION else 1.0)
    pool.multiply("together", 1.0 + weight * np.maximum(count - 1.0, 0.0))


def dated(scope: RecallScope, pool: Pool) -> None:
    """Boost atoms that were created at a time named in the question."""
    days = [
        day
        for span in scope.question.times
        if span.start is not None and span.end is not None
        for day in _days(scope, span.start, span.end)
    ]
    if scope.signals.time and days and len(pool):
        created = union(scope.rows, ((Group.DAY, day) for day in sorted(set(days))))
        there = np.fromiter(map(created.__contains__, pool.ordinals.tolist()), np.bool_, len(pool))
        pool.multiply("time", 1.0 + scope.signals.time * there)


def _days(scope: RecallScope, start: int, end: int) -> list[str]:
    """Return the days between `start` and `end` on which atoms were created.

    Return [] if there are more than DAYS_MAX such days.
    """
    first, last = day_of(start), day_of(end - 1)
    found: list[str] = []
    for day in values(scope.rows, Group.DAY, first, last + "\x01"):
        if len(found) == DAYS_MAX:
            return []
        found.append(day)
    return found


def provenance(scope: RecallScope, pool: Pool) -> None:
    """Lower the scores of atoms that are not internal."""
    if scope.atoms.lowered:
        pool.multiply("provenance", scope.atoms.factors_at(pool.ordinals))
