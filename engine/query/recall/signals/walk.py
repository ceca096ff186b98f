"""The last step of recall, the walk: finds atoms that contain no word of the question.

Such atoms share a tag with an anchor. The anchors are the best candidates so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.candidates import Pool, Ranking, best_atoms
from engine.query.recall.recall_answer import Bridge
from engine.query.recall.recall_run import LoadedAtom, RecallRun
from engine.query.recall.signals.anchors import extended
from engine.query.recall.signals.scoring import MICRO
from engine.query.recall.signals.titles import add_amounts
from engine.query.recall.signals.word_scores import WordScores
from proofs.leaves import Group, tag_identity

TAG_ANCHORS: Final = 3
"""The number of anchors whose tags are considered."""

TAGS_MAX: Final = 4
"""The largest number of tags that are followed. Those with the highest weight · score are used."""

HUB_SHARE: Final = 0.1
HUB_MIN: Final = 20
"""A tag is ignored as a hub if more than HUB_SHARE of all atoms, and more than HUB_MIN atoms, have it."""

WALKERS_MAX: Final = 24
"""The largest number of atoms that are found through one tag. The newest atoms with the tag are used."""

_ROUNDING: Final = 2 / MICRO
"""Scores that differ by this much also differ in millionths."""


def bridge_weight(atoms: int, total: int) -> float:
    """Return the weight, 0 to 1, of a tag.

    `atoms` is the number of atoms with the tag, and `total` is the number of all atoms. The weight is the
    `rarity` of the tag. It is 0 if only one atom or every atom has the tag, or if the tag is a hub.
    """
    if not 1 < atoms < total or atoms > max(HUB_MIN, HUB_SHARE * total):
        return 0.0
    return rarity(atoms, total)


def rarity(atoms: int, total: int) -> float:
    """Return the rarity of a tag, (log(N / n) / log(N))², for n = `atoms` and N = `total`.

    The rarity is 1 if one atom has the tag, 0.25 if √N atoms have it, and 0 if all atoms have it.
    """
    return (log(total / atoms) / log(total)) ** 2


class WalkedTag(NamedTuple):
    """A tag of an anchor through which other atoms are found."""

    bridge: Bridge
    score: float
    """The best score among the anchors that have the tag."""
    newest: NDArray[np.int64]
    """The ordinals of the newest atoms that have the tag, ascending."""


def walked_tags(run: RecallRun, anchors: Sequence[tuple[float, LoadedAtom]]) -> list[WalkedTag]:
    """Return the tags to follow. They are tags of anchors.

    The tags are in descending order of the product of weight and score. `anchors` holds the anchors with
    their scores, the best first. The weight of a tag is its `bridge_weight`.
    """
    best: dict[str, float] = {}
    for score, anchor in anchors[:TAG_ANCHORS]:
        for tag in map(tag_identity, anchor.record.tags):
            best.setdefault(tag, score)
    total = len(run.atoms.ordinals)
    walked = []
    for tag, score in best.items():
        atoms, newest = run.atoms.newest(run.rows, Group.TAG, tag, 4 * WALKERS_MAX)
        weight = bridge_weight(atoms, total)
        if weight:
            walked.append(WalkedTag(Bridge(tag, round(weight, 6), atoms), score, newest))
    walked.sort(key=lambda one: (-one.bridge.weight * one.score, one.bridge.tag))
    return walked[:TAGS_MAX]


def walkers(run: RecallRun, tags: Sequence[WalkedTag], words: WordScores) -> dict[int, dict[str, float]]:
    """Return the atoms that have one of the tags and no word of the question.

    The result maps ordinal → tag → the amount that the tag adds to the score. `words` scores
    documents for the question's words.
    """
    found: dict[int, dict[str, float]] = {}
    if not tags:
        return found
    lacking = words.lacking(np.concatenate([one.newest for one in tags]))
    for bridge, score, ordinals in tags:
        without, lacking = lacking[: len(ordinals)], lacking[len(ordinals) :]
        for ordinal in ordinals[without][-WALKERS_MAX:].tolist():
            found.setdefault(ordinal, {})[bridge.tag] = run.signals.walk * score * bridge.weight
    return found


def complete_if_needed(run: RecallRun, ranking: Ranking) -> Ranking:
    """Return the ranking with the atoms of the walk, unless these cannot change its `first` best candidates.

    Otherwise the ranking is returned unchanged, and `complete` adds these atoms when they are needed.
    """
    pool, first = ranking.pool, ranking.first
    if first is None or _walk_is_vain(run, pool, first, pool.score.max(initial=0.0)):
        return ranking
    tags = _tags_to_follow(run, pool)
    if tags and _walk_is_vain(run, pool, first, max(one.score * one.bridge.weight for one in tags)):
        return ranking
    return complete(run, ranking, tags)


def complete(run: RecallRun, ranking: Ranking, tags: Sequence[WalkedTag] | None = None) -> Ranking:
    """Return a ranking that includes the atoms of the walk. `tags` are the tags to follow, if already read.

    The walk adds the atoms that contain no word of the question but share a tag with one of the best
    candidates.
    """
    tags = _tags_to_follow(run, ranking.pool) if tags is None else tags
    walked = walkers(run, tags, ranking.words)
    pool = extended(run, ranking.pool, ranking.words, list(walked))
    add_amounts(run, pool, "walk", {one: max(gains.values()) for one, gains in walked.items()})
    return replace(ranking, pool=pool, walked=walked, bridges=tuple(one.bridge for one in tags), first=None)


def _tags_to_follow(run: RecallRun, pool: Pool) -> list[WalkedTag]:
    """Return the tags through which the walk finds atoms."""
    if not run.signals.walk or not run.config.protocol.walkers:
        return []
    best, atoms = best_atoms(run, pool, TAG_ANCHORS)
    return walked_tags(run, list(zip(pool.score[best].tolist(), atoms, strict=True)))


def _walk_is_vain(run: RecallRun, pool: Pool, first: int, score: float) -> bool:
    """Return True if the walk can change neither the best candidates (`first` of them) nor their scores.

    The walk raises only the scores of atoms that contain no word of the question. Each of these scores is
    raised by at most a share of `score`.
    """
    best = pool.ranked(first)
    if not 0 < first <= len(best):
        return False
    lowest = float(pool.score[best[-1]]) - _ROUNDING
    most = score * run.signals.walk * run.atoms.largest_factor
    lacking = pool.score[pool.parts["words"] <= 0]
    return most < lowest and (not len(lacking) or float(lacking.max()) + most < lowest)
