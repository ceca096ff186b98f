"""What a sentence states: two ends and a predicate."""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.knowledge.dreaming.relations.predicates import SYMMETRIC

WRITER: Final = "I"
"""The end that stands for the writer of the text."""


class Statement(NamedTuple):
    """A relation that a sentence of a text states."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    """The sentence is the part of the text from `start` up to but excluding `end`."""
    by_parse: bool = False
    """True if only the parse of the sentence shows the relation."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The relation in lower case; for a symmetric predicate, with its ends in alphabetical order."""
        ends = self.subject.lower(), self.object.lower()
        if self.predicate in SYMMETRIC:
            ends = min(ends), max(ends)
        return ends[0], self.predicate, ends[1]
