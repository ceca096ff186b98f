"""The Tag-Walker protocol (Standard 065): the steps from a question to a ranked pool of candidates.

    words ─▶ neighbours, boosts ─▶ level ─▶ feedback ─▶ split ─▶ titles ─▶ texts ─▶ hops ─▶ tags

Each step adds to the scores of a pool of a few hundred candidates, and most steps have their own module.
The order matters only for the steps that use the best candidates so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.answer import Bridge, Level
from engine.query.recall.mentions import Mentions
from engine.query.recall.pool import ALIAS, Pool
from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.query.recall.signals import (
    aliases,
    anchors,
    boosts,
    candidates,
    feedback,
    mentioned,
    phrases,
    repetition,
    text_signals,
    walk,
)
from engine.query.recall.signals.bm25 import MICRO, weighted_terms
from engine.text.analyzer import index_terms

_ROUNDING: Final = 2 / MICRO
"""Scores that differ by this much also differ in millionths."""

TEXTS_READ: Final = 12
"""The number of candidates whose texts are read. They are the candidates with the highest scores."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of the protocol: the ranked pool, and how its candidates were found."""

    pool: Pool
    level: Level
    entities: tuple[str, ...]
    walked: dict[int, dict[str, float]]
    """The atoms found through shared tags. Each ordinal is mapped to tags, and each tag to the amount that it
    adds to the score."""
    bridges: tuple[Bridge, ...]
    hop_anchors: dict[int, int]
    """The atoms found through the text or the edges of an anchor, which is one of the best candidates. The
    ordinal of each atom is mapped to the ordinal of the best anchor that led to the atom."""
    words: anchors.WordScores
    """The scores of documents for the words of the question."""
    first: int | None
    """At least this many of the best candidates are final. The walk was left out, because it cannot change
    them (see `complete`). None if the whole ranking is final."""


def run(scope: RecallScope, target: int, most: int, first: int) -> Ranking:
    """Run the protocol and return a ranked pool, from which the caller chooses `target` hits.

    The pool has room for at least `most` candidates that contain words of the question. The caller usually
    looks at no more than the `first` best candidates. If it needs more, it calls `complete`.
    """
    weights = repetition.emphasised(scope, anchors.weights_of(scope, scope.question.terms))
    found = anchors.by_words(scope, weights)
    most = max(scope.config.protocol.candidates, most)
    pool, heaviest, term_scores = candidates.pool_of(scope, found, most)
    boosts.speakers(scope, pool)
    boosts.dated(scope, pool)
    boosts.provenance(scope, pool)
    mentions = Mentions(scope.question.terms, heaviest, weights, term_scores)
    level = _level_of(scope, mentions)
    boosts.co_occurrence(scope, pool, mentions)
    _feedback(scope, pool, weights)
    pool, entities = _split(scope, pool, found, target) if level is Level.SPLIT else (pool, ())
    pool = _phrases(scope, pool, found)
    pool = _aliases(scope, pool, found)
    text_signals.spoken(scope, pool)
    atoms = _read(scope, pool)
    pool, hop_anchors = _hops(scope, pool, found, atoms)
    ranking = Ranking(pool, level, entities, {}, (), hop_anchors, found, first)
    if _walk_is_vain(scope, pool, first, pool.score.max(initial=0.0)):
        return ranking
    tags = _walked_tags(scope, pool)
    if tags and _walk_is_vain(scope, pool, first, max(one.score * one.bridge.weight for one in tags)):
        return ranking
    return complete(scope, ranking, tags)


def complete(scope: RecallScope, ranking: Ranking, tags: Sequence[walk.WalkedTag] | None = None) -> Ranking:
    """Return a ranking that includes the atoms of the walk. `tags` are the walked tags if already known.

    The walk adds the atoms that contain no word of the question but share a tag with one of the best
    candidates.
    """
    tags = _walked_tags(scope, ranking.pool) if tags is None else tags
    walked = walk.walkers(scope, tags, ranking.words)
    pool = anchors.extended(scope, ranking.pool, ranking.words, list(walked))
    phrases.add_amounts(scope, pool, "walk", {one: max(gains.values()) for one, gains in walked.items()})
    return replace(ranking, pool=pool, walked=walked, bridges=tuple(one.bridge for one in tags), first=None)


