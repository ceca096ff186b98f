"""Where atoms stand: who is next to whom in a source, and which titles there are.

Worked out from the facts of the index (SPEC: Index), for searching only: nothing here is stored. The
documents of segments keep their order until the segments change; the newest, at most 255, are
sorted each time the head has moved.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.followers.columns import Facts
from engine.followers.index_view import IndexView

SKIPPED_MAX: Final = 8
"""So many dead neighbours are stepped over before an atom counts as having none."""

NOBODY: Final = -1

_HALF: Final = 32
_FILTER_BITS: Final = 16


class _Part:
    """Some documents, sorted twice: by source, sequence and ordinal; and by title.

    A place is one number: the rank of the source, then that of the sequence, among those of the part.
    What is in no document of the part has a rank between the others, so that all places compare.
    """

    def __init__(self, facts: Facts, start: int, end: int) -> None:
        """The documents from `start` up to `end`."""
        self.start, self.end = start, end
        sources, sequences, titles = (column[start:end] for column in facts[:3])
        placed = np.flatnonzero((sources > 0) & (sequences > 0))
        placed = placed[np.lexsort((sequences[placed], sources[placed]))]
        self._sources = np.unique(sources[placed])
        self._sequences = np.unique(sequences[placed])
        self.places = self.of(sources[placed], sequences[placed])
        self.ordinals = placed + start
        self._own = np.zeros(end - start, np.uint64)
        self._own[placed] = self.places
        titled = np.flatnonzero(titles)
        titled = titled[titles[titled].argsort(kind="stable")]
        self.titles = titles[titled]
        self.titled = titled + start
        # Whether any title begins with these bits: most phrases of a text are told apart by them alone.
        self.first_bits = np.zeros(1 << _FILTER_BITS, np.bool_)
        self.first_bits[first_bits(self.titles)] = True

    def of(self, sources: NDArray[np.uint64], sequences: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The places of documents, of this part or not."""
        return _rank(self._sources, sources) << np.uint64(_HALF) | _rank(self._sequences, sequences)

    def places_of(self, facts: Facts, ordinals: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The places of placed documents by ordinal; those of its own are known."""
        own = (ordinals >= self.start) & (ordinals < self.end)
        if own.all():
            return self._own[ordinals - self.start]
        found = np.empty(len(ordinals), np.uint64)
        found[own] = self._own[ordinals[own] - self.start]
        others = ordinals[~own]
        found[~own] = self.of(facts.sources[others], facts.sequences[others])
        return found

    def beyond(
        self, facts: Facts, ordinals: NDArray[np.int64], live: NDArray[np.bool_], *, after: bool
    ) -> NDArray[np.int64]:
        """The nearest live document of this part after (before) each place in the same source, or NOBODY."""
        found = np.full(len(ordinals), NOBODY, np.int64)
        if not len(self.places):
            return found
        keys, sources = self.places_of(facts, ordinals), facts.sources[ordinals]
        at = self.places.searchsorted(keys, "right") if after else self.places.searchsorted(keys, "left") - 1
        step = 1 if after else -1
        asked = np.flatnonzero((at >= 0) & (at < len(self.places)))
        for _ in range(SKIPPED_MAX):
            seen = self.ordinals[at[asked]]
            same = facts.sources[seen] == sources[asked]
            alive = live[seen]
            found[asked[same & alive]] = seen[same & alive]
            asked = asked[same & ~alive]
            at[asked] += step
            asked = asked[(at[asked] >= 0) & (at[asked] < len(self.places))]
            if not len(asked):
                break
        return found

    def count(self, sources: NDArray[np.uint64]) -> NDArray[np.int64]:
        """How many documents each source has here."""
        rank = _rank(self._sources, sources)
        half = np.uint64(_HALF)
        low = self.places.searchsorted(rank << half)
        return self.places.searchsorted((rank + np.uint64(1)) << half) - low


class Places:
    """The places of all documents of one view of the index. Safe between threads."""

    def __init__(self, view: IndexView, settled: _Part) -> None:
        """`settled`: the documents of the segments."""
        self._facts = view.facts
        self._parts = (settled, _Part(view.facts, view.settled, view.documents))

    @property
    def sources(self) -> NDArray[np.uint64]:
        """The hash of each document's source, 0 for none."""
        return self._facts.sources

    @property
    def titles(self) -> NDArray[np.uint64]:
        """The hash of each document's title, 0 for none."""
        return self._facts.titles

    @property
    def has_titles(self) -> bool:
        """Whether any document has a title that can be looked up."""
        return any(len(part.titles) for part in self._parts)

    def placed(self, ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of them have both a source and a sequence."""
        placed: NDArray[np.bool_] = (self._facts.sources[ordinals] > 0) & (
            self._facts.sequences[ordinals] > 0
        )
        return placed

    def beside(
        self, ordinals: NDArray[np.int64], live: NDArray[np.bool_], *, after: bool
    ) -> NDArray[np.int64]:
        """For each document the nearest live one after (before) it in the same source, or NOBODY.

        Documents with one sequence are no neighbours of each other; of several that are equally near it
        is the first (last). It counts only if it has the same title or, where the
        document has none, none: what stands under another heading is another text.
        """
        found = np.full(len(ordinals), NOBODY, np.int64)
        asked = np.flatnonzero((ordinals >= 0) & self.placed(np.maximum(ordinals, 0)))
        if not len(asked):
            return found
        own = ordinals[asked]
        settled, newest = (part.beyond(self._facts, own, live, after=after) for part in self._parts)
        first, second = (self._facts.sequences[np.maximum(side, 0)] for side in (settled, newest))
        # Ordinals of segments are lower: of equals the first is there, the last among the newest.
        nearer = first <= second if after else first > second
        nearest = np.where((newest < 0) | ((settled >= 0) & nearer), settled, newest)
        right = (nearest >= 0) & (self.titles[np.maximum(nearest, 0)] == self.titles[own])
        found[asked[right]] = nearest[right]
        return found

    def source_sizes(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many placed documents, dead ones too, the source of each document has."""
        sources = self.sources[ordinals]
        settled, newest = (part.count(sources) for part in self._parts)
        return settled + newest

    def titled(self, hashes: NDArray[np.uint64], live: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
        """Which hash and which live document, where one is that of a whole title that at most `most` have."""
        settled, newest = self._parts
        bits = first_bits(hashes)
        maybe = np.flatnonzero(settled.first_bits[bits] | newest.first_bits[bits])
        asked = hashes[maybe]
        ranges = [
            (part.titles.searchsorted(asked, "left"), part.titles.searchsorted(asked, "right"), part)
            for part in self._parts
        ]
        some = sum((ends - starts for starts, ends, _ in ranges), np.zeros(len(asked), np.int64)) > 0
        found: list[tuple[int, int]] = []
        for number in np.flatnonzero(some).tolist():
            having = np.concatenate(
                [part.titled[starts[number] : ends[number]] for starts, ends, part in ranges]
            )
            having = having[live[having]]
            if len(having) <= most:
                found.extend((int(maybe[number]), ordinal) for ordinal in having.tolist())
        return found


class PlacesCache:
    """The places of one store, made again when the index has changed."""

    def __init__(self) -> None:
        self._settled: tuple[tuple[object, ...], _Part] | None = None
        self._kept: tuple[tuple[object, ...], Places] | None = None

    def places(self, view: IndexView) -> Places:
        """The places of the documents of `view`."""
        kept = self._kept
        if kept is None or kept[0] != view.content:
            settled = self._settled
            if settled is None or settled[0] != view.content[1:]:
                settled = self._settled = (view.content[1:], _Part(view.facts, 0, view.settled))
            kept = self._kept = (view.content, Places(view, settled[1]))
        return kept[1]


def first_bits(hashes: NDArray[np.uint64]) -> NDArray[np.intp]:
    """What `_Part.first_bits` is asked by."""
    return (hashes >> np.uint64(64 - _FILTER_BITS)).astype(np.intp)


def _rank(known: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Odd for what is known, 2n + 1 for the n-th; even for what lies between."""
    if not len(known):
        return np.zeros(len(values), np.uint64)
    at = known.searchsorted(values)
    exact = known[np.minimum(at, len(known) - 1)] == values
    rank: NDArray[np.uint64] = (2 * at + exact).astype(np.uint64)
    return rank
