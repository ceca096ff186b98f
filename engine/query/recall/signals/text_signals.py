"""Signals for which atoms are read: whether the question's terms are close together, times, and trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from engine.base.limits import TRUST_MAX
from engine.language.model import Ask
from engine.query.recall.pool import Pool
from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.text.analyzer import analyze_query

WINDOW: Final = 10
"""Two terms of a text count as close together if their positions differ by at most this many terms."""

_TIME_TERMS: Final = frozenset(
    analyze_query(
        "yesterday today tonight tomorrow week weeks weekend month months year years ago last next recently "
        "morning evening monday tuesday wednesday thursday friday saturday sunday "
        "january february march april may june july august september october november december"
    )
)
"""A text that has one of these terms contains a time."""


def boost(scope: RecallScope, pool: Pool, rows: Sequence[int], atoms: Sequence[LoadedAtom]) -> None:
    """Raise or lower the scores of the candidates in `rows` by their texts and their trust.

    `atoms` holds these candidates with their texts, in the same order.
    """
    signals = scope.signals
    weights = {term: scope.idf(term) for term in scope.question.terms} if signals.proximity else {}
    dated = atoms if scope.question.ask is Ask.WHEN else ()
    shares = {
        "proximity": [signals.proximity * proximity(atom.terms, weights) for atom in atoms],
        "time": [signals.time * (not _TIME_TERMS.isdisjoint(atom.terms)) for atom in dated],
        "trust": [signals.trust * trust_of(atom) for atom in atoms],
    }
    for signal, found in shares.items():
        if any(found):
            factors = np.ones(len(pool))
            factors[list(rows)] += found
            pool.multiply(signal, factors)


def proximity(terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return how close together the question's terms are in a text, from 0 to 1.

    Terms of the question that are within WINDOW terms of each other form a group. The weight of
    a group is the sum of the weights of its different terms. The result is the weight of the heaviest group,
    divided by the sum of all `weights`. The result is 0 if no group has two different terms.
    """
    marked = [(at, term) for at, term in enumerate(terms) if term in weights]
    total = sum(weights.values())
    best = 0.0
    for number, (start, _) in enumerate(marked):
        within: dict[str, None] = {}
        for at, term in marked[number:]:
            if at - start > WINDOW:
                break
            within[term] = None
        if len(within) > 1:
            best = max(best, sum(weights[term] for term in within))
    return best / total if total else 0.0


def trust_of(atom: LoadedAtom) -> float:
    """Return an atom's trust on a scale from −1 (trust 0) to 1 (trust 100); 0 if no trust is recorded."""
    trust = atom.record.trust
    return 0.0 if trust is None else 2.0 * trust / TRUST_MAX - 1.0
