"""Anchors: what the question's words find, over all documents (Standard 065, phase 1).

The score of every document is one array; the best are looked at closely, in a pool, together with
the atoms beside them in their sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.followers.tags import values
from engine.language.lexicon import forms_of
from engine.query.recall.pool import Pool
from engine.query.recall.scene import Scene
from engine.query.recall.signals.bm25 import MICRO, Weighed, add_up, best, idf, weigh
from engine.text.analyzer import analyze_query
from proofs.sets import Group, tag_identity

CLOSE_TERMS_MAX: Final = 16
"""So many of the heaviest terms are followed from atom to atom; a pasted page has hundreds."""

BESIDE: Final = 2
"""How far from a hit the atoms of its source are looked at."""

TAGS_SEEN_MAX: Final = 64
"""So many tags that begin like a word of the question are compared with it."""

_PREFIX_MIN: Final = 3


@dataclass(frozen=True, slots=True)
class Found:
    """The scores of all documents by the question's words, and the terms they are made of."""

    scores: NDArray[np.float64]
    weighed: tuple[Weighed, ...]

    @property
    def close(self) -> list[Weighed]:
        """The heaviest terms, ascending."""
        if len(self.weighed) <= CLOSE_TERMS_MAX:
            return list(self.weighed)
        heaviest = sorted(self.weighed, key=lambda one: (-one.weight, one.term))[:CLOSE_TERMS_MAX]
        return sorted(heaviest)


def weights_of(scene: Scene, terms: Sequence[str]) -> dict[str, float]:
    """The weight of each term, and of its irregular forms."""
    weights = dict.fromkeys(terms, 1.0)
    if scene.signals.forms:
        for term in terms:
            for form in forms_of(term):
                weights.setdefault(form, scene.signals.forms)
    return weights


def by_words(scene: Scene, weights: Mapping[str, float], *, tags: bool = True) -> Found:
    """Score all documents by terms and, if wanted, by the tags that are such words."""
    scores = np.zeros(scene.view.documents)
    weighed = weigh(scene.view, weights, scene.config.bm25, scene.signals.head)
    add_up(weighed, scores)
    for tag in named_tags(scene, weights) if tags and scene.signals.tag else ():
        having = scene.members(Group.TAG, tag)
        listed = np.frombuffer(having.to_array(), np.uint32).astype(np.int64)
        scores[listed] += scene.signals.tag * idf(scene.view.counted, len(having))
    return Found(scores, tuple(weighed))


def named_tags(scene: Scene, terms: Mapping[str, float]) -> tuple[str, ...]:
    """The tags all of whose words are among `terms`, ascending.

    Looked for by how they begin: as a word of the question, or as a stem but for its last letter
    (`happi`, happy).
    """
    starts = {term[:-1] if len(term) > _PREFIX_MIN else term for term in terms}
    starts.update(tag_identity(word.text) for word in scene.question.words if word.terms)
    found: set[str] = set()
    for start in sorted(starts):
        for count, tag in enumerate(values(scene.rows, Group.TAG, start)):
            if not tag.startswith(start) or count == TAGS_SEEN_MAX:
                break
            if set(analyze_query(tag.replace("-", " ").replace("_", " ").replace("/", " "))) <= terms.keys():
                found.add(tag)
    return tuple(sorted(found))


def best_words(scene: Scene, scores: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The best `most` by `scores` that are allowed, the best first, and as many that tie with the last."""
    ordinals, _ = best(scores * scene.share, most)
    return ordinals[: 2 * most]


class Beside(NamedTuple):
    """Hits, and for each the atom so many steps from it in its source, or NOBODY."""

    hits: NDArray[np.int64]
    others: NDArray[np.int64]
    steps: int
    """1 or 2."""


def pool_of(scene: Scene, scores: NDArray[np.float64], most: int) -> tuple[Pool, list[Beside]]:
    """The best `most` by `scores`, and the atoms beside them, all of them allowed."""
    hits = best_words(scene, scores, most)
    near = []
    for after in (False, True) if scene.signals.near else ():
        others = hits
        for steps in range(1, BESIDE + 1):
            others = scene.places.beside(others, scene.mask, after=after)
            near.append(Beside(hits, others, steps))
    ordinals = np.unique(np.concatenate([hits, *(one.others for one in near)]))
    ordinals = ordinals[ordinals >= 0]
    return Pool(ordinals, scores[ordinals]), near


def joined(scene: Scene, pool: Pool, scores: NDArray[np.float64], ordinals: Sequence[int]) -> Pool:
    """The pool with some more atoms, as far as they are allowed."""
    new = np.unique(np.asarray(ordinals, np.int64))
    new = new[scene.mask[new]] if len(new) else new
    new = new[pool.at(new) < 0]
    if not len(new):
        return pool
    larger = pool.joined(new, scores[new])
    if scene.outside is not None:
        factors = np.ones(len(larger))
        factors[larger.at(new)] = scene.outside[new]
        larger.multiply("provenance", factors)
    return larger


def matrix(scene: Scene, weighed: Sequence[Weighed], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each term (row) is worth in each document (column)."""
    weights = np.array([one.weight for one in weighed])
    return weights[:, np.newaxis] * scene.view.values_at([one.impacts for one in weighed], ordinals)


def top_score(pool: Pool) -> float:
    """The best score of the pool, rounded as scores are; 0 in an empty one."""
    return int(pool.micros.max()) / MICRO if len(pool) else 0.0
