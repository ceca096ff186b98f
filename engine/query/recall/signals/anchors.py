"""Anchors: the documents that contain words of the question (Standard 065, phase 1).

The scores of all documents are computed as one array. The best documents, and their neighbours in their
sources, become the pool of candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.kernels import NATIVE
from engine.query.arrays import distinct
from engine.query.positions import Positions
from engine.query.recall.pool import Pool
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals.bm25 import MICRO, WeightedTerm, idf, weighted_terms
from engine.query.recall.signals.scoring import Lists
from engine.query.recall.tag_terms import tag_terms
from engine.text.language.lexicon import forms_of
from proofs.sets import Group, tag_identity

HEAVIEST_TERMS_MAX: Final = 16
"""The largest number of terms whose scores are computed for each candidate. The heaviest terms are used.

A question may have hundreds of terms if somebody pastes a whole page.
"""

NEIGHBOUR_STEPS: Final = 2
"""The largest distance, in atoms of the same source, at which the neighbours of a hit become candidates."""

TAGS_SEEN_MAX: Final = 64
"""The largest number of tags that are checked for a word of the question. They begin with the word."""

_PREFIX_MIN: Final = 3


class WordScores:
    """The scores of documents for the question's words and for tags."""

    def __init__(self, lists: Lists, terms: Sequence[WeightedTerm]) -> None:
        """Store the lists: one for each of `terms`, in the same order, and then the lists of tags."""
        self.lists = lists
        self.terms = terms

    def best(self, scope: RecallScope, most: int) -> NDArray[np.int64]:
        """Return the ordinals of the `most` allowed documents with the highest scores, the best first.

        The scores are first multiplied by the factors for provenance. Up to `most` further documents with the
        same score as the last document are included.
        """
        ordinals, _ = self.lists.best(scope.atoms, most)
        return ordinals[: 2 * most]

    def at(self, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of documents."""
        return self.lists.at(ordinals).scores

    def lacking(self, ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for each document whose score is 0."""
        return self.lists.lacking(ordinals)

    def by_term(
        self, ordinals: NDArray[np.int64]
    ) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
        """Return the heaviest terms, a matrix of their scores, and the total scores of documents.

        The terms are in ascending order of their code points. The matrix has one row for each of these terms,
        and one column for each document.
        """
        gains = self.lists.at(ordinals)
        count = len(self.terms)
        if count <= HEAVIEST_TERMS_MAX:
            return tuple(one.term for one in self.terms), gains.by_list[:count], gains.scores
        heaviest = sorted(range(count), key=lambda at: (-self.terms[at].weight, self.terms[at].term))
        chosen = sorted(heaviest[:HEAVIEST_TERMS_MAX])
        return tuple(self.terms[at].term for at in chosen), gains.by_list[chosen], gains.scores


def weights_of(scope: RecallScope, terms: Sequence[str]) -> dict[str, float]:
    """Return term → weight for the given terms and their irregular forms."""
    weights = dict.fromkeys(terms, 1.0)
    if scope.signals.forms:
        for term in terms:
            for form in forms_of(term):
                weights.setdefault(form, scope.signals.forms)
    return weights


def by_words(scope: RecallScope, weights: Mapping[str, float], *, tags: bool = True) -> WordScores:
    """Prepare the scores of documents for the terms in `weights`.

    With `tags`, also prepare the scores for the tags that consist only of these terms.
    """
    head = scope.signals.head
    found = scope.find(list(weights), heads=bool(head))
    terms = weighted_terms(scope.index.counted, found, weights, scope.config.bm25)
    named = []
    for tag in tags_named(scope, weights) if tags and scope.signals.tag else ():
        atoms = scope.members(Group.TAG, tag)
        named.append((scope.signals.tag * idf(scope.index.counted, len(atoms)), atoms))
    return WordScores(scope.lists(terms, head, named), terms)


def tags_named(scope: RecallScope, terms: Mapping[str, float]) -> tuple[str, ...]:
    """Return the tags whose words are all among `terms`, in ascending order.

    A tag is only looked up if it begins with a word of the question or with the stem of such a word. The
    stem is shortened by its last letter (`happ` for the word happy, whose stem is `happi`).
    """
    starts = {term[:-1] if len(term) > _PREFIX_MIN else term for term in terms}
    starts.update(tag_identity(word.text) for word in scope.question.words if word.terms)
    found: set[str] = set()
    # The first tag that is not below the last start. There is no tag between them, so most starts need no
    # look-up if there are few tags.
    first: str | None = ""
    for start in sorted(starts):
        if first is None:
            break
        if start <= first and not first.startswith(start):
            continue
        first = None
        for count, tag in enumerate(scope.atoms.tags_from(scope.rows, start)):
            first = tag if first is None else first
            if not tag.startswith(start) or count == TAGS_SEEN_MAX:
                break
            if terms.keys() >= set(tag_terms(tag)):
                found.add(tag)
    return tuple(sorted(found))


class Neighbours(NamedTuple):
    """Hits, and for each hit the atom that is `steps` positions away in the same source, or NO_NEIGHBOUR."""

    hits: NDArray[np.int64]
    others: NDArray[np.int64]
    steps: int
    """The distance between a hit and its neighbour: 1 or 2."""


def neighbourhood(scope: RecallScope, hits: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Neighbours]]:
    """Return the ordinals of hits and of their allowed neighbours, and the neighbours of each hit.

    The ordinals of the hits and of the neighbours are in one array, ascending.
    """
    if not scope.signals.near:
        return np.sort(hits), []
    if NATIVE is not None:
        orders, live = scope.positions.kernel_orders, scope.atoms.bits
        found = NATIVE.near_documents(orders, live, hits.tobytes(), NEIGHBOUR_STEPS)
        if found is not None:
            every = [np.frombuffer(raw, np.int64) for raw in found[1]]
            distances = [*range(1, NEIGHBOUR_STEPS + 1)] * 2
            near = [Neighbours(hits, others, steps) for others, steps in zip(every, distances, strict=True)]
            return np.frombuffer(found[0], np.int64), near
    return documents_near(scope.positions, scope.mask, hits)


def documents_near(
    positions: Positions, live: NDArray[np.bool_], hits: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[Neighbours]]:
    """Do the work of `neighbourhood` in Python. `live` holds True for each allowed document."""
    near = []
    for after in (False, True):
        others = hits
        for steps in range(1, NEIGHBOUR_STEPS + 1):
            others = positions.beside(others, live, after=after)
            near.append(Neighbours(hits, others, steps))
    ordinals = distinct(np.concatenate([hits, *(one.others for one in near)]))
    return ordinals[ordinals >= 0], near


def extended(scope: RecallScope, pool: Pool, found: WordScores, ordinals: Sequence[int]) -> Pool:
    """Return a pool that contains the candidates of `pool` and the allowed atoms among `ordinals`."""
    if not len(ordinals):
        return pool
    new = distinct(np.asarray(ordinals, np.int64))
    new = new[scope.mask[new]]
    new = new[pool.rows_of(new) < 0]
    if not len(new):
        return pool
    larger = pool.extended(new, found.at(new))
    if scope.atoms.lowered:
        factors = np.ones(len(larger))
        factors[larger.rows_of(new)] = scope.atoms.factors_at(new)
        larger.multiply("provenance", factors)
    return larger


def top_score(pool: Pool) -> float:
    """Return the best score of a candidate in the pool, rounded to millionths, or 0 for an empty pool."""
    return int(pool.micros.max()) / MICRO if len(pool) else 0.0
