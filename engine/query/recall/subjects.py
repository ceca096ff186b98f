"""The subjects of a question, and the share of the hits that each subject gets (Standard 065, phase 2).

A question about Rob, events and life is answered badly by ten texts about events. So if the best hits leave
out a subject of the question, the best texts about the subject take the places of other hits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.answer import Hit, Subject
from engine.query.recall.pool import Pool
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals import anchors
from engine.text.language.listed import is_asked_for, listed
from engine.text.language.model import Entity

SPARE: Final = 8
"""The number of candidates of each subject that are kept in addition to its share, because some of them may
be near-duplicates of hits or hits that are too long."""


class KnownSubject(NamedTuple):
    """A subject of a question that the memory knows."""

    text: str
    terms: Mapping[str, float]
    """Each term of the subject that an atom contains, with its inverse document frequency."""
    proper: bool
    """True for a name."""
    share: int
    """The number of hits that should mention the subject, if there are so many atoms that do."""


class Subjects:
    """The subjects of a question, and the atoms that mention them."""

    def __init__(self, scope: RecallScope, words: anchors.WordScores, found: Sequence[KnownSubject]) -> None:
        """Prepare to look for at least two subjects. `words` are the scores for all terms of the question."""
        self._scope = scope
        self._words = words
        self.found = found
        self._rows = {one.term: row for row, one in enumerate(words.terms)}

    def mentions(self, ordinals: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a matrix with a row for each subject and a column for each atom: True if it is mentioned.

        An atom mentions a subject if the terms of the subject in the atom have at least half of the weight of
        all its terms, or the share in the configuration.
        """
        there = self._words.lists.at(np.asarray(ordinals, np.int64)).by_list > 0
        covers = self._scope.config.protocol.covers
        rows = []
        for subject in self.found:
            if len(subject.terms) == 1:
                rows.append(there[self._rows[next(iter(subject.terms))]])
                continue
            weight = np.zeros(there.shape[1])
            for term, idf in subject.terms.items():
                weight = weight + idf * there[self._rows[term]]
            rows.append((weight > 0) & (weight >= covers * sum(subject.terms.values())))
        return np.array(rows)

    def lacking(self, mentions: NDArray[np.bool_], target: int) -> list[KnownSubject]:
        """Return the subjects that fewer hits mention than their share; `mentions` is that of the hits.

        If no hit mentions two subjects, no atom is about all of them. Then each subject has a share from now
        on, and if one of them is a name, all have equal shares. (Measured: with equal shares for subjects
        without names, R@10 falls by half a point on two sets of abstracts.)
        """
        if (mentions.sum(axis=0) < 2).all():
            named = any(one.proper for one in self.found)
            least = target // len(self.found) if named else 1
            self.found = [one._replace(share=max(one.share, least)) for one in self.found]
        counts = mentions.sum(axis=1).tolist()
        return [subject for subject, count in zip(self.found, counts, strict=True) if count < subject.share]

    def shown(self, hits: Sequence[Hit], mentions: NDArray[np.bool_]) -> tuple[Subject, ...]:
        """Return the subjects with the hits that mention them."""
        ids = [hit.id for hit in hits]
        return tuple(
            Subject(subject.text, tuple(compress(ids, row)))
            for subject, row in zip(self.found, mentions.tolist(), strict=True)
        )

    def extended(self, pool: Pool, lacking: Sequence[KnownSubject]) -> Pool:
        """Return a pool that also contains the best atoms of each subject in `lacking`."""
        for subject in lacking:
            own = anchors.by_words(self._scope, dict.fromkeys(subject.terms, 1.0), tags=False)
            best = own.best(self._scope, subject.share + SPARE)
            pool = anchors.extended(self._scope, pool, self._words, best.tolist())
        return pool

    def candidates(self, pool: Pool) -> list[NDArray[np.int64]]:
        """Return the rows of the best candidates that mention each subject, the best first."""
        ranked = pool.ranked()
        mentioned = self.mentions(pool.ordinals[ranked])
        return [
            ranked[there][: subject.share + SPARE]
            for subject, there in zip(self.found, mentioned, strict=True)
        ]


def subjects_of(scope: RecallScope, words: anchors.WordScores, target: int) -> Subjects | None:
    """Return the subjects of the question, or None if the memory knows fewer than two of them.

    The subjects are the first three entities of the question (or the configured number of them), apart from
    the kind of answer that is asked for, and all names in a list such as "Anna, Boris and Clara". The names
    in a list share the hits equally, because the question asks the same about each. Any other name gets one
    hit, because most questions with several names ask for the atom that mentions them all; so does a noun in
    a list. Other nouns get no share at first (see `Subjects.lacking`). A question with six or more entities,
    most of them not in a list, describes one topic, so it has no subjects. With a small target, the last
    entities get no hit.

    Measured: with a third of the hits for each name outside a list, R@10 falls by 1.5 points on two sets of
    documents. If descriptions had subjects, R@10 would fall by 1.5 points on a set of abstracts.
    """
    entities = _entities(scope.question.entities)
    if len(entities) < 2 or target < 2:
        return None
    side_by_side = [entities.index(one) for one in listed(scope.question.core, entities)]
    first = scope.config.protocol.entities
    if len(entities) >= 2 * first and 2 * len(side_by_side) <= len(entities):
        return None
    known = {at: terms for at, one in enumerate(entities) if (terms := _known(scope, one.terms))}
    equals = [at for at in side_by_side if at in known and entities[at].proper]
    equals = equals if len(equals) > 1 else []
    core = scope.question.core
    others = [at for at in known if at not in equals and at < first and not is_asked_for(core, entities[at])]
    others = others[: target // 2]
    shares = {at: int(entities[at].proper or at in side_by_side) for at in others}
    left = target - sum(shares.values())
    equals = equals[:left]
    shares.update(dict.fromkeys(equals, left // max(1, len(equals))))
    found = [
        KnownSubject(entities[at].text, known[at], entities[at].proper, shares[at]) for at in sorted(shares)
    ]
    return Subjects(scope, words, found) if len(found) > 1 else None


def _entities(entities: Sequence[Entity]) -> Sequence[Entity]:
    """Return the entities. A single entity that is a row of words, as in "rob events life", is divided.

    Such a row is the whole question of somebody who types keywords, and nothing says that they are one name.
    """
    if len(entities) != 1 or len(entities[0].terms) < 2:
        return entities
    return [Entity(term, (term,), False) for term in entities[0].terms]


def _known(scope: RecallScope, terms: Sequence[str]) -> dict[str, float]:
    """Return the terms that an atom contains, each with its inverse document frequency."""
    return {term: scope.idf(term) for term in terms if scope.df(term)}
