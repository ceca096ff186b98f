"""Read the texts of candidates for one question: terms, closeness of the question's terms, and snippets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from engine.kernels import NATIVE
from engine.query.snippets import READ_CHARS_MAX, Part, Snippets, one_by_one, part_of
from engine.text.analyzer import KERNEL_TERMS, index_terms

WINDOW: Final = 10
"""Two terms of a text count as close together if their positions differ by at most this many terms."""

_CHARS_MAX: Final = 1 << 31
"""The largest length of a snippet, in characters, for which the kernel is used. No text is longer."""


class TextReader:
    """Reads texts for one question."""

    def __init__(self, weights: Mapping[str, float], chars: int) -> None:
        """Set the weights of the question's terms, all above 0, and the largest length of a snippet."""
        self.weights = weights
        self.snippets = Snippets(weights, chars)
        terms = sorted(weights)
        total = one_by_one(weights.values())
        self._asked = (terms, [weights[term] for term in terms], total, WINDOW, min(chars, _CHARS_MAX))
        """The values of the question that the compiled kernel needs."""

    def read(self, texts: Sequence[str], *, whole: bool = True) -> list[Reading | LazyReading]:
        """Return the reading of each text. Set `whole` if all terms of the texts are needed."""
        if NATIVE is None:
            return [LazyReading(self, part_of(text, self.weights)) for text in texts]
        found = self._compiled(texts, (False, False), whole=whole)
        return [
            self._read(text) if one is None else Reading(text, *one)
            for text, one in zip(texts, found, strict=True)
        ]

    def _read(self, text: str) -> Reading | LazyReading:
        """Return the reading of a text that is long, or that the kernel does not read."""
        part = part_of(text, self.weights)
        found = self._compiled([part.text], part[1:], whole=True)[0] if part.before or part.after else None
        return LazyReading(self, part) if found is None else Reading(part.text, *found)

    def _compiled(
        self, texts: Sequence[str], cut: tuple[bool, bool], *, whole: bool
    ) -> list[tuple[Any, ...] | None]:
        """Return the readings of texts, with None for each text that is left to the Python twins.

        `cut` tells whether the texts were cut at their beginnings, and at their ends.
        """
        found: list[tuple[Any, ...] | None] = NATIVE.read_texts(  # type: ignore[union-attr]
            KERNEL_TERMS, texts, cut, READ_CHARS_MAX, *self._asked, whole
        )
        return found


class Reading:
    """The values that are computed from one text for a question.

    If the text has more than `snippets.READ_CHARS_MAX` characters, only a part of it is read
    (`snippets.part_of`).
    """

    __slots__ = ("_terms", "proximity", "snippet", "text")

    def __init__(self, text: str, terms: list[str] | None, proximity: float, snippet: str) -> None:
        """Store the values of a reading. If the terms are None, they are computed when they are needed."""
        self.text = text
        """The whole text, or the part of a long text that is read."""
        self._terms = terms
        self.proximity = proximity
        """The closeness of the question's terms in the text, from 0 to 1 (see `proximity`)."""
        self.snippet = snippet
        """The snippet of the text (see `snippets.Snippets`)."""

    @property
    def terms(self) -> list[str]:
        """All terms of the text in order, including stop words."""
        if self._terms is None:
            self._terms = index_terms(self.text)
        return self._terms


class LazyReading:
    """The same as `Reading`, but each value is computed when it is first needed."""

    def __init__(self, reader: TextReader, part: Part) -> None:
        """Prepare to read a part of a text."""
        self._reader = reader
        self._part = part
        self.text = part.text
        """See `Reading.text`."""

    @cached_property
    def terms(self) -> list[str]:
        """See `Reading.terms`."""
        return index_terms(self._part.text)

    @cached_property
    def proximity(self) -> float:
        """See `Reading.proximity`."""
        return proximity(self.terms, self._reader.weights)

    @cached_property
    def snippet(self) -> str:
        """See `Reading.snippet`."""
        return self._reader.snippets.within(self._part)


def proximity(terms: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return how close together the question's terms are in a text, from 0 to 1.

    Terms of the question that are within WINDOW terms of each other form a group. The weight of a group is
    the sum of the weights of its different terms. The result is the weight of the heaviest group, divided by
    the sum of all `weights`. The result is 0 if no group has two different terms.
    """
    marked = [(at, term) for at, term in enumerate(terms) if term in weights]
    best = 0.0
    for number, (start, _) in enumerate(marked):
        # At most WINDOW further terms are within the window, so the time is linear in the length of the text.
        group = dict.fromkeys(
            term for at, term in marked[number : number + WINDOW + 1] if at - start <= WINDOW
        )
        if len(group) > 1:
            best = max(best, one_by_one(weights[term] for term in group))
    total = one_by_one(weights.values())
    return best / total if total else 0.0
