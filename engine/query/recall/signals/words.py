"""Signals of an atom's own words and fields: which words of the question it has, and what it is.

A word that the question repeats weighs more, and so does a word that texts repeat. Irregular forms of a word
and initials weigh less. Tags that consist of words of the question count as words. Pseudo-relevance feedback
(RM3, Abdul-Jaleel et al. 2004) adds terms of the best candidates. All these become weights of terms and lists
of documents (`scoring`).

The other signals multiply scores by factors: labels, times, provenance, closeness of words and trust.
Some factors are computed from the index and the tag sets, the others from the texts of the best candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from engine.base.characters import lazy
from engine.base.limits import TRUST_MAX
from engine.base.native import NATIVE
from engine.followers.tags import day_of, union, values
from engine.index.index_view import TermRows, frequencies
from engine.query.recall.recall_run import LoadedAtom, Pool, RecallRun
from engine.query.recall.signals.scoring import Lists, WeightedTerm, idf, weighted_terms
from engine.text.analyzer import KERNEL_TERMS, STOP_WORDS, analyze_query, index_terms
from engine.text.language.parts_of_speech import forms_of
from engine.text.language.snippets import one_by_one
from proofs.leaves import Group, tag_identity

TAGS_SEEN_MAX: Final = 64
"""The largest number of tags that are checked for a word of the question. They begin with the word."""

_PREFIX_MIN: Final = 3

TAGS_KEPT: Final = 8_192
"""The number of cached tags: those whose terms were requested last. They take about 2 MB."""

_AS_SPACES: Final = str.maketrans("-_/", "   ")

INITIAL: Final = 0.3
"""The weight of an initial, relative to another word. Many people have it in common.

Measured on CACM, some of whose questions quote a bibliography: nDCG@10 rises by .006.
"""

_INITIALS: Final = lazy(r"\b([A-Z])\.(?=[,;)]|\s*[A-Z])")

FEEDBACK_ANSWERS: Final = 5
"""The number of candidates whose terms are used. They are the candidates with the highest scores."""

FEEDBACK_LOOK_UPS_MAX: Final = 10
"""The largest number of terms of these candidates that are looked up in the index.

Measured: with 30 of them and 12 FEEDBACK_TERMS, nDCG@10 falls by .008 on CACM and by .009 on NPL.
"""

FEEDBACK_TERMS: Final = 6
"""The number of terms that are added to the query."""

FEEDBACK_CHARS: Final = 700
"""A candidate of at most this many characters counts in full. Of a longer one of n characters, the share
(700 / n)² counts, because a long text has terms of many subjects.

Measured on chats with assistants, whose answers are long: nDCG@10 rises by .012, R@10 by .005 and MRR by
.021. On seven other sets, no measure falls by two standard errors.
"""

FEEDBACK_SHARE_MAX: Final = 0.1
"""A term that is in more than this share of all documents is not added to the query."""

DAYS_MAX: Final = 400
"""If atoms were created on more than this many days of a time span, the time span is ignored.

