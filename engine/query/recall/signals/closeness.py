"""Signals that need an atom's text: how close the question's terms stand, times, trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from engine.base.limits import TRUST_MAX
from engine.language.model import Ask
from engine.query.recall.pool import Pool
from engine.query.recall.scene import Scene, Text
from engine.text.analyzer import analyze_query

WINDOW: Final = 10
"""Terms that stand within so many terms count as close."""

_TIME_TERMS: Final = frozenset(
    analyze_query(
        "yesterday today tonight tomorrow week weeks weekend month months year years ago last next recently "
        "morning evening monday tuesday wednesday thursday friday saturday sunday "
        "january february march april may june july august september october november december"
    )
)
"""Words that say when."""


def read(scene: Scene, pool: Pool, places: Sequence[int], texts: Sequence[Text]) -> None:
    """Raise those atoms of the pool whose texts were read for what is in them."""
    signals = scene.signals
    weights = {term: scene.idf(term) for term in scene.question.terms} if signals.proximity else {}
    dated = texts if scene.question.ask is Ask.WHEN else ()
    shares = {
        "proximity": [signals.proximity * closeness(text.terms, weights) for text in texts],
        "time": [signals.time * (not _TIME_TERMS.isdisjoint(text.terms)) for text in dated],
        "trust": [signals.trust * trust_of(text) for text in texts],
    }
    for signal, found in shares.items():
        if any(found):
            factors = np.ones(len(pool))
            factors[list(places)] += found
            pool.multiply(signal, factors)


def closeness(terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """The share of the weight of `weights` that the heaviest stretch of WINDOW terms has; 0 to 1.

    A term counts once; one that stands alone is not close to anything.
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


def trust_of(text: Text) -> float:
    """−1 for no trust at all, 1 for full trust, 0 where nothing is said or half is."""
    trust = text.record.trust
    return 0.0 if trust is None else 2.0 * trust / TRUST_MAX - 1.0
