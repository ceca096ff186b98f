"""Read the texts of candidates for one question: terms, closeness of the question's terms, and snippets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from engine.kernels import NATIVE
from engine.query.snippets import Snippets, part_of, words_to_terms
from engine.text.analyzer import index_terms

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
        self.total = _added(weights.values())
        ordered = sorted(weights)
        self._numbers = {term: number for number, term in enumerate(ordered)}
        self._ordered = [weights[term] for term in ordered]
        self._chars = min(chars, _CHARS_MAX)

    def compiled(self, text: str, cut: tuple[bool, bool]) -> tuple[list[str], float, str] | None:
        """Return the terms of a text, its heaviest group of terms and its snippet, or None.

        It is None if the compiled kernels are not installed or leave the text to their twins. `cut` tells
        whether the text has been cut at its beginning, and at its end.
        """
        if NATIVE is None:
            return None
        words = words_to_terms()
        found: tuple[list[str], float, str] | None = NATIVE.read_text(
            text, words, self._numbers, self._ordered, WINDOW, self._chars, cut
        )
        return found


class Reading:
    """What a question reads in one text. Everything is computed when it is needed, and only once.

    Of a text over `snippets.READ_CHARS_MAX` characters, only `snippets.part_of` the text is read.
    """

    def __init__(self, reader: TextReader, text: str) -> None:
        """Prepare to read a text; nothing is computed yet."""
        self._reader = reader
        self._part = part_of(text, reader.weights)

    @cached_property
    def _compiled(self) -> tuple[list[str], float, str] | None:
        return self._reader.compiled(self._part.text, self._part[1:])

    @cached_property
    def terms(self) -> list[str]:
        """All terms of the text in order, including stop words."""
        return index_terms(self._part.text) if self._compiled is None else self._compiled[0]

    @cached_property
    def proximity(self) -> float:
        """How close together the question's terms are in the text, from 0 to 1 (see `proximity`)."""
        if self._compiled is None:
            return proximity(self.terms, self._reader.weights)
        return self._compiled[1] / self._reader.total if self._reader.total else 0.0

    @cached_property
    def snippet(self) -> str:
        """The snippet of the text (see `snippets.Snippets`)."""
        return self._reader.snippets.within(self._part) if self._compiled is None else self._compiled[2]


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
            best = max(best, _added(weights[term] for term in group))
    total = _added(weights.values())
    return best / total if total else 0.0


def _added(weights: Iterable[float]) -> float:
    """Return the sum of weights, added one by one; `sum` rounds differently from Python 3.12 on."""
    total = 0.0
    for weight in weights:
        total += weight
    return total
