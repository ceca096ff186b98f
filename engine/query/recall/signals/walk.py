"""The walk (Standard 065, phase 3): finds atoms that contain no word of the question.

Such atoms share a tag with an anchor. The anchors are the best candidates so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.answer import Bridge
from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.query.recall.signals.anchors import WordScores
from proofs.sets import Group, tag_identity

ANCHORS: Final = 3
"""The number of anchors whose tags are considered."""

TAGS_MAX: Final = 4
"""The largest number of tags that are followed. Those with the highest weight · score are used."""

HUB_SHARE: Final = 0.1
HUB_MIN: Final = 20
"""A tag is ignored as a hub if more than HUB_SHARE of all atoms, and more than HUB_MIN atoms, have it."""

WALKERS_MAX: Final = 24
"""The largest number of atoms that are found through one tag. The newest atoms with the tag are used."""


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


def walked_tags(scope: RecallScope, anchors: Sequence[tuple[float, LoadedAtom]]) -> list[WalkedTag]:
    """Return the tags to follow. They are tags of anchors.

    The tags are in descending order of the product of weight and score. `anchors` holds the anchors with
    their scores, the best first. The weight of a tag is its `bridge_weight`.
    """
    best: dict[str, float] = {}
    for score, anchor in anchors[:ANCHORS]:
        for tag in map(tag_identity, anchor.record.tags):
            best.setdefault(tag, score)
    total = len(scope.allowed)
    walked = []
    for tag, score in best.items():
        atoms, newest = scope.atoms.newest(scope.rows, Group.TAG, tag, 4 * WALKERS_MAX)
        weight = bridge_weight(atoms, total)
        if weight:
            walked.append(WalkedTag(Bridge(tag, round(weight, 6), atoms), score, newest))
    walked.sort(key=lambda one: (-one.bridge.weight * one.score, one.bridge.tag))
    return walked[:TAGS_MAX]


def walkers(scope: RecallScope, tags: Sequence[WalkedTag], words: WordScores) -> dict[int, dict[str, float]]:
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
            found.setdefault(ordinal, {})[bridge.tag] = scope.signals.walk * score * bridge.weight
    return found
