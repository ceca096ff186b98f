"""The answer to a question for what links names: names by domain, paths, and the evidence of their steps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.query.budget import INTERNAL
from engine.query.graph.domains import Domain


class StepKind(StrEnum):
    """The kind of a step between two names."""

    RELATION = "relation"
    """An edge joins the two entities. The strength is the absolute value of its weight, at most 1."""
    TOGETHER = "together"
    """An atom has both names. The strength is s / (1 + n) for s such atoms, where n is the number of atoms
    that have the rarer name."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The atom that is the evidence of a step."""

    id: str
    title: str | None
    snippet: str
    """The part of the text around the two names."""
    provenance: str = INTERNAL


@dataclass(frozen=True, slots=True)
class DomainNode:
    """A name in the answer."""

    name: str
    domain: Domain
    id: str | None
    """The id of the entity; None if the name is only a tag."""
    tag: str | None
    """The tag in its caseless form; None if no atom has it."""
    atoms: int
    """The number of atoms that have the name, at most `names.EDGES_MAX` each by edges and by the tag."""
    given: bool
    """True if the question contains the name."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a path, from the name `src` to the name `dst`."""

    kind: StepKind
    src: str
    dst: str
    relation: str | None
    """The predicate of the relation; None if the names only occur together."""
    forward: bool
    """True if the relation leads from `src` to `dst`, or has no direction."""
    strength: float
    """The strength of the step: above 0, at most 1. If the evidence is an external atom, it is halved; if the
    evidence is in quarantine, it is quartered."""
    evidence: Evidence | None
    """The evidence; None for a relation that somebody recorded without a text."""


@dataclass(frozen=True, slots=True)
class AcrossPath:
    """A path between two names of different domains."""

    names: tuple[str, ...]
    """The names along the path; the first and the last are its ends."""
    domains: tuple[Domain, ...]
    """The domain of each name."""
    steps: tuple[PathStep, ...]
    strength: float
    """The product of the strengths of the steps and of the rarities of the names in between."""


@dataclass(frozen=True, slots=True)
class AcrossGraph:
    """Names grouped by domain, and paths between them, read from the state after `size` events."""

    query: str
    nodes: tuple[DomainNode, ...]
    """The names on the paths and the names in the question, by domain, in the order of `Domain`."""
    paths: tuple[AcrossPath, ...]
    """The paths, the best first. A longer path between two names is listed only if it is stronger."""
    size: int
    omitted: int = 0
    """The number of weaker paths that were left out."""
