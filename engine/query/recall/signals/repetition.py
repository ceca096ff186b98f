"""The signal `repeated`: a word that the question repeats weighs more than a word that it contains once.

Long questions name their subject several times, and use most other words only once.
"""

from __future__ import annotations

from collections import Counter

from engine.query.recall.scope import RecallScope


def emphasised(scope: RecallScope, weights: dict[str, float]) -> dict[str, float]:
    """Return `weights` with higher weights for the terms that the question contains several times.

    The weight of a term that occurs n times is multiplied by 1 + s · (n − 1) / (n + 1), where s is the weight
    of the signal `repeated`. With s = 1, two occurrences count 1.33 times as much as one, and no number of
    occurrences counts twice as much (BM25 with k3 = 1; Robertson & Zaragoza 2009).
    """
    share = scope.signals.repeated
    terms = [term for word in scope.question.words for term in word.terms]
    if len(set(terms)) == len(terms):
        return weights
    counts = Counter(terms)
    return {
        term: weight * (1.0 + share * (count - 1) / (count + 1)) if (count := counts[term]) > 1 else weight
        for term, weight in weights.items()
    }
