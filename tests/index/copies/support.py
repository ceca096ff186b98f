"""Near-duplicate texts, and the state that a merge must preserve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from engine.engine import Engine
from proofs.leaves import State
from tests.support.engines import engine_on

KETTLE = "The kettle in the kitchen is descaled with citric acid on the first Monday of the month"
TRAIN = "The night train to Lisbon leaves from platform nine at a quarter past eleven in winter"

_LONG = f"{KETTLE}. {TRAIN}. {KETTLE}. {TRAIN}"
CHAIN = (f"{_LONG} soon", _LONG, f"{_LONG} daily")
"""The second is near the others, by 2 bits each; these differ from each other in 4."""


class Looks(NamedTuple):
    """The fields of an atom that merging changes and unmerging restores."""

    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    state: State


def looks(engine: Engine, *ids: str) -> list[Looks]:
    """The current fields of the atoms."""
    return [Looks(atom.tags, atom.buckets, atom.state) for atom in map(engine.get, ids)]


def copy_of(text: str, number: int) -> str:
    """Another content with the same terms."""
    return text + "." * number


@contextmanager
def kettles(
    tags: Sequence[Sequence[str]] = (("kitchen",), ("Chores", "kitchen"), ("tea",)),
    buckets: Sequence[Sequence[str]] = (("inbox",), ("inbox",), ("inbox", "work")),
) -> Iterator[tuple[Engine, list[str]]]:
    """An engine with copies of one text and another text, and the ids of the copies."""
    with engine_on() as engine:
        ids = [
            engine.add(copy_of(KETTLE, number), tags=tags[number], buckets=buckets[number]).subject
            for number in range(len(tags))
        ]
        engine.add(TRAIN)
        yield engine, ids


def live_texts(engine: Engine) -> list[str]:
    """The contents of all live atoms, sorted."""
    found = engine.find(limit=1000, form="full")
    return sorted(one.atom.content for one in found if one.atom is not None)
