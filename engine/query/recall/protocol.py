"""The Tag-Walker protocol (Standard 065), from a question to a ranked pool.

    words ─▶ feedback ─▶ lending, boosts ─▶ level, split ─▶ titles asked for ─▶ texts ─▶ hops ─▶ tags

Each step adds to the scores of a pool of some hundred atoms, and each has a module of its own; the
order matters only where one starts from the best of the steps before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.language.lexicon import forms_of
from engine.query.recall.answer import Bridge, Level
from engine.query.recall.pool import Pool
from engine.query.recall.scene import Scene, Text
from engine.query.recall.signals import anchors, boosts, closeness, feedback, phrases, surroundings, walk
from engine.query.recall.signals.bm25 import weigh
from engine.text.analyzer import index_terms

READ: Final = 12
"""The texts of so many of the best are read."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the protocol found, and how."""

    pool: Pool
    level: Level
    entities: tuple[str, ...]
    walked: dict[int, dict[str, float]]
    """Atoms that tags led to: ordinal → tag → what it lent."""
    bridges: tuple[Bridge, ...]
    led: dict[int, int]
    """Atoms that an anchor's text or edges led to: ordinal → the best such anchor's."""


def run(scene: Scene, target: int, most: int) -> Ranking:
    """Carry out the protocol for `target` hits, which are to be chosen from `most` candidates or more."""
    weights = anchors.weights_of(scene, scene.question.terms)
    found = anchors.by_words(scene, weights)
    pool, near = anchors.pool_of(scene, found.scores, max(scene.config.protocol.candidates, most))
    worth = anchors.matrix(scene, found.close, pool.ordinals)
    surroundings.lend(scene, pool, near, worth)
    boosts.speakers(scene, pool)
    boosts.dated(scene, pool)
    boosts.provenance(scene, pool)
    mentioned = _mentioned(scene, found, worth, weights)
    level, terms = _level_of(scene, mentioned)
    boosts.together(scene, pool, mentioned)
    _feedback(scene, pool, weights)
    pool = _simplified(scene, pool, found, level, terms, target)
    pool, entities = _split(scene, pool, found, target) if level is Level.SPLIT else (pool, ())
    pool = _phrases(scene, pool, found)
    texts = _read(scene, pool)
    pool, led = _hops(scene, pool, found, texts)
    pool, walked, bridges = _walk(scene, pool, found)
    return Ranking(pool, level, entities, walked, bridges, led)


def _best(scene: Scene, pool: Pool, most: int) -> tuple[NDArray[np.int64], list[Text]]:
    """Where the best of the pool stand, and their texts."""
    best = pool.ranked()[:most]
    return best, scene.texts(pool.ordinals[best].tolist())


def _feedback(scene: Scene, pool: Pool, weights: dict[str, float]) -> None:
    """What the first answers' own words find."""
    if not scene.signals.feedback:
        return
    best, texts = _best(scene, pool, feedback.ANSWERS)
    more = feedback.expansion(scene, texts, pool.score[best].tolist(), weights)
    if not more:
        return
    worth = anchors.matrix(scene, weigh(scene.view, more, scene.config.bm25), pool.ordinals)
    pool.add("feedback", worth.sum(axis=0) * pool.factor)


def _mentioned(
    scene: Scene, found: anchors.Found, worth: NDArray[np.float64], weights: dict[str, float]
) -> dict[str, NDArray[np.bool_]]:
    """Which of the pool mention each of the question's close terms, or one of its forms."""
    rows = {one.term: worth[row] > 0 for row, one in enumerate(found.close)}
    mentioned = {}
    for term in scene.question.terms:
        there = [rows[form] for form in (term, *forms_of(term)) if form in rows and form in weights]
        if there:
            mentioned[term] = sum(there[1:], there[0])
    return mentioned


def _level_of(scene: Scene, mentioned: Mapping[str, NDArray[np.bool_]]) -> tuple[Level, tuple[str, ...]]:
    """The first level that enough atoms cover, and its terms (Standard 065, phases 1 and 2).

    With its words joined by OR there are always enough hits, joined by AND nearly never (measured: for 7
    of 1,982 questions on conversations). So an atom counts as a hit of a level if it mentions so much of
    the weight of that level's words as the configuration says.

    If none is: `SPLIT` with the names, as far as there are two entities to split into; else the level
    that most atoms cover. `mentioned`: which of the pool's atoms mention each term; a term without an
    entry is nowhere.
    """
    question = scene.question
    counts: dict[Level, int] = {}
    terms = {Level.ALL: question.terms, Level.NOUNS: question.nouns, Level.NAMES: question.names}
    for level, words in terms.items():
        counts[level] = _covering(scene, words, mentioned)
        if counts[level] >= scene.config.protocol.enough:
            return level, words
    if len(question.entities) > 1:
        return Level.SPLIT, question.names
    most = max(counts, key=counts.__getitem__)
    return most, terms[most]


