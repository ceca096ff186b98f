"""All constants of recall. Some come from the Tag-Walker protocol, others were chosen by measurement.

Each signal has a weight, and a weight of 0 switches the signal off. `bench/retrieval` measures recall with
each signal switched off in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.validation import integer
from engine.text.language.snippets import SNIPPET_CHARS

WEIGHT_MAX: Final = 1000.0
"""The largest weight. It is far above any useful value and keeps scores finite."""


K1_MAX: Final = 1000
"""The largest k1. It is far above any useful value and keeps scores finite."""


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """The two constants of BM25. The defaults gave the best results on conversations (LoCoMo)."""

    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        """Raise InvalidInputError if the constants could make a score infinite, 0 or negative."""
        if not (0 <= self.k1 <= K1_MAX and 0 <= self.b <= 1):
            raise InvalidInputError(
                f"BM25 needs k1 from 0 to {K1_MAX} and b from 0 to 1, not k1={self.k1}, b={self.b}"
            )


@dataclass(frozen=True, slots=True)
class Protocol:
    """The constants of the Tag-Walker protocol (`engine.query.recall.recall`)."""

    tokens_per_atom: int = 200
    atoms_min: int = 5
    further: float = 0.25
    """With a budget, the hits beyond max(5, ⌊budget / 200⌋) have at least this share of the best score."""
    walkers: float = 0.3
    """The largest share of the hits that walkers may have if anchors can fill the other places.

    A walker is a hit without words of the question. Places that no anchor can fill go to walkers, unless this
    share is 0."""
    enough: int = 10
    """A question that fewer atoms cover is split (`engine.query.recall.recall`)."""
    covers: float = 0.5
    """An atom covers a question if the weights of the question's terms in the atom add up to at least this
    share of the weights of all the question's terms."""
    entities: int = 3
    """The largest number of entities that a question is split into."""
    candidates: int = 100
    """The number of atoms with the highest scores for the question's words that become candidates. Their
    neighbours become candidates, too."""

    terms: int = 64
    """The largest number of terms of a question that are searched for. The rarest terms are chosen.

    Ordinary questions have fewer; a page that somebody pastes has hundreds. Without this limit, the work for
    a question of 64 KiB took 43 s in a memory of 100,000 atoms.
    """

    def __post_init__(self) -> None:
        """Check the counts and the shares.

        Raises:
            InvalidInputError: a count is below 1, or a share is not between 0 and 1.
        """
        for name in ("tokens_per_atom", "atoms_min", "enough", "entities", "candidates", "terms"):
            if integer(getattr(self, name), name) < 1:
                raise InvalidInputError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("further", "walkers", "covers"):
            share = getattr(self, name)
            if not (isinstance(share, int | float) and 0 <= share <= 1):
                raise InvalidInputError(f"{name} must be from 0 to 1, not {share!r}")


@dataclass(frozen=True, slots=True)
class Signals:
    """The weight of each signal.

    A weight of 0 turns a signal off. The signal `internal` is an exception: a weight of 1 turns it off. In
    the descriptions of the signals, the anchors are the candidates with the best scores.
    """

    head: float = 2.0
    """The weight (BM25F) of a term in the title or in the speaker's label, relative to a term in the text."""
    length: float = 0.7
    """BM25's b is at least this share of the spread of the lengths of all texts: their standard deviation,
    divided by their average.

    If all texts are about equally long, a longer one says more about its subject. If a memory holds remarks
    beside long answers, an answer contains many words only because it is long.
    """
    label: float = 0.5
    """If an atom without a title begins with a speaker's label (`Maria:`) that contains a word of the
    question, its score rises by this share."""
    tag: float = 0.5
    """The weight of a word of the question that matches a tag, relative to a word that matches the text."""
    forms: float = 0.5
    """The weight of other irregular forms of a word (go, went, gone), relative to the word itself."""
    repeated: float = 1.0
    """If the question contains a word n times, the weight of the word rises by this share of (n − 1) /
    (n + 1)."""
    burst: float = 1.0
    """The weight of a word rises by this share of those of its occurrences that are not the first one in a
    text. Texts repeat the words of their subject."""
    near: float = 0.5
    """An atom gains this share of the term scores of the atoms directly before and after it in its source.

    It also gains 0.6 times this share of the term scores of the atoms two positions away.
    """
    source: float = 0.25
    """For each term, each atom of a source gains this share of the best score of the term in the source."""
    phrase: float = 0.4
    """If the whole title of an atom occurs in the question, the atom gains this share of the best score of
    any candidate."""
    alias: float = 1.25
    """If an alias of an atom occurs in the question, the atom gains this share of the best score of any
    candidate."""
    hop: float = 0.5
    """An atom gains this share of an anchor's score if its title occurs in the anchor's text or if an edge
    joins the atom and the anchor."""
    feedback: float = 0.2
    """The weight of the terms that are characteristic of the best candidates and are added to the query
    (pseudo-relevance feedback, RM3)."""
    proximity: float = 0.3
    """If the question's terms are close together in an atom, the score of the atom rises by up to this
    share."""
    time: float = 0.2
    """If an atom matches the time in the question, its score rises by this share.

    An atom matches if it was created at that time, or if the question asks when and the atom contains a time.
    """
    person: float = 0.5
    """If the question says "I" or "my", an atom that says so, too, gains up to this share of its score."""
    internal: float = 2.0
    """The score of an external atom is divided by this factor once, and the score of an atom in quarantine
    twice. The score of an internal atom is not divided."""
    trust: float = 0.2
    """With a trust of 100, the score of an atom rises by this share; with a trust of 0 it falls by this
    share."""
    split: float = 0.2
    """The weight of the words of an entity if the question is split into entities. For each entity, only the
    scores of the best atoms are raised."""
    walk: float = 0.3
    """The share of an anchor's score that an atom gains if it has a tag in common with the anchor. The share
    is multiplied by the weight of the tag; rarer tags have higher weights."""


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
    """If True, near-duplicates of a better hit are listed in the field `duplicates` of that hit and are not
    hits themselves."""

    spelling: bool = True
    """If True, a name in the question that the memory does not contain is read as a similar name that it does
    contain."""

    per_page: int = 2
    """The largest number of hits of one page; 0 for any number. A page consists of the atoms from one file
    (`engine.followers.names.is_page`)."""

    def __post_init__(self) -> None:
        """Raise InvalidInputError if a weight, a length or a number is out of range."""
        integer(self.per_page, "per_page")
        for one in fields(self.signals):
            weight = getattr(self.signals, one.name)
            if not (isinstance(weight, int | float) and isfinite(weight) and 0 <= weight <= WEIGHT_MAX):
                raise InvalidInputError(
                    f"the weight of the signal {one.name} must be from 0 to {WEIGHT_MAX:g}, not {weight!r}"
                )
        if integer(self.snippet_chars, "snippet_chars") < 1:
            raise InvalidInputError("snippet_chars must be 1 or more")
        if not self.signals.internal:
            raise InvalidInputError("the factor `internal` must be above 0; a factor of 1 has no effect")