Each day is looked up separately.
"""

FIRST_PERSON: Final = ("i", "my")
"""The words by which a person speaks of itself, in ascending order."""

_SECOND_PERSON: Final = ("you", "your")

_TIME_TERMS: Final = frozenset(
    analyze_query(
        "yesterday today tonight tomorrow week weeks weekend month months year years ago last next recently "
        "morning evening monday tuesday wednesday thursday friday saturday sunday "
        "january february march april may june july august september october november december"
    )
)
"""A text that has one of these terms contains a time."""


def weights_of(run: RecallRun, terms: Sequence[str]) -> dict[str, float]:
    """Return term → weight for the given terms and their irregular forms."""
    weights = dict.fromkeys(terms, 1.0)
    if run.signals.forms:
        for term in terms:
            for form in forms_of(term):
                weights.setdefault(form, run.signals.forms)
    return weights


def by_words(run: RecallRun, weights: Mapping[str, float], *, tags: bool = True) -> Lists:
    """Prepare the scores of documents for the terms in `weights`.

    With `tags`, also prepare the scores for the tags that consist only of these terms.
    """
    head = run.signals.head
    hits = run.find(list(weights), heads=bool(head))
    terms = weighted_terms(run.index.counted, hits, weights, run.config.bm25)
    named = []
    for tag in tags_named(run, weights) if tags and run.signals.tag else ():
        atoms = run.members(Group.TAG, tag)
        named.append((run.signals.tag * idf(run.index.counted, len(atoms)), atoms))
    return run.lists(terms, head, named)


def tags_named(run: RecallRun, terms: Mapping[str, float]) -> tuple[str, ...]:
    """Return the tags whose words are all among `terms` or in the question, in ascending order.

    A tag is only looked up if it begins with a word of the question or with the stem of such a word. The
    stem is shortened by its last letter (`happ` for the word happy, whose stem is `happi`).
    """
    starts = {term[:-1] if len(term) > _PREFIX_MIN else term for term in terms}
    starts.update(tag_identity(word.text) for word in run.question.words if word.terms)
    # A tag may be a code that no text contains, whose numbers are not searched for.
    known = {*terms, *(term for word in run.question.words for term in word.terms)}
    tags: set[str] = set()
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
            if known.issuperset(tag_terms(tag)):
                tags.add(tag)
    return tuple(sorted(tags))


@lru_cache(TAGS_KEPT)
def tag_terms(tag: str) -> tuple[str, ...]:
    """Return the distinct terms of a tag. Hyphens, underscores and slashes separate its words.

    The result depends on the tag alone, so it holds for every memory and every state.
    """
    return tuple(analyze_query(tag.translate(_AS_SPACES)))


def emphasised(run: RecallRun, weights: dict[str, float]) -> dict[str, float]:
    """Return `weights` changed by how often the question and the texts repeat each term.

    The weight of a term that occurs n times in the question is multiplied by 1 + s · (n − 1) / (n + 1), where
    s is the weight of the signal `repeated`. With s = 1, two occurrences count 1.33 times as much as one, and
    no number of occurrences counts twice as much (BM25 with k3 = 1; Robertson & Zaragoza 2009). The weight of
    an initial, as in "C. Davis", is multiplied by INITIAL.

    Then each weight is multiplied by 1 + s · r, where s is the weight of the signal `burst`, and r is the
    share of the occurrences of the term that are not the first one in a document. A text repeats the words of
    its subject (Church & Gale 1995); words of a request, such as "interested" or "available", stand in it
    once. Afterwards all weights are divided by the same number, so that the sum of all weight · idf is as
    before, and other signals keep their relation to the words.
    """
    initials = {letter.lower() for letter in _INITIALS.findall(run.question.core)}
    counts = Counter(term for word in run.question.words for term in word.terms)
    found = run.find(list(weights), heads=bool(run.signals.head))
    before, after, emphasis = 0.0, 0.0, dict[str, float]()
    for term, weight in weights.items():
        count = max(1, counts[term])
        weight *= 1.0 + run.signals.repeated * (count - 1) / (count + 1)
        weight *= INITIAL if term in initials else 1.0
        emphasis[term] = weight * (1.0 + run.signals.burst * _repeated_share(found[term]))
        before += weight * run.idf(term)
        after += emphasis[term] * run.idf(term)
    return {term: weight * (before / after) for term, weight in emphasis.items()}


def _repeated_share(rows: TermRows) -> float:
    """Return the share of the occurrences of a term that are not the first one in a document."""
    occurrences = int(np.frombuffer(b"".join(map(frequencies, rows.rows)), "u1").sum())
    return (occurrences - rows.df) / max(1, occurrences)


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
    if not total:
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
    lengths = [max(FEEDBACK_CHARS, len(answer.body.content)) for answer in answers]
    counted = zip(shares, lengths, strict=True)
    largest = run.signals.feedback * one_by_one(share * (FEEDBACK_CHARS / n) ** 2 for share, n in counted)
    return {term: largest * weighted[term] / weighted[best[0]] for term in best}


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


def boost_labels(run: RecallRun, pool: Pool) -> None:
    """Boost atoms that have no title and begin with a speaker's label (`Maria:`).

    An atom is only boosted if its label contains a word of the question.
    """
    if not run.signals.label or not len(pool):
        return
    heads = [
        WeightedTerm(term, 1.0, TermRows(rows.df, rows.heads, ()))
        for term, rows in run.find(run.question.terms, heads=True).items()
        if rows.heads.count(None) < len(rows.heads)
    ]
    if not heads:
        return
    labelled = ~run.lists(heads).lacking(pool.ordinals)
    labelled &= run.positions.titles[pool.ordinals] == 0
    pool.multiply("label", 1.0 + run.signals.label * labelled)


def boost_dates(run: RecallRun, pool: Pool) -> None:
    """Boost atoms that were created at a time named in the question."""
    days = [
        day
        for span in run.question.times
        if span.start is not None and span.end is not None
        for day in _days(run, span.start, span.end)
    ]
    if run.signals.time and days and len(pool):
        created = union(run.rows, ((Group.DAY, day) for day in sorted(set(days))))
        there = np.fromiter(map(created.__contains__, pool.ordinals.tolist()), np.bool_, len(pool))
        pool.multiply("time", 1.0 + run.signals.time * there)


def boost_first_person(run: RecallRun, pool: Pool) -> None:
    """Boost atoms that say "I" or "my" if the question does, and is not about what somebody told the asker.

    The factor is 1 + s · (the mean over `FIRST_PERSON` of tf / (norm + tf)), with the weight s of the signal
    `person`. So a remark of a person about itself gains more than a long text that says "I" once.
    """
    share, asked = run.signals.person, set(index_terms(run.question.text))
    if not share or asked.isdisjoint(FIRST_PERSON) or not asked.isdisjoint(_SECOND_PERSON) or not len(pool):
        return
    said = [WeightedTerm(term, 1.0, rows) for term, rows in run.find(FIRST_PERSON).items() if rows.df]
    pool.multiply("person", 1.0 + share * run.lists(said).at(pool.ordinals).scores / len(FIRST_PERSON))


def _days(run: RecallRun, start: int, end: int) -> list[str]:
    """Return the days between `start` and `end` on which atoms were created.

    Return [] if there are more than DAYS_MAX such days.
    """
    first, last = day_of(start), day_of(end - 1)
    days: list[str] = []
    for day in values(run.rows, Group.DAY, first, last + "\x01"):
        if len(days) == DAYS_MAX:
            return []
        days.append(day)
    return days


def apply_provenance(run: RecallRun, pool: Pool) -> None:
    """Lower the scores of atoms that are not internal."""
    if run.atoms.lowered:
        pool.multiply("provenance", run.atoms.factors_at(pool.ordinals))


def boost_texts(run: RecallRun, pool: Pool, rows: Sequence[int], atoms: Sequence[LoadedAtom]) -> None:
    """Raise or lower the scores of the candidates in `rows` according to their texts and their trust.

    `atoms` holds these candidates with their texts, in the same order.
    """
    signals = run.signals
    dated = atoms if run.question.asks_when else ()
    trusted = any(atom.record.trust is not None for atom in atoms)
    shares = {
        "proximity": [signals.proximity * atom.reading.proximity for atom in atoms if signals.proximity],
        "time": [signals.time * (not _TIME_TERMS.isdisjoint(atom.terms)) for atom in dated],
        "trust": [signals.trust * trust_of(atom) for atom in atoms] if trusted else [],
    }
    for signal, share in shares.items():
        if any(share):
            factors = np.ones(len(pool))
            factors[list(rows)] += share
            pool.multiply(signal, factors)


def trust_of(atom: LoadedAtom) -> float:
    """Return an atom's trust on a scale from −1 (trust 0) to 1 (trust 100); 0 if no trust is recorded."""
    trust = atom.record.trust
    return 0.0 if trust is None else 2.0 * trust / TRUST_MAX - 1.0
