"""Signals that raise or lower a score by what the index and the sets say of an atom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.followers.tags import day_of, union, values
from engine.language.model import Ask
from engine.query.recall.pool import Pool
from engine.query.recall.scene import Scene
from proofs.sets import Group

RELATION: Final = 5.0
"""Several names in one atom count so much more when the question asks how they are related."""

DAYS_MAX: Final = 400
"""A time asked for is looked up day by day, so many at most."""


def speakers(scene: Scene, pool: Pool) -> None:
    """Raise what is said by somebody whom the question names: a label, in an atom without a title."""
    if not scene.signals.label or not len(pool):
        return
    said = np.zeros(len(pool), np.bool_)
    for term in scene.question.terms:
        for start, offsets, _ in scene.view.heads(term):
            places = pool.at(offsets.astype(np.int64) + start)
            said[places[places >= 0]] = True
    said &= scene.places.titles[pool.ordinals] == 0
    pool.multiply("label", 1.0 + scene.signals.label * said)


def together(scene: Scene, pool: Pool, mentioned: Mapping[str, NDArray[np.bool_]]) -> None:
    """Raise what mentions several of the names in the question; `mentioned`: term → which of the pool."""
    names = [entity for entity in scene.question.entities if entity.proper]
    if not scene.signals.together or len(names) < 2 or not len(pool):
        return
    count = np.zeros(len(pool))
    nowhere = np.zeros(len(pool), np.bool_)
    for entity in names:
        each: Sequence[NDArray[np.bool_]] = [mentioned.get(term, nowhere) for term in entity.terms]
        count += np.logical_and.reduce(each) if each else nowhere
    weight = scene.signals.together * (RELATION if scene.question.ask is Ask.RELATION else 1.0)
    pool.multiply("together", 1.0 + weight * np.maximum(count - 1.0, 0.0))


def dated(scene: Scene, pool: Pool) -> None:
    """Raise what was created at a time that the question names."""
    days = [
        day
        for span in scene.question.times
        if span.start is not None and span.end is not None
        for day in _days(scene, span.start, span.end)
    ]
    if scene.signals.time and days and len(pool):
        there = scene.mask_of(union(scene.rows, ((Group.DAY, day) for day in sorted(set(days)))))
        pool.multiply("time", 1.0 + scene.signals.time * there[pool.ordinals])


def _days(scene: Scene, start: int, end: int) -> list[str]:
    """The days from `start` up to `end` on which anything was created; none where they are too many."""
    first, last = day_of(start), day_of(end - 1)
    found: list[str] = []
    for day in values(scene.rows, Group.DAY, first, last + "\x01"):
        if len(found) == DAYS_MAX:
            return []
        found.append(day)
    return found


def provenance(scene: Scene, pool: Pool) -> None:
    """Lower what came from outside."""
    if scene.outside is not None:
        pool.multiply("provenance", scene.outside[pool.ordinals])