def _best(scope: RecallScope, pool: Pool, most: int) -> tuple[NDArray[np.int64], list[LoadedAtom]]:
    """Return the rows of the best candidates (`most` or fewer), and these candidates with their texts."""
    best = pool.ranked(most)[:most]
    return best, scope.load(pool.ordinals[best].tolist())


def _feedback(scope: RecallScope, pool: Pool, weights: dict[str, float]) -> None:
    """Search for terms that are characteristic of the best candidates, and add the resulting scores."""
    if not scope.signals.feedback:
        return
    best, atoms = _best(scope, pool, feedback.ANSWERS)
    more = feedback.expansion(scope, atoms, pool.score[best].tolist(), weights)
    if not more:
        return
    found = scope.find(list(more))
    terms = scope.lists(weighted_terms(scope.index.counted, found, more, scope.config.bm25))
    pool.add("feedback", terms.at(pool.ordinals).scores * pool.factor)


def _level_of(scope: RecallScope, mentions: Mentions) -> Level:
    """Return the first level that enough atoms cover (Standard 065, phases 1 and 2).

    An atom covers a level if it contains enough words of the level: the sum of their weights must be at least
    the configured share of the sum for all words of the level. If a single word sufficed, enough atoms would
    cover every question. If all words were necessary, enough atoms would cover almost no question (measured
    on conversations: 7 of 1,982 questions).

    If no level is covered by enough atoms and the question has at least two entities, the result is `SPLIT`.
    If the question has fewer entities, the result is the level that the largest number of atoms cover.
    """
    question = scope.question
    counts: dict[Level, int] = {}
    terms = {Level.ALL: question.terms, Level.NOUNS: question.nouns, Level.NAMES: question.names}
    for level, words in terms.items():
        counts[level] = _covering(scope, words, mentions)
        if counts[level] >= scope.config.protocol.enough:
            return level
    if len(question.entities) > 1:
        return Level.SPLIT
    return max(counts, key=counts.__getitem__)


def _covering(scope: RecallScope, terms: Sequence[str], mentions: Mentions) -> int:
    """Return the number of candidates that cover `terms`; terms that were not scored are ignored."""
    weights = {term: scope.idf(term) for term in terms if term in mentions}
    if not weights:
        return 0
    return mentions.covering(weights, scope.config.protocol.covers * sum(weights.values()))


