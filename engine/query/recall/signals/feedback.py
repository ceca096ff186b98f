"""Pseudo-relevance feedback: the first answers' own words find more (RM3, Abdul-Jaleel et al. 2004)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from engine.query.recall.scene import Scene, Text
from engine.query.recall.signals.bm25 import idf
from engine.text.words import STOP_WORDS

ANSWERS: Final = 5
"""So many first answers are read."""

LOOKED_UP_MAX: Final = 10
"""So many of their words are looked up in the index. Measured: all of them gained nothing."""

TERMS: Final = 6
"""So many of them are searched for."""

COMMON: Final = 0.1
"""What a larger share of all documents mentions is left out."""


def expansion(
    scene: Scene, answers: Sequence[Text], scores: Sequence[float], known: Mapping[str, float]
) -> dict[str, float]:
    """Further terms with their weights, at most the signal's own; `scores` of `answers`, best first."""
    total = sum(scores)
    if not scene.signals.feedback or not total:
        return {}
    said: dict[str, float] = {}
    for text, score in zip(answers, scores, strict=True):
        for term, tf in Counter(text.terms).items():
            if term not in known and term not in STOP_WORDS:
                said[term] = said.get(term, 0.0) + score / total * (tf / (tf + 1))
    frequent = sorted(said, key=lambda term: (-said[term], term))[:LOOKED_UP_MAX]
    documents = scene.view.counted
    telling = {}
    for term in frequent:
        df = scene.df(term)
        if 2 <= df <= COMMON * documents:
            telling[term] = said[term] * idf(documents, df)
    best = sorted(telling, key=lambda term: (-telling[term], term))[:TERMS]
    return {term: scene.signals.feedback * telling[term] / telling[best[0]] for term in best}
