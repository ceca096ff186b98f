"""The parts of a text that recall reads for a question: its snippet, its terms, and their distances.

A snippet is a short part of a text, on one line, that shows people and agents whether a hit is useful.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Any, Final, NamedTuple

from engine.base.native import NATIVE
from engine.text.analyzer import KERNEL_TERMS, index_terms, word_terms

SNIPPET_CHARS = 200
ELLIPSIS = "…"
WORD_CHARS_MAX = 64
WORDS_MAX = 1 << 15
"""The limits of the cache that maps words to their terms. A full cache takes about 6 MB."""

READ_CHARS_MAX: Final = 1 << 16
"""The maximum number of characters of a text that are analysed for a question. A longer text is searched for
the question's terms, and only a part around one of them is analysed."""

_BEFORE: Final = 1 << 10
"""The number of characters before the first occurrence of a term that are also analysed. Up to this many
characters may be cut off at each end of a part, so that the part consists of whole words."""


class Part(NamedTuple):
    """A part of a text: the whole text, or READ_CHARS_MAX characters of it or fewer."""

    text: str
    before: bool
    """True if the whole text has characters before the part."""
    after: bool
    """True if the whole text has characters after the part."""


def part_of(text: str, weights: Mapping[str, float]) -> Part:
    """Return the part of a text to analyse for a question with these terms and weights.

    If the text has at most READ_CHARS_MAX characters, the part is the whole text. Otherwise the part begins
    shortly before the first occurrence of a term. If several terms occur in the text, the term with the
    highest weight is used. If no term occurs, the part is the beginning of the text. The search for a term
    ignores only the case of ASCII letters. Finding the part takes a few ms for a text of 1 MiB.
    """
    if len(text) <= READ_CHARS_MAX:
        return Part(text, before=False, after=False)
    start = max(0, _first_mention(text, weights) - _BEFORE)
    end = min(start + READ_CHARS_MAX, len(text))
    if start:
        start = next((at + 1 for at in range(start, start + _BEFORE) if text[at].isspace()), start)
    if end < len(text):
        end = next((at for at in range(end, end - _BEFORE, -1) if text[at].isspace()), end)
    return Part(text[start:end], start > 0, end < len(text))


def _first_mention(text: str, weights: Mapping[str, float]) -> int:
    """Return the index of the first occurrence of the heaviest term that the text contains, or 0."""
    # Bytes, because `str.lower` may change the number of characters, and differs between Unicode versions.
    lowered = text.encode("utf-8", "surrogatepass").lower()
    for term in sorted(weights, key=lambda term: (-weights[term], term)):
        at = lowered.find(term.encode("utf-8", "surrogatepass"))
        if at >= 0:
            return len(lowered[:at].decode("utf-8", "surrogatepass"))
    return 0


def beginning(text: str, chars: int = SNIPPET_CHARS) -> str:
    """Return the beginning of a text in at most `chars` characters, with single spaces as white space."""
    # Sequences of white space only get shorter, so it is enough to split a few times `chars` characters.
    return _cut(text[: 8 * chars].split(), 0, chars, more=len(text) > 8 * chars)


class _Words(dict[str, tuple[str, ...]]):
    """A cache that maps words to their terms, because the same words occur in many texts.

    Long words are not cached.
    """

    def __missing__(self, word: str) -> tuple[str, ...]:
        terms = word_terms(word) if word.isascii() and word.isalnum() else tuple(index_terms(word))
        if len(word) <= WORD_CHARS_MAX:
            if len(self) >= WORDS_MAX:
                self.clear()
            self[word] = terms
        return terms


_WORDS = _Words()


