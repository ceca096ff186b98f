"""The positions of atoms in their sources, and the titles of all atoms, as sorted arrays in memory.

The arrays are computed from the index (SPEC: Index) when a query needs them. They are not stored. The
documents in the segments of the index are sorted again only when the segments change. The newest documents,
at most 255, are not yet in a segment. These documents are sorted again whenever events were appended.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.base.native import NATIVE
from engine.index.columns import Facts
from engine.index.index_view import IndexView

SKIPPED_MAX: Final = 8
"""The largest number of dead documents that are skipped in the search for a live neighbour."""

NO_NEIGHBOUR: Final = -1
"""The value that is returned in place of an ordinal for a document without a neighbour."""

_HALF: Final = 32
_NOWHERE: Final = (1 << 32) - 1
"""The place of a document without a position."""
_FILTER_BITS: Final = 16


class _SortedDocuments:
    """A range of documents in two orders.

    The first order is by source, sequence and ordinal. The second order is by title.

    A sort key is one number: its upper half is the rank of the document's source, and its lower half is the
    rank of the document's sequence. The ranks number the sources and the sequences that occur in this range.
    A value that does not occur in the range gets a rank between the rank of the next lower value and the rank
    of the next higher value. So documents outside the range can be compared with documents in the range.
    """

    def __init__(self, facts: Facts, start: int, end: int) -> None:
        """Sort the documents with ordinals from `start` up to, but not including, `end`."""
        self.start, self.end = start, end
        sources, sequences, all_titles = (column[start:end] for column in facts[:3])
        placed = np.flatnonzero((sources > 0) & (sequences > 0))
        placed = placed[sorted_pairs(sources[placed], sequences[placed])]
        sources, sequences = sources[placed], sequences[placed]
        first = changes(sources)
        self._sources = sources[first]
        self._sequences, ranks_of_sequences = _numbered(sequences)
        # The ranks of known values, as `_rank` assigns them.
        self.keys = 2 * np.cumsum(first, dtype=np.uint64) - 1
        self.keys <<= np.uint64(_HALF)
        self.keys |= ranks_of_sequences
        self.ordinals = (placed + start).astype(np.uint32)
        self._places = np.full(end - start, _NOWHERE, np.uint32)
        self._places[placed] = np.arange(len(placed), dtype=np.uint32)
        titled = np.flatnonzero(all_titles)
        titled = titled[all_titles[titled].argsort(kind="stable")]
        self.titles = all_titles[titled]
        self.titled = titled + start
        self.kernel_order: tuple[Any, ...] = ()
        """The documents in the form that the compiled functions read. It shares memory with the arrays."""
        if NATIVE is not None:
            self.keys, keys = _shared(self.keys)
            self.ordinals, ordinals = _shared(self.ordinals)
            self._places, places = _shared(self._places)
            self.kernel_order = (
                *(start, keys, ordinals, places),
                *(some.tobytes() for some in (all_titles, self._sources, self._sequences)),
            )
        # True at an index if the hash of any title begins with the bits of this index. This test rejects most
        # phrases of a text.
        self.first_bits = np.zeros(1 << _FILTER_BITS, np.bool_)
        self.first_bits[first_bits(self.titles)] = True

    def _keys(self, sources: NDArray[np.uint64], sequences: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sort keys of documents with these sources and sequences, in or outside this range."""
        return _rank(self._sources, sources) << np.uint64(_HALF) | _rank(self._sequences, sequences)

    def _keys_at(self, facts: Facts, ordinals: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the sort keys of documents that have a position.

        The places of documents in this range were computed in advance.
        """
        inside = (ordinals >= self.start) & (ordinals < self.end)
        if inside.all():
            return self.keys[self._places[ordinals - self.start]]
        keys = np.empty(len(ordinals), np.uint64)
        keys[inside] = self.keys[self._places[ordinals[inside] - self.start]]
        others = ordinals[~inside]
        keys[~inside] = self._keys(facts.sources[others], facts.sequences[others])
        return keys

    def nearest(
        self, facts: Facts, ordinals: NDArray[np.int64], live: NDArray[np.bool_], *, after: bool
    ) -> NDArray[np.int64]:
        """Return, for each document, the nearest live document of this range after it in the same source.

        If `after` is False, return the nearest live document before it. For a document without such a
        neighbour, return NO_NEIGHBOUR.
        """
        neighbours = np.full(len(ordinals), NO_NEIGHBOUR, np.int64)
        if not len(self.keys):
            return neighbours
        keys, sources = self._keys_at(facts, ordinals), facts.sources[ordinals]
        at = self.keys.searchsorted(keys, "right") if after else self.keys.searchsorted(keys, "left") - 1
        step = 1 if after else -1
        pending = np.flatnonzero((at >= 0) & (at < len(self.keys)))
        for _ in range(SKIPPED_MAX):
            seen = self.ordinals[at[pending]]
            same = facts.sources[seen] == sources[pending]
            alive = live[seen]
            neighbours[pending[same & alive]] = seen[same & alive]
            pending = pending[same & ~alive]
            at[pending] += step
            pending = pending[(at[pending] >= 0) & (at[pending] < len(self.keys))]
            if not len(pending):
                break
        return neighbours

    def count(self, sources: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return, for each source, the number of documents in this range with a position in the source."""
        rank = _rank(self._sources, sources)
        half = np.uint64(_HALF)
        low = self.keys.searchsorted(rank << half)
        return self.keys.searchsorted((rank + np.uint64(1)) << half) - low


class Positions:
    """The positions of all documents of one index. Safe to use from several threads."""

    def __init__(self, index: IndexView, settled: _SortedDocuments) -> None:
        """Sort the documents that are not yet in a segment.

        `settled` holds the documents in segments, which are already sorted.
        """
        self._facts = index.facts
        self._parts = (settled, _SortedDocuments(index.facts, index.settled, index.documents))

    @property
    def sources(self) -> NDArray[np.uint64]:
        """The hash of the source of each document; 0 if the document has no source."""
        return self._facts.sources

    @property
    def titles(self) -> NDArray[np.uint64]:
        """The hash of the title of each document; 0 if the document has no title."""
        return self._facts.titles

    @property
    def kernel_orders(self) -> list[tuple[Any, ...]]:
        """The orders of all documents in the form that the compiled functions read."""
        return [part.kernel_order for part in self._parts]

    @property
    def has_titles(self) -> bool:
        """True if at least one document has a title that can be looked up."""
        return any(len(part.titles) for part in self._parts)

    def placed(self, ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for each document that has both a source and a sequence."""
        placed: NDArray[np.bool_] = (self._facts.sources[ordinals] > 0) & (
            self._facts.sequences[ordinals] > 0
        )
        return placed

    def beside(
        self, ordinals: NDArray[np.int64], live: NDArray[np.bool_], *, after: bool
    ) -> NDArray[np.int64]:
        """Return, for each document, the nearest live document after it in the same source.

        If `after` is False, return the nearest live document before it. For a document without such a
        neighbour, return NO_NEIGHBOUR. Documents with the same sequence are not neighbours of each other. If
        several documents are equally near, the neighbour is the first of these documents, or the last if
        `after` is False. A document and its neighbour have the same title, or both have no title, because
        text under any other title belongs to another section.
        """
        neighbours = np.full(len(ordinals), NO_NEIGHBOUR, np.int64)
        placed = np.flatnonzero((ordinals >= 0) & self.placed(np.maximum(ordinals, 0)))
        if not len(placed):
            return neighbours
        placed_ordinals = ordinals[placed]
        settled, newest = (
            part.nearest(self._facts, placed_ordinals, live, after=after) for part in self._parts
        )
        first, second = (self._facts.sequences[np.maximum(side, 0)] for side in (settled, newest))
        # Segments have the lower ordinals. At equal sequences, the first document is therefore in a
        # segment, and the last one is among the newest.
        nearer = first <= second if after else first > second
        nearest = np.where((newest < 0) | ((settled >= 0) & nearer), settled, newest)
        right = (nearest >= 0) & (self.titles[np.maximum(nearest, 0)] == self.titles[placed_ordinals])
        neighbours[placed[right]] = nearest[right]
        return neighbours

    def source_sizes(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each document, the number of documents with a position in its source.

        Both live and dead documents are counted.
        """
        sources = self.sources[ordinals]
        settled, newest = (part.count(sources) for part in self._parts)
        return settled + newest

    def titled(self, hashes: NDArray[np.uint64], live: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
        """Return (index into `hashes`, ordinal) for each live document whose title has one of the hashes.

        A title is left out if more than `most` live documents have it.
        """
        settled, newest = self._parts
        bits = first_bits(hashes)
        possible = np.flatnonzero(settled.first_bits[bits] | newest.first_bits[bits])
        remaining = hashes[possible]
        ranges = [
            (part.titles.searchsorted(remaining, "left"), part.titles.searchsorted(remaining, "right"), part)
            for part in self._parts
        ]
        some = sum((ends - starts for starts, ends, _ in ranges), np.zeros(len(remaining), np.int64)) > 0
        titled: list[tuple[int, int]] = []
        for number in np.flatnonzero(some).tolist():
            ordinals = np.concatenate(
                [part.titled[starts[number] : ends[number]] for starts, ends, part in ranges]
            )
            ordinals = ordinals[live[ordinals]]
            if len(ordinals) <= most:
                titled.extend((int(possible[number]), ordinal) for ordinal in ordinals.tolist())
        return titled


class PositionsCache:
    """A cache of the positions of one store. The positions are computed again when the index has changed."""

    def __init__(self) -> None:
        self._settled: tuple[tuple[object, ...], _SortedDocuments] | None = None
        self._latest: tuple[tuple[object, ...], Positions] | None = None

    def positions(self, index: IndexView) -> Positions:
        """Return the positions of the documents of `index`."""
        latest = self._latest
        if latest is None or latest[0] != index.content:
            settled = self._settled
            if settled is None or settled[0] != index.content[1:]:
                settled = self._settled = (index.content[1:], _SortedDocuments(index.facts, 0, index.settled))
            latest = self._latest = (index.content, Positions(index, settled[1]))
        return latest[1]


def first_bits(hashes: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the first 16 bits of each hash, as indexes into `_SortedDocuments.first_bits`."""
    return (hashes >> np.uint64(64 - _FILTER_BITS)).astype(np.intp)


def _shared(numbers: NDArray[T]) -> tuple[NDArray[T], bytes]:
    """Return the bytes of an array, and an equal array that shows these bytes."""
    raw = numbers.tobytes()
    return np.frombuffer(raw, numbers.dtype), raw


def _rank(known: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the rank of each value among the ascending `known` values.

    The rank is 2n + 1 for a known value and 2n for any other value, where n is the number of known values
    that are lower than the value.
    """
    if not len(known):
        return np.zeros(len(values), np.uint64)
    at = known.searchsorted(values)
    exact = known[np.minimum(at, len(known) - 1)] == values
    rank: NDArray[np.uint64] = (2 * at + exact).astype(np.uint64)
    return rank


def _numbered(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the distinct values in ascending order, and the rank of each value among them.

    Most sequences are small numbers. Then a table of them takes a quarter of the time of sorting them.
    """
    end = int(values.max(initial=0)) + 1
    if end > 4 * len(values):
        known = distinct(values)
        return known, _rank(known, values)
    occurs = np.zeros(end, np.bool_)
    occurs[values] = True
    ranks = 2 * np.cumsum(occurs, dtype=np.uint64) - 1
    return np.flatnonzero(occurs).astype(np.uint64), ranks[values]


T = TypeVar("T", bound=np.generic)


def distinct(values: NDArray[T]) -> NDArray[T]:
    """Return the distinct numbers of a one-dimensional array in ascending order, as `numpy.unique` does.

    Unlike this function, `numpy.unique` imports masked arrays when a process calls it for the first time.
    This import takes 10 ms (measured).
    """
    ordered = np.sort(values)
    return ordered[changes(ordered)]


def changes(values: NDArray[T]) -> NDArray[np.bool_]:
    """Return True for the first value, and for each value that differs from the value before it."""
    changed = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def sorted_pairs(major: NDArray[np.uint64], minor: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the indexes that sort pairs of numbers, as `numpy.lexsort((minor, major))` does.

    Pairs that are already in order form a run, and each run is moved as a whole. The runs are long if a store
    was filled source by source. Then this function is ten times as fast as `numpy.lexsort` (measured).
    """
    count = len(major)
    begins = changes(major)
    begins[1:] |= minor[1:] < minor[:-1]
    starts = np.flatnonzero(begins)
    if 3 * len(starts) > count:
        return np.lexsort((minor, major))
    order = np.lexsort((minor[starts], major[starts]))
    sizes = np.diff(starts, append=count)[order]
    places = np.arange(count) + np.repeat(starts[order] - (np.cumsum(sizes) - sizes), sizes)
    ordered, after = major[places], minor[places]
    # Runs of one source may overlap, and equal pairs must keep their order.
    wrong = after[1:] < after[:-1]
    wrong |= (after[1:] == after[:-1]) & (places[1:] < places[:-1])
    wrong &= ordered[1:] == ordered[:-1]
    return np.lexsort((minor, major)) if wrong.any() else places
