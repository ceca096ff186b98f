"""The signals that require reading atoms: the closeness of the question's terms, times, and trust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from engine.base.limits import TRUST_MAX
from engine.query.recall.pool import Pool
from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.text.analyzer import analyze_query
from engine.text.labels import label_of
from engine.text.language.model import Ask
from engine.text.language.speaking import is_by, labels_wanted

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


def spoken(scope: RecallScope, pool: Pool) -> None:
    """If the question asks what somebody said, raise the scores of the atoms that this speaker said."""
    if not scope.signals.speaker or not len(pool):
        return
    wanted = labels_wanted(scope.question)
    if not wanted or not any(scope.df(term) for label in wanted for term in label):
        return
    rows = pool.ranked(SPOKEN_READ)[:SPOKEN_READ]
    atoms = scope.load(pool.ordinals[rows].tolist())
    factors = np.ones(len(pool))
    factors[rows[[is_by(label_of(atom.body.content), wanted) for atom in atoms]]] += scope.signals.speaker
    pool.multiply("speaker", factors)


def trust_of(atom: LoadedAtom) -> float:
    """Return an atom's trust on a scale from −1 (trust 0) to 1 (trust 100); 0 if no trust is recorded."""
    trust = atom.record.trust
    return 0.0 if trust is None else 2.0 * trust / TRUST_MAX - 1.0