def _split(
    scope: RecallScope, pool: Pool, found: anchors.WordScores, target: int
) -> tuple[Pool, tuple[str, ...]]:
    """Search for each entity of the question separately, up to the configured number of entities.

    Each entity gets an equal share of the hits. Return the pool and the texts of the entities that were
    searched for.
    """
    entities = scope.question.entities[: scope.config.protocol.entities]
    share = -(-target // len(entities))
    for entity in entities:
        own = anchors.by_words(scope, dict.fromkeys(entity.terms, 1.0), tags=False)
        chosen = own.best(scope, share)
        pool = anchors.extended(scope, pool, found, chosen.tolist())
        scores = own.at(chosen).tolist()
        amounts = {
            one: scope.signals.split * score for one, score in zip(chosen.tolist(), scores, strict=True)
        }
        phrases.add_amounts(scope, pool, "split", amounts)
    return pool, tuple(entity.text for entity in entities)


def _phrases(scope: RecallScope, pool: Pool, found: anchors.WordScores) -> Pool:
    """Add the atoms whose titles occur in the question to the pool, and raise their scores."""
    if not scope.signals.phrase or not scope.positions.has_titles:
        return pool
    (titled,) = phrases.titles_in(scope, [index_terms(scope.question.core)], phrases.QUESTION_WEIGHT)
    pool = anchors.extended(scope, pool, found, [one.ordinal for one in titled])
    share, best = scope.signals.phrase, anchors.top_score(pool)
    phrases.add_amounts(scope, pool, "phrase", {one.ordinal: share * one.weight * best for one in titled})
    return pool


def _aliases(scope: RecallScope, pool: Pool, found: anchors.WordScores) -> Pool:
    """Add the atoms with an alias that occurs in the question to the pool, and raise their scores."""
    named = aliases.aliases_in(scope) if scope.signals.alias else []
    if not named:
        return pool
    pool = anchors.extended(scope, pool, found, [one.ordinal for one in named])
    # If no text has a word of the question, there is no score to take a share of.
    share, best = scope.signals.alias, anchors.top_score(pool) or 1.0
    phrases.add_amounts(scope, pool, ALIAS, {one.ordinal: share * one.weight * best for one in named})
    return pool


def _read(scope: RecallScope, pool: Pool) -> list[LoadedAtom]:
    """Apply the signals that need texts to the best candidates. Return these candidates with their texts."""
    best, atoms = _best(scope, pool, TEXTS_READ)
    text_signals.boost(scope, pool, best.tolist(), atoms)
    return atoms


def _hops(
    scope: RecallScope, pool: Pool, found: anchors.WordScores, atoms: Sequence[LoadedAtom]
) -> tuple[Pool, dict[int, int]]:
    """Add the atoms that the best candidates lead to, by a title or an edge.

    An atom is added if its title occurs in the text of one of the best candidates, if the title of such a
    candidate occurs in its text, or if an edge joins the two. Return the pool, and for each such atom the
    ordinal of the best candidate that led to it.
    """
    signals = scope.signals
    has_edges, has_titles = scope.atoms.has_edges(scope.rows), scope.positions.has_titles
    if not (has_edges or has_titles) or not atoms:
        return pool, {}
    by_ordinal = {atom.record.ordinal: atom for atom in atoms}
    ranked = pool.ranked()
    pairs = zip(ranked.tolist(), pool.ordinals[ranked].tolist(), strict=True)
    read = ((row, by_ordinal[ordinal]) for row, ordinal in pairs if ordinal in by_ordinal)
    best, first = zip(*islice(read, phrases.ANCHORS), strict=True)
    hops = phrases.led_to(scope, first, linked=has_edges) if signals.hop else []
    titled = first[: mentioned.ANCHORS] if signals.mention and has_titles else ()
    mentions = mentioned.mentioning(scope, titled, hops)
    hop_anchors: dict[int, int] = {}
    for targets in (hops, mentions):
        for anchor, others in zip(first, targets, strict=False):
            for one in others:
                hop_anchors.setdefault(one.ordinal, anchor.record.ordinal)
    scores = pool.score[list(best)].tolist()
    pool = anchors.extended(scope, pool, found, list(hop_anchors))
    phrases.add_shares(scope, pool, "hop", signals.hop, scores, hops)
    phrases.add_shares(scope, pool, "mention", signals.mention, scores, mentions)
    return pool, hop_anchors


def _walked_tags(scope: RecallScope, pool: Pool) -> list[walk.WalkedTag]:
    """Return the tags through which the walk finds atoms."""
    if not scope.signals.walk or not scope.config.protocol.walkers:
        return []
    best, atoms = _best(scope, pool, walk.ANCHORS)
    return walk.walked_tags(scope, list(zip(pool.score[best].tolist(), atoms, strict=True)))


def _walk_is_vain(scope: RecallScope, pool: Pool, first: int, score: float) -> bool:
    """Return True if the walk can change neither the best candidates (`first` of them) nor their scores.

    The walk raises only the scores of atoms that contain no word of the question. Each of these scores is
    raised by at most a share of `score`.
    """
    best = pool.ranked(first)
    if not 0 < first <= len(best):
        return False
    lowest = float(pool.score[best[-1]]) - _ROUNDING
    most = score * scope.signals.walk * scope.atoms.largest_factor
    lacking = pool.score[pool.parts["words"] <= 0]
    return most < lowest and (not len(lacking) or float(lacking.max()) + most < lowest)
