"""Anchors: the documents that contain words of the question (Standard 065, phase 1).

The scores of all documents are computed as one array. The best documents, and their neighbours in their
sources, become the pool of candidates.
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
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals.bm25 import MICRO, WeightedTerm, add_up, best, idf, weighted_terms
from engine.text.analyzer import analyze_query
from proofs.sets import Group, tag_identity

HEAVIEST_TERMS_MAX: Final = 16
"""The largest number of terms whose scores are computed for each candidate. The heaviest terms are used.

A question may have hundreds of terms if somebody pastes a whole page.
"""

NEIGHBOUR_STEPS: Final = 2
"""The largest distance, in atoms of the same source, at which the neighbours of a hit become candidates."""

TAGS_SEEN_MAX: Final = 64
"""For each word of the question, at most this many tags that begin with the word are checked."""

_PREFIX_MIN: Final = 3


@dataclass(frozen=True, slots=True)
class WordScores:
    """The scores of all documents for the question's words, and the terms from which they were computed."""

    scores: NDArray[np.float64]
    terms: tuple[WeightedTerm, ...]

    @property
    def heaviest(self) -> list[WeightedTerm]:
        """The terms with the highest weights, in ascending order of the code points of the terms."""
        if len(self.terms) <= HEAVIEST_TERMS_MAX:
            return list(self.terms)
        heaviest = sorted(self.terms, key=lambda one: (-one.weight, one.term))[:HEAVIEST_TERMS_MAX]
        return sorted(heaviest)


def weights_of(scope: RecallScope, terms: Sequence[str]) -> dict[str, float]:
    """Return term → weight for the given terms and their irregular forms."""
    weights = dict.fromkeys(terms, 1.0)
    if scope.signals.forms:
        for term in terms:
            for form in forms_of(term):
                weights.setdefault(form, scope.signals.forms)
    return weights


def by_words(scope: RecallScope, weights: Mapping[str, float], *, tags: bool = True) -> WordScores:
    """Score all documents by the terms in `weights`.

    With `tags`, also score them by the tags that consist only of these terms.
    """
    scores = np.zeros(scope.index.documents)
    terms = weighted_terms(scope.index, weights, scope.config.bm25, scope.signals.head)
    add_up(terms, scores)
    for tag in tags_named(scope, weights) if tags and scope.signals.tag else ():
        atoms = scope.members(Group.TAG, tag)
        listed = np.frombuffer(atoms.to_array(), np.uint32).astype(np.int64)
        scores[listed] += scope.signals.tag * idf(scope.index.counted, len(atoms))
    return WordScores(scores, tuple(terms))


def tags_named(scope: RecallScope, terms: Mapping[str, float]) -> tuple[str, ...]:
    """Return the tags whose words are all among `terms`, in ascending order.

    A tag is only looked up if it begins with a word of the question or with the stem of such a word. The
    stem is shortened by its last letter (`happ` for the word happy, whose stem is `happi`).
    """
    starts = {term[:-1] if len(term) > _PREFIX_MIN else term for term in terms}
    starts.update(tag_identity(word.text) for word in scope.question.words if word.terms)
    found: set[str] = set()
    for start in sorted(starts):
        for count, tag in enumerate(values(scope.rows, Group.TAG, start)):
            if not tag.startswith(start) or count == TAGS_SEEN_MAX:
                break
            if set(analyze_query(tag.replace("-", " ").replace("_", " ").replace("/", " "))) <= terms.keys():
                found.add(tag)
    return tuple(sorted(found))


def best_words(scope: RecallScope, scores: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the ordinals of the allowed documents with the highest `scores`, the best first.

    `most` is the number of documents. Further documents with the same score as the last one are
    included, too, but at most the same number.
    """
    ordinals, _ = best(scores * scope.share, most)
    return ordinals[: 2 * most]


class Neighbours(NamedTuple):
    """Hits, and for each hit the atom that is `steps` positions away in the same source, or NO_NEIGHBOUR."""

    hits: NDArray[np.int64]
    others: NDArray[np.int64]
    steps: int
    """The distance between a hit and its neighbour: 1 or 2."""


def pool_of(scope: RecallScope, scores: NDArray[np.float64], most: int) -> tuple[Pool, list[Neighbours]]:
    """Return a pool of candidates, and the neighbours in it.

    The candidates are the allowed documents with the best scores, and the allowed neighbours of these
    documents. `most` is the number of documents.
    """
    hits = best_words(scope, scores, most)
    near = []
    for after in (False, True) if scope.signals.near else ():
        others = hits
        for steps in range(1, NEIGHBOUR_STEPS + 1):
            others = scope.positions.beside(others, scope.mask, after=after)
            near.append(Neighbours(hits, others, steps))
    ordinals = np.unique(np.concatenate([hits, *(one.others for one in near)]))
    ordinals = ordinals[ordinals >= 0]
    return Pool(ordinals, scores[ordinals]), near


def extended(scope: RecallScope, pool: Pool, scores: NDArray[np.float64], ordinals: Sequence[int]) -> Pool:
    """Return a pool that contains the candidates of `pool` and the allowed atoms among `ordinals`."""
    new = np.unique(np.asarray(ordinals, np.int64))
    new = new[scope.mask[new]] if len(new) else new
    new = new[pool.rows_of(new) < 0]
    if not len(new):
        return pool
    larger = pool.extended(new, scores[new])
    if scope.provenance_factors is not None:
        factors = np.ones(len(larger))
        factors[larger.rows_of(new)] = scope.provenance_factors[new]
        larger.multiply("provenance", factors)
    return larger


def matrix(
    scope: RecallScope, terms: Sequence[WeightedTerm], ordinals: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return a matrix with the score of each term (row) in each document (column)."""
    weights = np.array([one.weight for one in terms])
    return weights[:, np.newaxis] * scope.index.values_at([one.impacts for one in terms], ordinals)


def top_score(pool: Pool) -> float:
    """Return the best score of a candidate in the pool, rounded to millionths, or 0 for an empty pool."""
    return int(pool.micros.max()) / MICRO if len(pool) else 0.0
