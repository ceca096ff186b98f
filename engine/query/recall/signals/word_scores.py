"""The words of a question: their weights, and the documents that they score.

A word that the question repeats weighs more, and its irregular forms weigh less. Tags that consist of words
of the question count as words. Pseudo-relevance feedback (RM3, Abdul-Jaleel et al. 2004) adds terms of the
best candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels import NATIVE
from engine.query.recall.recall_run import LoadedAtom, RecallRun
from engine.query.recall.signals.scoring import Lists, WeightedTerm, idf, weighted_terms
from engine.text.analyzer import KERNEL_TERMS, STOP_WORDS, analyze_query
from engine.text.language.lexicon import forms_of
from proofs.leaves import Group, tag_identity

HEAVIEST_TERMS_MAX: Final = 16
"""The largest number of terms whose scores are computed for each candidate. The heaviest terms are used.

A question may have hundreds of terms if somebody pastes a whole page.
"""

TAGS_SEEN_MAX: Final = 64
"""The largest number of tags that are checked for a word of the question. They begin with the word."""

_PREFIX_MIN: Final = 3

TAGS_KEPT: Final = 8_192
"""The number of cached tags: those whose terms were requested last. They take about 2 MB."""

_AS_SPACES: Final = str.maketrans("-_/", "   ")

FEEDBACK_ANSWERS: Final = 5
"""The number of candidates whose terms are used. They are the candidates with the highest scores."""

FEEDBACK_LOOK_UPS_MAX: Final = 10
"""The largest number of terms of these candidates that are looked up in the index.

Measured: with 30 of them and 12 FEEDBACK_TERMS, nDCG@10 falls by .008 on CACM and by .009 on NPL.
"""

FEEDBACK_TERMS: Final = 6
"""The number of terms that are added to the query."""

FEEDBACK_SHARE_MAX: Final = 0.1
"""A term that is in more than this share of all documents is not added to the query."""


class WordScores:
    """The scores of documents for the question's words and for tags."""

    def __init__(self, lists: Lists, terms: Sequence[WeightedTerm]) -> None:
        """Store the lists: one for each of `terms`, in the same order, and then the lists of tags."""
        self.lists = lists
        self.terms = terms

    def best(self, run: RecallRun, most: int) -> NDArray[np.int64]:
        """Return the ordinals of the `most` allowed documents with the highest scores, the best first.

        The scores are first multiplied by the factors for provenance. Up to `most` further documents with the
        same score as the last document are included.
        """
        ordinals, _ = self.lists.best(run.atoms, most)
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


def weights_of(run: RecallRun, terms: Sequence[str]) -> dict[str, float]:
    """Return term → weight for the given terms and their irregular forms."""
    weights = dict.fromkeys(terms, 1.0)
    if run.signals.forms:
        for term in terms:
            for form in forms_of(term):
                weights.setdefault(form, run.signals.forms)
    return weights


def by_words(run: RecallRun, weights: Mapping[str, float], *, tags: bool = True) -> WordScores:
    """Prepare the scores of documents for the terms in `weights`.

    With `tags`, also prepare the scores for the tags that consist only of these terms.
    """
    head = run.signals.head
    found = run.find(list(weights), heads=bool(head))
    terms = weighted_terms(run.index.counted, found, weights, run.config.bm25)
    named = []
    for tag in tags_named(run, weights) if tags and run.signals.tag else ():
        atoms = run.members(Group.TAG, tag)
        named.append((run.signals.tag * idf(run.index.counted, len(atoms)), atoms))
    return WordScores(run.lists(terms, head, named), terms)


def tags_named(run: RecallRun, terms: Mapping[str, float]) -> tuple[str, ...]:
    """Return the tags whose words are all among `terms`, in ascending order.

    A tag is only looked up if it begins with a word of the question or with the stem of such a word. The
    stem is shortened by its last letter (`happ` for the word happy, whose stem is `happi`).
    """
    starts = {term[:-1] if len(term) > _PREFIX_MIN else term for term in terms}
    starts.update(tag_identity(word.text) for word in run.question.words if word.terms)
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
        for count, tag in enumerate(run.atoms.tags_from(run.rows, start)):
            first = tag if first is None else first
            if not tag.startswith(start) or count == TAGS_SEEN_MAX:
                break
            if terms.keys() >= set(tag_terms(tag)):
                found.add(tag)
    return tuple(sorted(found))


