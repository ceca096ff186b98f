"""Find texts that have most of their words in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final

CANDIDATES_MAX: Final = 64
"""The maximum number of texts that are compared with one text. A text with more candidates has no clear
match."""


def words_of(*texts: str) -> Counter[str]:
    """Return the words of the texts, counted."""
    return Counter(word for text in texts for word in text.split())


def dice(first: Counter[str], second: Counter[str]) -> float:
    """Return the share of words that two texts have in common, from 0 to 1."""
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


class WordIndex:
    """An index that finds the texts similar to a given text without comparing all pairs.

    The similarity (`dice`) of two texts is at least `least` only if they share one of their rarest words.
    The number of rarest words to consider follows from the length of the text.
    """

    def __init__(self, texts: Sequence[Counter[str]], least: float) -> None:
        self._texts = texts
        self._least = least
        self._frequency = Counter(word for words in texts for word in words)
        self._places: dict[str, list[int]] = {}
        for at, words in enumerate(texts):
            for word in self._rarest(words):
                self._places.setdefault(word, []).append(at)

    def similar(self, words: Counter[str]) -> Iterator[tuple[float, int]]:
        """Yield the similarity and the index of each text that is similar enough, by ascending index."""
        candidates = sorted({at for word in self._rarest(words) for at in self._places.get(word, ())})
        for at in candidates[:CANDIDATES_MAX]:
            score = dice(words, self._texts[at])
            if score >= self._least:
                yield score, at

    def _rarest(self, words: Counter[str]) -> list[str]:
        """Return some of the rarest words. Every similar text contains at least one of these words."""
        size = words.total()
        spare = size - ceil(size * self._least / (2 - self._least) - 1e-9) + 1
        rarest = []
        for word in sorted(words, key=lambda word: (self._frequency[word], word)):
            if spare <= 0:
                break
            rarest.append(word)
            spare -= words[word]
        return rarest
