"""What recall answers with: hits, how they were reached, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How far a question had to be simplified until enough atoms covered it (Standard 065, phase 1 and 2)."""

    ALL = "all words"
    NOUNS = "nouns and dates"
    NAMES = "proper nouns"
    SPLIT = "split"


class Role(StrEnum):
    """How a hit was found."""

    ANCHOR = "anchor"
    """By the question's words."""
    WALKER = "walker"
    """By what it shares with an anchor: a tag, a link, a title in the anchor's text, the source."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """A tag that led from anchors to other atoms."""

    tag: str
    weight: float
    """More than 0 to 1: rare tags weigh more."""
    atoms: int
    """How many of the atoms that the filters let through have it."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """An atom that was nearly a hit. Filled when explaining."""

    id: str
    score: float
    reason: str
    """`duplicate of <id>`, `over the budget`, `beyond the limit`, `too many walkers`, `no such category`,
    `superseded by <id>`, `like <id>, which is superseded`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer."""

    id: str
    score: float
    role: Role
    title: str | None
    source: str | None
    sequence: int | None
    key: str | None
    tags: tuple[str, ...]
    created: int
    provenance: str
    snippet: str
    content: str | None
    """The whole text where a token budget was given, which it is counted in; else None."""
    tokens: int
    """What it costs a language model as it is shown: `engine.query.budget`."""
    duplicates: tuple[str, ...]
    """Ids of near-duplicates that are folded into it."""
    signals: dict[str, float] | None = None
    """When explaining: what each signal added to the score, or took away from it."""
    path: tuple[str, ...] = ()
    """How a walker was reached: the anchor whose text or edges led to it, the tags; empty for an anchor."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question, as of the first `size` events."""

    query: str
    core: str
    """What the question was reduced to."""
    terms: tuple[str, ...]
    """What was searched for."""
    level: Level
    entities: tuple[str, ...]
    """What it was split into; empty unless `level` is `SPLIT`."""
    bridges: tuple[Bridge, ...]
    """The tags that led to hits, the one that lent most first."""
    hits: tuple[Hit, ...]
    size: int
    candidates: int
    """How many atoms the filters let through."""
    target: int
    """How many atoms were aimed at: the limit, or what the budget has room for."""
    budget: int | None
    tokens: int
    """The sum of the hits' tokens; at most the budget."""
    pipeline: str
    """What analysed the question."""
    dropped: tuple[Dropped, ...] = ()