class Snippets:
    """Cuts snippets from texts. A snippet is the part in which the question's terms have the greatest weight.

    Measured: a text of 40 words takes 9 µs, or 29 µs if its words are not in the cache of terms.
    """

    def __init__(self, weights: Mapping[str, float], chars: int = SNIPPET_CHARS) -> None:
        """Set the weights of the question's terms, all above 0, and the largest length of a snippet."""
        self._weights = weights
        self._chars = chars

    def around(self, text: str) -> str:
        """Return the part in which the question's terms have the greatest weight, and some text before it.

        Each term counts once. If several parts have the same weight, the first is returned. A fifth of the
        length is used for the text before the part. If the text contains none of the terms, the result is the
        beginning of the text. If the text has more than READ_CHARS_MAX characters, only a part of it is
        considered (`part_of`).
        """
        return self.within(part_of(text, self._weights))

    def within(self, part: Part) -> str:
        """Return the snippet of a part of a text. If more text follows the snippet, it ends with `…`."""
        words = part.text.split()
        start = self._heaviest(words, self._chars - self._chars // 5)
        lead = self._chars // 5
        while start and len(words[start - 1]) < lead:
            start -= 1
            lead -= len(words[start]) + 1
        return _cut(words, start, self._chars, before=part.before, more=part.after)

    def _heaviest(self, words: Sequence[str], chars: int) -> int:
        """Return the index of the first word of the part in which the question's terms weigh most.

        The part has at most `chars` characters. The time is linear in the length of the text.
        """
        weights = self._weights
        lacks_terms = weights.keys().isdisjoint
        marked = [
            (at, [term for term in terms if term in weights])
            for at, terms in enumerate(map(_WORDS.__getitem__, words))
            if not lacks_terms(terms)
        ]
        if not marked:
            return 0
        lengths = accumulate(map(len, words), initial=0)
        offsets = [spaces + length for spaces, length in enumerate(lengths)]
        best, best_weight, last = 0, 0.0, 0
        within: dict[str, int] = {}
        for number, (at, terms) in enumerate(marked):
            end, grown = offsets[at] + chars + 1, False
            while last < len(marked) and offsets[marked[last][0] + 1] <= end:
                for term in marked[last][1]:
                    before = within.get(term, 0)
                    within[term] = before + 1
                    grown = grown or not before
                last += 1
            # A window that gained no term weighs no more than the window before it.
            if grown:
                weight = one_by_one(weights[term] for term in sorted(within) if within[term])
                if weight > best_weight:
                    best, best_weight = at, weight
            if last == number:
                last += 1  # a word longer than the window, which was never counted
            else:
                for term in terms:
                    within[term] -= 1
        return best


def one_by_one(weights: Iterable[float]) -> float:
    """Return the sum of weights, added one by one; `sum` rounds differently from Python 3.12 on."""
    total = 0.0
    for weight in weights:
        total += weight
    return total


def _cut(words: Sequence[str], start: int, chars: int, *, before: bool = False, more: bool = False) -> str:
    shown = ELLIPSIS if start or before else ""
    room, end = chars - len(shown), start
    for word in islice(words, start, None):
        room -= len(word) + 1
        if room < 0:
            # A first word that is too long is cut; any other word is left out.
            cut = shown + " ".join(words[start:end]) if end > start else (shown + word)[: chars - 1]
            return cut + ELLIPSIS
        end += 1
    shown += " ".join(words[start:])
    return shown + ELLIPSIS if more else shown


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
        readings = self._compiled(texts, (False, False), whole=whole)
        return [
            self._read(text) if one is None else Reading(text, *one)
            for text, one in zip(texts, readings, strict=True)
        ]

    def _read(self, text: str) -> Reading | LazyReading:
        """Return the reading of a text that is long, or that the kernel does not read."""
        part = part_of(text, self.weights)
        reading = self._compiled([part.text], part[1:], whole=True)[0] if part.before or part.after else None
        return LazyReading(self, part) if reading is None else Reading(part.text, *reading)

    def _compiled(
        self, texts: Sequence[str], cut: tuple[bool, bool], *, whole: bool
    ) -> list[tuple[Any, ...] | None]:
        """Return the readings of texts, with None for each text that is left to the Python twins.

        `cut` tells whether the texts were cut at their beginnings, and at their ends.
        """
        readings: list[tuple[Any, ...] | None] = NATIVE.read_texts(  # type: ignore[union-attr]
            KERNEL_TERMS, texts, cut, READ_CHARS_MAX, *self._asked, whole
        )
        return readings


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
