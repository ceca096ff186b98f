"""The index as of one moment, as searching sees it: postings and lengths, read when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from backends.base import Reader
from engine.followers import postings
from engine.followers.segments import LENGTHS, TAIL_LEVEL, SegmentName, Summary
from engine.text.identifiers import TERM_BYTES_MAX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CACHE_BYTES_MAX: Final = 32 << 20
CACHE_ENTRY_BYTES: Final = 400
"""What an entry costs beside its numbers: two array objects, a tuple and a key, measured."""

DENSE_SHARE: Final = 2
"""Where one document in so many has a term, each gets a number: faster by a third, and no larger."""


class Postings(NamedTuple):
    """Who of one segment mentions a term; read-only arrays of equal length."""

    start: int
    """The ordinal that offset 0 stands for."""
    offsets: NDArray[np.uint16]
    """Ascending."""
    tfs: NDArray[np.uint8]


class Impacts(NamedTuple):
    """What mentioning a term is worth in the documents of one segment: tf / (norm + tf); read-only."""

    start: int
    """The ordinal that offset 0 stands for."""
    offsets: NDArray[np.uint16] | None
    """Ascending; None where `values` has a number for every document, 0 for those without the term."""
    values: NDArray[np.float64]


class TermImpacts(NamedTuple):
    """The impacts of a term, segment by segment, ordinals ascending over all."""

    df: int
    """How many documents mention it."""
    parts: tuple[Impacts, ...]


class Scaled:
    """What is worked out for one content of the index and one pair of BM25's constants."""

    def __init__(self, key: tuple[object, ...], norms: NDArray[np.float64]) -> None:
        """`key` is all they depend on; `norms`: k1 · (1 − b + b · length / average length), by ordinal."""
        self.key = key
        self.norms = norms
        self.impacts: dict[str, TermImpacts] = {}


class Tail:
    """The documents after the last segment, made from the journal. Immutable."""

    def __init__(self, head: bytes, start: int, documents: tuple[Sequence[str], ...]) -> None:
        """`head` is the row the tail belongs to; `documents` are the terms of ordinals from `start` on."""
        self.head = head
        self.start = start
        self.documents = documents

    @property
    def end(self) -> int:
        """The number of ordinals, N."""
        return self.start + len(self.documents)

    @property
    def key(self) -> bytes:
        """Its key in the `index` tree."""
        return bytes([TAIL_LEVEL]) + self.start.to_bytes(4, "big")

    @cached_property
    def columns(self) -> postings.Columns:
        """Its content as a segment's columns."""
        return postings.build(self.documents)

    @cached_property
    def rows(self) -> list[postings.TermRow]:
        """The rows it would have as a segment, in key order."""
        return self._encoded[0]

    @cached_property
    def summary(self) -> Summary:
        """The summary it would have as a segment."""
        return self._encoded[1]

    @cached_property
    def total_length(self) -> int:
        """The sum of its documents' lengths; unlike `summary` it needs no hashing."""
        return int(self.columns.lengths.sum(dtype="i8"))

    @cached_property
    def _encoded(self) -> tuple[list[postings.TermRow], Summary]:
        return postings.encode_few(self.documents)

    @cached_property
    def _ranges(self) -> dict[bytes, tuple[int, int]]:
        ends = self.columns.dfs.cumsum()
        starts = ends - self.columns.dfs
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return dict(zip(self.columns.terms, pairs, strict=True))

    def find(self, term: bytes) -> Postings | None:
        """The postings of `term` among these documents."""
        found = self._ranges.get(term)
        if found is None:
            return None
        start, end = found
        return Postings(self.start, self.columns.offsets[start:end], self.columns.tfs[start:end])


