"""Where atoms stand: who is next to whom in a source, and which titles there are.

Worked out from the facts of the index (SPEC: Index), for searching only: nothing here is stored.
A place is one number, the upper half the source's hash, the lower half the sequence; sorted, the
atoms of a source stand side by side. Segments keep their order until they change; the newest
documents, at most 255, are sorted each time the head has moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.followers.index_view import IndexView

SKIPPED_MAX: Final = 8
"""So many dead neighbours are stepped over before an atom counts as having none."""

NOBODY: Final = -1

_HALF: Final = 32


_FILTER_BITS: Final = 16


class _Part(NamedTuple):
    """Some documents, sorted twice: by place and by title."""

    places: NDArray[np.uint64]
    ordinals: NDArray[np.int64]
    titles: NDArray[np.uint64]
    titled: NDArray[np.int64]
    first_bits: NDArray[np.bool_]
    """Whether any title begins with these bits: most phrases of a text are told apart by them alone."""


class Titled(NamedTuple):
    """A title that was asked for, and an atom that has it."""

    number: int
    """Which of the hashes asked for."""
    ordinal: int


class Places:
    """The places of all documents of one view of the index. Safe between threads."""

    def __init__(self, view: IndexView, settled: _Settled) -> None:
        """`settled` keeps the order of the segments from view to view."""
        facts = view.facts
        self.sources = facts.sources
        self.titles = facts.titles
        self._sequences = facts.sequences
        self._shift, self._settled = settled.of(view)
        self._newest = self._sort(view.settled, view.documents)
        self._parts = (self._settled, self._newest)

    @property
    def has_titles(self) -> bool:
        """Whether any document has a title that can be looked up."""
        return any(len(part.titles) for part in self._parts)

    def keys(self, ordinals: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The places of documents; meaningless for those without a source or sequence: see `placed`."""
        return _keys(self.sources[ordinals], self._sequences[ordinals], self._shift)

    def placed(self, ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of them have both a source and a sequence."""
        placed: NDArray[np.bool_] = (self.sources[ordinals] > 0) & (self._sequences[ordinals] > 0)
        return placed

    def beside(
        self,
        ordinals: NDArray[np.int64],
        live: NDArray[np.bool_],
        *,
        after: bool,
        same_title: bool = True,
    ) -> NDArray[np.int64]:
        """For each document the nearest live one after (before) it in the same source, or NOBODY.

        With `same_title` only one with the same title counts, or, where it has none, without a title: a
        document under another heading is another text.
        """
        import numpy as np

        found = np.full(len(ordinals), NOBODY, np.int64)
        asked = np.flatnonzero((ordinals >= 0) & self.placed(np.maximum(ordinals, 0)))
        if not len(asked):
            return found
        own = ordinals[asked]
        keys = self.keys(own)
        sides = [self._side(part, keys, live, after=after) for part in self._parts]
        nearest = _nearer(self, *sides, after=after)
        same = nearest >= 0
        other = np.maximum(nearest, 0)
        same &= self.sources[other] == self.sources[own]
        if same_title:
            same &= self.titles[other] == self.titles[own]
        found[asked[same]] = nearest[same]
        return found

    def source_sizes(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many placed documents, dead ones too, the source of each document has."""
        import numpy as np

        low = self.keys(ordinals) >> np.uint64(_HALF) << np.uint64(_HALF)
        high = low + np.uint64((1 << _HALF) - 1)
        return sum(
            (
                part.places.searchsorted(high, "right") - part.places.searchsorted(low, "left")
                for part in self._parts
            ),
            np.zeros(len(ordinals), np.int64),
        )

    def titled(self, hashes: NDArray[np.uint64], most: int) -> list[Titled]:
        """The documents whose whole title has one of these hashes; none for a title of more than `most`."""
        import numpy as np

        bits = (hashes >> np.uint64(64 - _FILTER_BITS)).astype(np.intp)
        maybe = np.flatnonzero(self._parts[0].first_bits[bits] | self._parts[1].first_bits[bits])
        asked = hashes[maybe]
        ranges = [
            (part.titles.searchsorted(asked, "left"), part.titles.searchsorted(asked, "right"), part)
            for part in self._parts
        ]
        counts = sum((ends - starts for starts, ends, _ in ranges), np.zeros(len(asked), np.int64))
        return [
            Titled(int(maybe[number]), int(ordinal))
            for number in np.flatnonzero((counts > 0) & (counts <= most)).tolist()
            for starts, ends, part in ranges
            for ordinal in part.titled[starts[number] : ends[number]]
        ]

    def _side(
        self, part: _Part, keys: NDArray[np.uint64], live: NDArray[np.bool_], *, after: bool
    ) -> NDArray[np.int64]:
        """The nearest live document of a part beyond each key, whatever its source, or NOBODY."""
        import numpy as np

        step = 1 if after else -1
        at = part.places.searchsorted(keys, "right") if after else part.places.searchsorted(keys, "left") - 1
        found = np.full(len(keys), NOBODY, np.int64)
        for _ in range(SKIPPED_MAX):
            within = (at >= 0) & (at < len(part.places)) & (found < 0)
            if not within.any():
                break
            seen = part.ordinals[at[within]]
            found[within] = np.where(live[seen], seen, NOBODY)
            at = at + step
        return found

    def _sort(self, start: int, end: int) -> _Part:
        return _sorted(self.sources, self._sequences, self.titles, start, end, self._shift)


class _Settled:
    """Keeps the order of the segments of one store, as long as they stay."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[object, ...], int, _Part] | None = None

    def of(self, view: IndexView) -> tuple[int, _Part]:
        """By how much sequences are shortened, and the documents of the segments in order."""
        kept = self._kept
        facts = view.facts
        longest = int(facts.sequences.max(initial=0)).bit_length()
        key = (longest > _HALF and longest, *view.content[1:])
        if kept is None or kept[0] != key:
            shift = max(longest - _HALF, 0)
            part = _sorted(facts.sources, facts.sequences, facts.titles, 0, view.settled, shift)
            kept = self._kept = (key, shift, part)
        return kept[1], kept[2]


class PlacesCache:
    """The places of one store, made again when the index has changed."""

    def __init__(self) -> None:
        self._settled = _Settled()
        self._kept: tuple[tuple[object, ...], Places] | None = None

    def places(self, view: IndexView) -> Places:
        """The places of the documents of `view`."""
        kept = self._kept
        if kept is None or kept[0] != view.content:
            kept = self._kept = (view.content, Places(view, self._settled))
        return kept[1]


def _keys(sources: NDArray[np.uint64], sequences: NDArray[np.uint64], shift: int) -> NDArray[np.uint64]:
    import numpy as np

    half = np.uint64(_HALF)
    return (sources >> half << half) | (sequences >> np.uint64(shift))


def _sorted(
    sources: NDArray[np.uint64],
    sequences: NDArray[np.uint64],
    titles: NDArray[np.uint64],
    start: int,
    end: int,
    shift: int,
) -> _Part:
    import numpy as np

    placed = np.flatnonzero((sources[start:end] > 0) & (sequences[start:end] > 0)) + start
    keys = _keys(sources[placed], sequences[placed], shift)
    # Stable, so that documents of one place stand in the order of their ordinals.
    order = keys.argsort(kind="stable")
    titled = np.flatnonzero(titles[start:end]) + start
    by_title = titles[titled].argsort(kind="stable")
    first_bits = np.zeros(1 << _FILTER_BITS, np.bool_)
    first_bits[(titles[titled] >> np.uint64(64 - _FILTER_BITS)).astype(np.intp)] = True
    return _Part(keys[order], placed[order], titles[titled][by_title], titled[by_title], first_bits)


def _nearer(
    places: Places, one: NDArray[np.int64], other: NDArray[np.int64], *, after: bool
) -> NDArray[np.int64]:
    """Of two documents beyond the same place the one that is nearer to it."""
    import numpy as np

    ones, others = places.keys(np.maximum(one, 0)), places.keys(np.maximum(other, 0))
    first = ones <= others if after else ones >= others
    return np.where((other < 0) | ((one >= 0) & first), one, other)
