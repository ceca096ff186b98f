"""Texts with names in them, and the results of a dream."""

from __future__ import annotations

from typing import NamedTuple

from engine.base.model import HistoryItem
from engine.engine import Engine
from engine.knowledge.dreaming.dream_config import DreamConfig
from proofs.leaves import State

EAGER = DreamConfig(name_atoms_min=2, together_min=2)
"""Limits for memories of a few texts."""

LETTERS = (
    "In Bristol the harbour office keeps the tide clock for Ada Lovelace.",
    "We saw Charles Babbage and Ada Lovelace at the old pier with a tide clock.",
    "A letter from Charles Babbage told Ada Lovelace that the spring steel had rusted.",
    "Nobody in Bristol believed that Charles Babbage would pay for spring steel.",
)
"""Three names, two phrases."""


class Left(NamedTuple):
    """The additions of dreams to a memory, in any order."""

    tags: dict[str, frozenset[str]]
    """Content → tags."""
    entities: frozenset[str]
    edges: frozenset[tuple[str, str, str]]
    """(content, type, content)."""


def added(engine: Engine, *texts: str, **fields: object) -> list[str]:
    """The ids of some added texts."""
    return [engine.add(text, **fields).subject for text in texts]  # type: ignore[arg-type]


def left_in(engine: Engine) -> Left:
    """The current additions."""
    atoms = [found.atom for found in engine.find(limit=1000, form="full") if found.atom is not None]
    contents = {atom.id: atom.content for atom in atoms}
    edges = [edge for atom in atoms for edge in engine.edges(atom.id)]
    return Left(
        {atom.content: frozenset(atom.tags) for atom in atoms if atom.kind != "entity"},
        frozenset(atom.content for atom in atoms if atom.kind == "entity"),
        frozenset((contents[edge.src], edge.type, contents[edge.dst]) for edge in edges),
    )


def dreamt(engine: Engine) -> list[HistoryItem]:
    """The events of the dreamer."""
    return [item for item in engine.log() if item.actor == "dreamer"]


def dreamt_to_the_end(engine: Engine, *budgets: int, config: DreamConfig = EAGER) -> None:
    """Run cycles with these budgets in turn until nothing is left."""
    number = 0
    while engine.dream(budget=budgets[number % len(budgets)] if budgets else None, config=config).left:
        number += 1


def entity(engine: Engine, name: str) -> str:
    """The id of the live entity with a name."""
    found = engine.find(limit=1000, form="full")
    atoms = [one.atom for one in found if one.atom is not None]
    return next(atom.id for atom in atoms if atom.kind == "entity" and atom.content == name)


def is_live(engine: Engine, atom: str) -> bool:
    """Return True if an atom is live."""
    return engine.get(atom).state is State.LIVE