class PostingsCache:
    """Decoded rows of segments and impacts, at most CACHE_BYTES_MAX of both; emptied when full.

    A row is named by the root of its segment, which stands for the bytes it was decoded from, so no
    entry is ever wrong. Impacts go first: they are larger, and of no use after the next document.
    The norms come on top, 8 bytes a document. Safe between threads: a lost entry is made again.
    """

    def __init__(self) -> None:
        self._postings: dict[tuple[bytes, bytes], tuple[NDArray[np.uint16], NDArray[np.uint8]] | None] = {}
        self._lengths: dict[bytes, NDArray[np.uint16]] = {}
        self._row_bytes = 0
        self._scaled: Scaled | None = None
        self._impact_bytes = 0

    @property
    def size(self) -> int:
        """How many bytes are kept, norms not counted."""
        return self._row_bytes + self._impact_bytes

    def postings(
        self, rows: Reader, name: SegmentName, root: bytes, term: bytes
    ) -> tuple[NDArray[np.uint16], NDArray[np.uint8]] | None:
        """The decoded row of `term` in a segment, or None if it has none.

        Raises:
            CorruptionError: the row is malformed.
        """
        try:
            return self._postings[root, term]
        except KeyError:
            pass
        key = name.row_prefix + term
        value = rows.get(key)
        found = None if value is None else postings.decode_postings(key, value, name.documents)
        self._make_room(rows=len(value or b"") + CACHE_ENTRY_BYTES)
        self._postings[root, term] = found
        return found

    def lengths(self, rows: Reader, name: SegmentName, root: bytes) -> NDArray[np.uint16]:
        """The lengths of a segment's documents.

        Raises:
            CorruptionError: the row is missing or malformed.
        """
        found = self._lengths.get(root)
        if found is None:
            key = name.row_prefix + LENGTHS
            found = postings.decode_lengths(key, rows.get(key), name.documents)
            self._make_room(rows=2 * name.documents + CACHE_ENTRY_BYTES)
            self._lengths[root] = found
        return found

    def scaled(self, key: tuple[object, ...]) -> Scaled | None:
        """What was kept last, if it depends on the same."""
        kept = self._scaled
        return kept if kept is not None and kept.key == key else None

    def keep_scaled(self, scaled: Scaled) -> None:
        """Keep this instead of what was kept last: queries between two writes share it."""
        self._impact_bytes = 0
        self._scaled = scaled

    def keep_impacts(self, scaled: Scaled, term: str, found: TermImpacts) -> None:
        """Keep the impacts of one more term."""
        size = 0
        for _, offsets, values in found.parts:
            size += values.nbytes + (0 if offsets is None else offsets.nbytes) + CACHE_ENTRY_BYTES
        self._make_room(impacts=size + CACHE_ENTRY_BYTES)
        scaled.impacts[term] = found

    def _make_room(self, *, rows: int = 0, impacts: int = 0) -> None:
        if self.size + rows + impacts > CACHE_BYTES_MAX:
            if self._scaled is not None:
                self._scaled.impacts.clear()
            self._impact_bytes = 0
        if self.size + rows + impacts > CACHE_BYTES_MAX:
            self._postings.clear()
            self._lengths.clear()
            self._row_bytes = 0
        self._row_bytes += rows
        self._impact_bytes += impacts


class IndexView:
    """What searching needs, as of the rows it was made from. Safe between threads."""

    def __init__(
        self, rows: Reader, segments: list[tuple[SegmentName, Summary]], tail: Tail, cache: PostingsCache
    ) -> None:
        """`segments` in the order of their ordinals, without a gap, and `tail` after them."""
        self._rows = rows
        self._segments = segments
        self._tail = tail
        self._cache = cache
        # The roots and the head stand for every document, and so for every length.
        self._content = (tail.head, *(summary.root for _, summary in segments))
        self._ends = {name.start: name.end for name, _ in segments} | {tail.start: tail.end}
        self.documents: int = tail.end
        """N: all ordinals ever given, dead ones too."""
        self.total_length: int = sum(summary.total_length for _, summary in segments) + (
            tail.total_length if tail.documents else 0
        )
        """Sum of the lengths of all documents."""

    def postings(self, term: str) -> list[Postings]:
        """Who mentions `term`, segment by segment, ordinals ascending over the whole list.

        Raises:
            CorruptionError: a row is malformed.
        """
        raw = term.encode()
        if not 0 < len(raw) <= TERM_BYTES_MAX or raw == LENGTHS:
            return []
        found = []
        for name, summary in self._segments:
            decoded = self._cache.postings(self._rows, name, summary.root, raw)
            if decoded is not None:
                found.append(Postings(name.start, *decoded))
        if self._tail.documents and (newest := self._tail.find(raw)) is not None:
            found.append(newest)
        return found

    @cached_property
    def lengths(self) -> NDArray[np.uint16]:
        """The length of every document, by ordinal; 0 for one that has no body.

        Raises:
            CorruptionError: a row is missing or malformed.
        """
        import numpy as np

        parts = [self._cache.lengths(self._rows, name, summary.root) for name, summary in self._segments]
        if self._tail.documents:
            parts.append(self._tail.columns.lengths)
        return np.concatenate([np.zeros(0, "<u2"), *parts])

    def impacts(self, term: str, k1: float, b: float) -> TermImpacts:
        """What mentioning `term` is worth, and in which documents.

        Raises:
            CorruptionError: a row is malformed.
        """
        scaled = self._scaled(k1, b)
        found = scaled.impacts.get(term)
        if found is None:
            parts = self.postings(term)
            df = sum(len(part.offsets) for part in parts)
            found = TermImpacts(df, tuple(self._weigh(part, scaled.norms) for part in parts))
            self._cache.keep_impacts(scaled, term, found)
        return found

    def _weigh(self, part: Postings, norms: NDArray[np.float64]) -> Impacts:
        import numpy as np

        start = part.start
        offsets = part.offsets.astype(np.int64)
        values = part.tfs.astype(np.float64)
        values /= norms[start:].take(offsets) + values
        documents = self._ends[start] - start
        if len(offsets) * DENSE_SHARE < documents:
            return Impacts(start, offsets.astype(np.uint16), values)
        dense = np.zeros(documents)
        dense[offsets] = values
        return Impacts(start, None, dense)

    def _scaled(self, k1: float, b: float) -> Scaled:
        import numpy as np

        key = (k1, b, *self._content)
        kept = self._cache.scaled(key)
        if kept is not None:
            return kept
        # An index of empty documents has no average; no term that counts occurs in it either.
        average = self.total_length / self.documents if self.total_length else 1.0
        found = Scaled(key, k1 * ((1 - b) + b * (self.lengths.astype(np.float64) / average)))
        self._cache.keep_scaled(found)
        return found
