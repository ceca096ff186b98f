"""All constants of recall in one frozen value: the defaults of Standard 065, the others as measured.

Each signal has a weight, and 0 switches it off; `bench/retrieval` measures recall without each in turn.
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
"""The largest weight, far above any useful value; it keeps scores finite."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """The constants of the Tag-Walker protocol (Standard 065)."""

    tokens_per_atom: int = 200
    atoms_min: int = 5
    walkers: float = 0.3
    """The largest share of the hits that may be walkers. The other hits are anchors."""
    enough: int = 10
    """The question is simplified if fewer atoms than this cover it."""
    covers: float = 0.5
    """An atom covers a question if it contains this share of the weight of the question's terms."""
    entities: int = 3
    """The largest number of entities that a question is split into."""
    candidates: int = 100
    """The number of candidates taken by the scores of their words; their neighbours are added."""

    def __post_init__(self) -> None:
        """Check the counts and the shares.

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
    """The weight of each signal; 0 switches it off."""

    head: float = 2.0
    """BM25F: the weight of a term in the title or in the speaker's label, relative to one in the text."""
    label: float = 0.5
    """The share of its score that an atom without a title gains if its speaker's label has a word of the
    question."""
    tag: float = 0.5
    """The weight of a tag that is a word of the question, relative to that word in the text."""
    forms: float = 0.5
    """The weight of the irregular forms of the question's words (go, went, gone)."""
    near: float = 0.5
    """The share of each term's score that the next atom of a source passes on; the second next, 0.6 of it."""
    source: float = 0.25
    """The share of each term's best score within a source that all atoms of the source gain."""
    phrase: float = 0.4
    """The share of the best score that an atom gains if its whole title occurs in the question."""
    hop: float = 0.5
    """The share of an anchor's score that atoms gain whose titles occur in its text or that it links to."""
    feedback: float = 0.2
    """The weight of the best terms of the first answers (pseudo-relevance feedback, RM3)."""
    proximity: float = 0.1
    """The share of its score that an atom gains if the question's terms are close together in it."""
    time: float = 0.2
    """The share of its score that an atom gains for a time that the question asks about."""
    together: float = 0.1
    """The share of its score that an atom gains for each further name of the question that it mentions."""
    internal: float = 2.0
    """The factor on the score of an internal atom, relative to an external one."""
    trust: float = 0.2
    """The share of its score that an atom gains at full trust, and loses at no trust."""
    simpler: float = 0.1
    """The weight of the words of a simplified question, relative to all of its words."""
    split: float = 0.2
    """The weight of the words of each entity, for the best atoms of each, when the question is split."""
    walk: float = 0.3
    """The share of an anchor's score that the rarest shared tag passes on."""


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """All settings of recall.

    Raises:
        InvalidInputError: a weight is negative, over 1,000 or not a number.
    """

    bm25: Bm25Config = field(default_factory=Bm25Config)
    protocol: Protocol = field(default_factory=Protocol)
    signals: Signals = field(default_factory=Signals)
    snippet_chars: int = SNIPPET_CHARS
    collapse: bool = True
    """If True, near-duplicates of a better hit are folded into it."""

    def __post_init__(self) -> None:
        """Raise InvalidInputError if a weight or a length is out of range."""
        for one in fields(self.signals):
            weight = getattr(self.signals, one.name)
            if not (isinstance(weight, int | float) and isfinite(weight) and 0 <= weight <= WEIGHT_MAX):
                raise InvalidInputError(
                    f"the weight of the signal {one.name} must be 0 to {WEIGHT_MAX:g}, not {weight!r}"
                )
        if integer(self.snippet_chars, "snippet_chars") < 1:
            raise InvalidInputError("snippet_chars must be 1 or more")
        if not self.signals.internal:
            raise InvalidInputError("the factor `internal` must be above 0; a factor of 1 switches it off")
