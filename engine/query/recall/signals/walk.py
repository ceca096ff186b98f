"""The walk from the anchors' tags to atoms that lack the question's words (Standard 065, phase 3)."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from engine.query.recall.answer import Bridge
from engine.query.recall.scene import Scene, Text
from proofs.sets import Group, tag_identity

ANCHORS: Final = 3
"""The tags of so many anchors are harvested."""

TAGS_MAX: Final = 4
"""So many of them, the heaviest, are walked."""

HUB_SHARE: Final = 0.1
HUB_MIN: Final = 20
"""A tag that a tenth of all atoms have, and more than 20, says nothing about any of them."""

WALKERS_MAX: Final = 24
"""So many atoms, the newest, a tag leads to."""


def rarity(atoms: int, total: int) -> float:
    """How much it says that two atoms share a tag that `atoms` of `total` have; 0 to 1.

    Its `telling`, and 0 for a tag of one atom, which joins nobody, and for a hub.
    """
    if not 1 < atoms < total or atoms > max(HUB_MIN, HUB_SHARE * total):
        return 0.0
    return telling(atoms, total)


def telling(atoms: int, total: int) -> float:
    """The square of log(N / n) / log(N): 1 for what one atom of several has, 0.25 for what √N have."""
    return (log(total / atoms) / log(total)) ** 2


class Way(NamedTuple):
    """A tag that is worth walking."""

    bridge: Bridge
    score: float
    """The best among the anchors that have the tag."""
    atoms: BitMap
    """Who has it."""


def harvest(scene: Scene, anchors: Sequence[tuple[float, Text]]) -> list[Way]:
    """The anchors' tags that are worth walking, the heaviest first; `anchors` with their scores, best first.

    A bridge's weight is its `rarity`.
    """
    best: dict[str, float] = {}
    for score, text in anchors[:ANCHORS]:
        for tag in map(tag_identity, text.record.tags):
            best.setdefault(tag, score)
    total = len(scene.allowed)
    ways = []
    for tag, score in best.items():
        having = scene.members(Group.TAG, tag)
        weight = rarity(len(having), total)
        if weight:
            ways.append(Way(Bridge(tag, round(weight, 6), len(having)), score, having))
    ways.sort(key=lambda way: (-way.bridge.weight * way.score, way.bridge.tag))
    return ways[:TAGS_MAX]


def walkers(scene: Scene, ways: Sequence[Way], words: NDArray[np.float64]) -> dict[int, dict[str, float]]:
    """The atoms that share a bridge and lack the words: ordinal → tag → what it is lent.

    `words`: the score of every document by the question's words.
    """
    found: dict[int, dict[str, float]] = {}
    for bridge, score, atoms in ways:
        newest = np.frombuffer(atoms.to_array(), np.uint32)[-4 * WALKERS_MAX :]
        lacking = newest[words[newest] <= 0][-WALKERS_MAX:]
        for ordinal in lacking.tolist():
            found.setdefault(ordinal, {})[bridge.tag] = scene.signals.walk * score * bridge.weight
    return found
