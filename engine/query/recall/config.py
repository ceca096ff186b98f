"""Every constant of recall, in one frozen value (Standard 065's defaults, the rest as measured).

Each signal has a weight, and 0 switches it off; `bench/retrieval` takes each away in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.validation import integer
from engine.query.recall.signals.bm25 import Bm25Config
from engine.query.snippets import SNIPPET_CHARS

WEIGHT_MAX: Final = 1000.0
"""Far beyond any use; scores stay finite."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """The constants of the Tag-Walker protocol (Standard 065)."""

    tokens_per_atom: int = 200
    atoms_min: int = 5
    walkers: float = 0.3
    """The largest share of the hits that may be walkers; anchors take the room that walkers leave."""
    enough: int = 10
    """Fewer covering hits than this, and the question is simplified."""
    covers: float = 0.5
    """A hit counts as covering if it has this share of the weight of the question's terms."""
    entities: int = 3
    """So many of its entities a question is split into."""
    candidates: int = 100
    """So many of the best by their words are looked at closely."""

    def __post_init__(self) -> None:
        """Refuse constants with which no hits could be chosen.

        Raises:
            InvalidInputError: a count is below 1, or a share not 0 to 1.
        """
        for name in ("tokens_per_atom", "atoms_min", "enough", "entities", "candidates"):
            if integer(getattr(self, name), name) < 1:
                raise InvalidInputError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("walkers", "covers"):
            share = getattr(self, name)
            if not (isinstance(share, int | float) and 0 <= share <= 1):
                raise InvalidInputError(f"{name} must be 0 to 1, not {share!r}")


@dataclass(frozen=True, slots=True)
class Signals:
    """How much each signal may add; 0 switches it off."""

    head: float = 2.0
    """BM25F: what a term in the title, or in the label of who speaks, counts beside one in the text."""
    label: float = 0.5
    """Share of its score that an atom gains whose title or speaker's label has a name of the question."""
    tag: float = 0.5
    """What a tag that is a word of the question counts, beside that word in the text."""
    forms: float = 0.5
    """Weight of the irregular forms of the question's words (go, went, gone)."""
    near: float = 0.5
    """Share of each term's score that the next atom of its source lends; the one after, 0.6 of it."""
    source: float = 0.25
    """Share of the best score of each term in its source that the whole source lends."""
    phrase: float = 0.4
    """Share of the best score for an atom whose whole title stands in the question."""
    hop: float = 0.5
    """Share of its score that an anchor lends to atoms whose titles its text has, or that it links to."""
    feedback: float = 0.2
    """Weight of the best terms of the first answers (pseudo-relevance feedback, RM3)."""
    proximity: float = 0.1
    """Share of its score that an atom gains whose terms of the question stand close together."""
    time: float = 0.2
    """Share of its score that an atom gains for a time the question asks for."""
    together: float = 0.1
    """Share of its score that an atom gains for each further entity of the question it mentions."""
    internal: float = 2.0
    """Factor on the score of what is internal, beside external text."""
    trust: float = 0.2
    """Share of its score that full trust adds, and none takes away."""
    simpler: float = 0.1
    """Weight of the words that are left when the question had to be simplified, beside all of them."""
    split: float = 0.2
    """Weight of the words of each entity, for the best atoms of each, when the question had to be split."""
    walk: float = 0.3
    """Share of an anchor's score that the rarest shared tag lends."""


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """Everything that can be set about recall.

    Raises:
        InvalidInputError: a weight is negative, over 1,000 or no number.
    """

    bm25: Bm25Config = field(default_factory=Bm25Config)
    protocol: Protocol = field(default_factory=Protocol)
    signals: Signals = field(default_factory=Signals)
    snippet_chars: int = SNIPPET_CHARS
    collapse: bool = True
    """Whether near-duplicates of a better hit are folded into it."""

    def __post_init__(self) -> None:
        """Refuse weights with which scores would not be finite."""
        for one in fields(self.signals):
            weight = getattr(self.signals, one.name)
            if not (isinstance(weight, int | float) and isfinite(weight) and 0 <= weight <= WEIGHT_MAX):
                raise InvalidInputError(
                    f"the weight of the signal {one.name} must be 0 to {WEIGHT_MAX:g}, not {weight!r}"
                )
        if integer(self.snippet_chars, "snippet_chars") < 1:
            raise InvalidInputError("snippet_chars must be 1 or more")
        if not self.signals.internal:
            raise InvalidInputError("the factor `internal` must be more than 0; 1 switches it off")
