"""Short pieces of a text, on one line, for people and agents to judge a hit by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from engine.text.analyzer import index_terms

SNIPPET_CHARS = 200
ELLIPSIS = "…"


def beginning(text: str, chars: int = SNIPPET_CHARS) -> str:
    """The first `chars` characters at most, with white space as single spaces."""
    # White space only shrinks, so a few times the room is all that needs to be split.
    return _cut(text[: 8 * chars].split(), 0, chars, more=len(text) > 8 * chars)


class Snippets:
    """Cuts snippets for one question: where its terms weigh most in a text.

    Words are looked up once for all texts of an answer: measured 9 µs a text of 40 words, not 70.
    """

    def __init__(self, weights: Mapping[str, float], chars: int = SNIPPET_CHARS) -> None:
        """`weights` of the question's terms; at most `chars` characters to a snippet."""
        self._weights = weights
        self._chars = chars
        self._marks: dict[str, tuple[str, ...]] = {}

    def around(self, text: str) -> str:
        """The stretch in which the terms weigh most, the first of equals.

        Each term counts once in a stretch; a fifth of the room goes to what stands before it.
        Without any of the terms: the beginning.
        """
        words = text.split()
        start = self._heaviest(words, self._chars - self._chars // 5)
        lead = self._chars // 5
        while start and len(words[start - 1]) < lead:
            start -= 1
            lead -= len(words[start]) + 1
        return _cut(words, start, self._chars)

    def _heaviest(self, words: Sequence[str], chars: int) -> int:
        """The word at which the heaviest stretch begins; linear in the text."""
        marked = [(at, terms) for at, word in enumerate(words) if (terms := self._terms(word))]
        if not marked:
            return 0
        offsets = list(accumulate(map(len, words), lambda before, size: before + size + 1, initial=0))
        best, best_weight, last = 0, 0.0, 0
        within: Counter[str] = Counter()
        for at, terms in marked:
            while last < len(marked) and offsets[marked[last][0] + 1] - 1 - offsets[at] <= chars:
                within.update(marked[last][1])
                last += 1
            weight = sum(self._weights[term] for term in sorted(within) if within[term])
            if weight > best_weight:
                best, best_weight = at, weight
            within.subtract(terms)
            if last < len(marked) and marked[last][0] <= at:
                last += 1  # a word longer than the room: it was never counted in
                within.update(terms)
        return best

    def _terms(self, word: str) -> tuple[str, ...]:
        found = self._marks.get(word)
        if found is None:
            found = self._marks[word] = tuple(term for term in index_terms(word) if term in self._weights)
        return found


def _cut(words: Sequence[str], start: int, chars: int, *, more: bool = False) -> str:
    shown = ELLIPSIS if start else ""
    for at in range(start, len(words)):
        joined = f"{shown} {words[at]}" if at > start else shown + words[at]
        if len(joined) > chars - 1:
            # A first word that is too long by itself is cut; any other is left out.
            return (joined[: chars - 1] if at == start else shown) + ELLIPSIS
        shown = joined
    return shown + ELLIPSIS if more else shown
