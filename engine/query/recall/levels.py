"""How far a question has to be simplified until enough atoms cover it (Standard 065, phases 1 and 2).

With its words joined by OR there are always enough hits, joined by AND nearly never (measured: for 7
of 1,982 questions on conversations). So an atom counts as a hit of a level if it mentions so much of
the weight of that level's words as the configuration says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.query.recall.answer import Level

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.query.recall.scene import Scene


def level_of(scene: Scene, mentioned: Mapping[str, NDArray[np.bool_]]) -> tuple[Level, tuple[str, ...]]:
    """The first level that enough atoms cover, and its terms.

    If none is: `SPLIT` with the names, as far as there are two entities to split into; else the level
    that most atoms cover. `mentioned`: which of the pool's atoms mention each term; a term without an
    entry is nowhere.
    """
    question = scene.question
    counts: dict[Level, int] = {}
    terms = {Level.ALL: question.terms, Level.NOUNS: question.nouns, Level.NAMES: question.names}
    for level, words in terms.items():
        counts[level] = covering(scene, words, mentioned)
        if counts[level] >= scene.config.protocol.enough:
            return level, words
    if len(question.entities) > 1:
        return Level.SPLIT, question.names
    most = max(counts, key=counts.__getitem__)
    return most, terms[most]


def covering(scene: Scene, terms: Sequence[str], mentioned: Mapping[str, NDArray[np.bool_]]) -> int:
    """How many atoms of the pool mention enough of the weight of `terms`, those that are nowhere left out."""
    import numpy as np

    known = [term for term in terms if term in mentioned]
    if not known:
        return 0
    weights = {term: scene.idf(term) for term in known}
    covered = sum((weights[term] * mentioned[term] for term in known), np.zeros(len(mentioned[known[0]])))
    return int((covered >= scene.config.protocol.covers * sum(weights.values())).sum())
