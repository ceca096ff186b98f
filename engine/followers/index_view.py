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


class Postings(NamedTuple):
    """Who of one segment mentions a term; read-only arrays of equal length."""

    start: int
    """The ordinal that offset 0 stands for."""
    offsets: NDArray[np.uint16]
    """Ascending."""
    tfs: NDArray[np.uint8]


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
    """Decoded rows of segments, at most CACHE_BYTES_MAX; emptied when full.

    An entry is named by the root of its segment, which stands for the bytes it was decoded from, so
    no entry is ever wrong. Safe between threads: a lost entry is read again.
    """

    def __init__(self) -> None:
        self._postings: dict[tuple[bytes, bytes], tuple[NDArray[np.uint16], NDArray[np.uint8]] | None] = {}
        self._lengths: dict[bytes, NDArray[np.uint16]] = {}
        self._bytes = 0
        self.norms: tuple[tuple[object, ...], NDArray[np.float64]] | None = None
        """What `IndexView.norms` gave last, after what it depends on: queries between two writes share it."""

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
        self._make_room(len(value or b""))
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
            self._make_room(2 * name.documents)
            self._lengths[root] = found
        return found

    def _make_room(self, size: int) -> None:
        self._bytes += size + CACHE_ENTRY_BYTES
        if self._bytes > CACHE_BYTES_MAX:
            self._postings.clear()
            self._lengths.clear()
            self._bytes = size + CACHE_ENTRY_BYTES


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

    def df(self, term: str) -> int:
        """How many documents mention `term`."""
        return sum(len(part.offsets) for part in self.postings(term))

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

    def norms(self, k1: float, b: float) -> NDArray[np.float64]:
        """What BM25 adds to tf for each document: k1 · (1 − b + b · length / average length)."""
        import numpy as np

        key = (k1, b, *self._content)
        kept = self._cache.norms
        if kept is not None and kept[0] == key:
            return kept[1]
        # An index of empty documents has no average; no term that counts occurs in it either.
        average = self.total_length / self.documents if self.total_length else 1.0
        found: NDArray[np.float64] = k1 * ((1 - b) + b * (self.lengths.astype(np.float64) / average))
        self._cache.norms = (key, found)
        return found
