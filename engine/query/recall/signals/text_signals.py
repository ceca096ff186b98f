"""The signals that require reading atoms: the closeness of the question's terms, times, and trust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from engine.base.limits import TRUST_MAX
from engine.language.model import Ask
from engine.query.recall.pool import Pool
from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.text.analyzer import analyze_query

_TIME_TERMS: Final = frozenset(
    analyze_query(
        "yesterday today tonight tomorrow week weeks weekend month months year years ago last next recently "
        "morning evening monday tuesday wednesday thursday friday saturday sunday "
        "january february march april may june july august september october november december"
    )
)
"""A text that has one of these terms contains a time."""


def boost(scope: RecallScope, pool: Pool, rows: Sequence[int], atoms: Sequence[LoadedAtom]) -> None:
    """Raise or lower the scores of the candidates in `rows` according to their texts and their trust.

    `atoms` holds these candidates with their texts, in the same order.
    """
    signals = scope.signals
    dated = atoms if scope.question.ask is Ask.WHEN else ()
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


def trust_of(atom: LoadedAtom) -> float:
    """Return an atom's trust on a scale from −1 (trust 0) to 1 (trust 100); 0 if no trust is recorded."""
    trust = atom.record.trust
    return 0.0 if trust is None else 2.0 * trust / TRUST_MAX - 1.0