@lru_cache(TAGS_KEPT)
def tag_terms(tag: str) -> tuple[str, ...]:
    """Return the distinct terms of a tag. Hyphens, underscores and slashes separate its words.

    The result depends on the tag alone, so it holds for every memory and every state.
    """
    return tuple(analyze_query(tag.translate(_AS_SPACES)))


def emphasised(run: RecallRun, weights: dict[str, float]) -> dict[str, float]:
    """Return `weights` with higher weights for the terms that the question contains several times.

    The weight of a term that occurs n times is multiplied by 1 + s · (n − 1) / (n + 1), where s is the weight
    of the signal `repeated`. With s = 1, two occurrences count 1.33 times as much as one, and no number of
    occurrences counts twice as much (BM25 with k3 = 1; Robertson & Zaragoza 2009).
    """
    share = run.signals.repeated
    terms = [term for word in run.question.words for term in word.terms]
    if len(set(terms)) == len(terms):
        return weights
    counts = Counter(terms)
    return {
        term: weight * (1.0 + share * (count - 1) / (count + 1)) if (count := counts[term]) > 1 else weight
        for term, weight in weights.items()
    }


def expansion(
    run: RecallRun,
    answers: Sequence[LoadedAtom],
    scores: Sequence[float],
    known: Mapping[str, float],
) -> dict[str, float]:
    """Return the terms that are added to the query, with their weights.

    A weight is at most the weight of the signal `feedback`. `answers` are in descending order of their
    `scores`. `known` holds the terms of the query.
    """
    total = sum(scores)
    if not run.signals.feedback or not total:
        return {}
    shares, relevant = [score / total for score in scores], None
    if NATIVE is not None:
        texts = [answer.reading.text for answer in answers]
        relevant = NATIVE.most_relevant(KERNEL_TERMS, texts, shares, list(known), FEEDBACK_LOOK_UPS_MAX)
    if relevant is None:
        relevant = most_relevant([answer.terms for answer in answers], shares, known, FEEDBACK_LOOK_UPS_MAX)
    documents = run.index.counted
    weighted = {}
    dfs = run.index.dfs([term for term, _ in relevant])
    for (term, relevance), df in zip(relevant, dfs, strict=True):
        if 2 <= df <= FEEDBACK_SHARE_MAX * documents:
            weighted[term] = relevance * idf(documents, df)
    best = sorted(weighted, key=lambda term: (-weighted[term], term))[:FEEDBACK_TERMS]
    return {term: run.signals.feedback * weighted[term] / weighted[best[0]] for term in best}


def most_relevant(
    texts: Sequence[Sequence[str]], shares: Sequence[float], known: Collection[str], most: int
) -> list[tuple[str, float]]:
    """Return the `most` most relevant terms of the texts, the best first, each with its relevance.

    Terms with equal relevance are in ascending order. Stop words and `known` terms are left out. `shares` has
    the score of each text, divided by the sum of all scores.
    """
    relevance: dict[str, float] = {}
    get = relevance.get
    for terms, share in zip(texts, shares, strict=True):
        once = share * (1 / 2)
        for term, tf in Counter(terms).items():
            relevance[term] = get(term, 0.0) + (once if tf == 1 else share * (tf / (tf + 1)))
    for term in (*STOP_WORDS.intersection(relevance), *known):
        relevance.pop(term, None)
    # Only terms that are as relevant as the last returned term are compared as strings; these are few.
    least = sorted(relevance.values())[-most:][:1]
    frequent = [term for term, one in relevance.items() if [one] >= least]
    frequent = sorted(frequent, key=lambda term: (-relevance[term], term))[:most]
    return [(term, relevance[term]) for term in frequent]
