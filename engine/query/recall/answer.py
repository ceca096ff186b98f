"""The result of recall: hits, how they were found, and the atoms that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The simplification at which enough atoms covered a question (Standard 065, phases 1 and 2)."""

    ALL = "all words"
    NOUNS = "nouns and dates"
    NAMES = "proper nouns"
    SPLIT = "split"


class Role(StrEnum):
    """The way in which a hit was found."""

    ANCHOR = "anchor"
    """It contains words of the question."""
    WALKER = "walker"
    """It is related to an anchor: by a tag, a link, a title in the anchor's text, or the source."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """A tag that led from anchors to other atoms."""

    tag: str
    weight: float
    """More than 0, at most 1; rare tags weigh more."""
    atoms: int
    """The number of atoms with this tag among those that pass the filters."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that was left out. Only an explained recall lists them."""

    id: str
    score: float
    reason: str
    """`duplicate of <id>`, `over the budget`, `beyond the limit`, `too many walkers`, `no such category`,
    `superseded by <id>`, `like <id>, which is superseded`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An atom that answers the query."""

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
    """The text if a token budget was given, else None. The text of the first hit may be cut to the budget."""
    tokens: int
    """The estimated tokens of the hit as it is shown in a prompt: `engine.query.budget`."""
    duplicates: tuple[str, ...]
    """The ids of near-duplicates that are folded into it."""
    signals: dict[str, float] | None = None
    """The amount that each signal added to the score or took from it; None unless explained."""
    path: tuple[str, ...] = ()
    """The anchor whose text or edges led to a walker, then the tags that did. Empty for an anchor."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question from the first `size` events of the journal."""

    query: str
    core: str
    """The question without phrases such as "tell me about"."""
    terms: tuple[str, ...]
    """The terms that were searched for."""
    level: Level
    entities: tuple[str, ...]
    """The entities that the question was split into; empty unless `level` is `SPLIT`."""
    bridges: tuple[Bridge, ...]
    """The tags that led to hits, the one that added most to their scores first."""
    hits: tuple[Hit, ...]
    size: int
    candidates: int
    """The number of atoms that pass the filters."""
    target: int
    """The number of hits aimed at: the limit, or the number that the budget has room for."""
    budget: int | None
    tokens: int
    """The sum of the hits' tokens; at most the budget."""
    pipeline: str
    """The name and version of the rules that analysed the question."""
    dropped: tuple[Dropped, ...] = ()