def _covering(scene: Scene, terms: Sequence[str], mentioned: Mapping[str, NDArray[np.bool_]]) -> int:
    """How many atoms of the pool mention enough of the weight of `terms`, those that are nowhere left out."""
    known = [term for term in terms if term in mentioned]
    if not known:
        return 0
    weights = {term: scene.idf(term) for term in known}
    covered = sum((weights[term] * mentioned[term] for term in known), np.zeros(len(mentioned[known[0]])))
    return int((covered >= scene.config.protocol.covers * sum(weights.values())).sum())


def _simplified(
    scene: Scene, pool: Pool, found: anchors.Found, level: Level, terms: Sequence[str], target: int
) -> Pool:
    """Beyond the first level: what the words that are left find, once more."""
    if level is Level.ALL or not scene.signals.simpler or not terms:
        return pool
    again = anchors.by_words(scene, dict.fromkeys(terms, scene.signals.simpler), tags=False)
    pool = anchors.joined(scene, pool, found.scores, anchors.best_words(scene, again.scores, target).tolist())
    pool.add("simpler", again.scores[pool.ordinals] * pool.factor)
    return pool


def _split(scene: Scene, pool: Pool, found: anchors.Found, target: int) -> tuple[Pool, tuple[str, ...]]:
    """One search for each of the first entities, each with its share of the hits."""
    entities = scene.question.entities[: scene.config.protocol.entities]
    share = -(-target // len(entities))
    for entity in entities:
        own = anchors.by_words(scene, dict.fromkeys(entity.terms, 1.0), tags=False)
        chosen = anchors.best_words(scene, own.scores, share)
        pool = anchors.joined(scene, pool, found.scores, chosen.tolist())
        shares = {one: scene.signals.split * float(own.scores[one]) for one in chosen.tolist()}
        phrases.give(scene, pool, "split", shares)
    return pool, tuple(entity.text for entity in entities)


def _phrases(scene: Scene, pool: Pool, found: anchors.Found) -> Pool:
    """The atoms whose titles stand in the question."""
    if not scene.signals.phrase:
        return pool
    (named,) = phrases.named_in(scene, [index_terms(scene.question.core)], phrases.QUESTION_WEIGHT)
    pool = anchors.joined(scene, pool, found.scores, [one.ordinal for one in named])
    share, best = scene.signals.phrase, anchors.top_score(pool)
    phrases.give(scene, pool, "phrase", {one.ordinal: share * one.weight * best for one in named})
    return pool


def _read(scene: Scene, pool: Pool) -> list[Text]:
    """Read the best texts, and what is in them."""
    best, texts = _best(scene, pool, READ)
    closeness.read(scene, pool, best.tolist(), texts)
    return texts


def _hops(
    scene: Scene, pool: Pool, found: anchors.Found, texts: Sequence[Text]
) -> tuple[Pool, dict[int, int]]:
    """From the anchors to the atoms whose titles stand in their texts, and those they are linked to."""
    if not scene.signals.hop:
        return pool, {}
    by_ordinal = {text.record.ordinal: text for text in texts}
    best = [place for place in pool.ranked().tolist() if int(pool.ordinals[place]) in by_ordinal]
    best = best[: phrases.ANCHORS]
    first = [by_ordinal[int(pool.ordinals[place])] for place in best]
    titles = phrases.named_in(scene, [anchor.terms for anchor in first], phrases.HOP_WEIGHT)
    hops: list[tuple[float, list[phrases.Named]]] = []
    led: dict[int, int] = {}
    for rank, (place, anchor, named) in enumerate(zip(best, first, titles, strict=True)):
        linked = phrases.linked_to(scene, anchor) if rank < phrases.LINKED else []
        others = [*named, *linked]
        others = [one for one in others if one.ordinal != anchor.record.ordinal]
        hops.append((float(pool.score[place]), others))
        for one in others:
            led.setdefault(one.ordinal, anchor.record.ordinal)
    pool = anchors.joined(scene, pool, found.scores, list(led))
    phrases.led_to(scene, pool, hops)
    return pool, led


def _walk(
    scene: Scene, pool: Pool, found: anchors.Found
) -> tuple[Pool, dict[int, dict[str, float]], tuple[Bridge, ...]]:
    """From the anchors' tags to atoms that share them and lack the words."""
    if not scene.signals.walk or not scene.config.protocol.walkers:
        return pool, {}, ()
    best, texts = _best(scene, pool, walk.ANCHORS)
    ways = walk.harvest(scene, list(zip(pool.score[best].tolist(), texts, strict=True)))
    walked = walk.walkers(scene, ways, found.scores)
    pool = anchors.joined(scene, pool, found.scores, list(walked))
    phrases.give(scene, pool, "walk", {one: max(lent.values()) for one, lent in walked.items()})
    return pool, walked, tuple(way.bridge for way in ways)
