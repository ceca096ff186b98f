"""A view of the index in one snapshot, for searching. Rows are read on demand.

The view consists of the segments and of the tail, whose documents have no rows yet.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from backends.base import Reader
from engine.index.columns import Columns, Facts, NewDocument, columns_of
from engine.index.postings import Encoded, TermRow, build_segment, decode, hashed_rows
from engine.index.postings_cache import Norms, PartLengths, PostingsCache, df_of, part_lengths
from engine.index.segments import HEAD, HEAD_BYTES, IndexKeys, SegmentName, decode_blocks
from engine.text.analyzer import TERM_BYTES_MAX
from proofs.leaves import TAIL_LEVEL, Summary, segment_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import BitMap


class TermRows(NamedTuple):
    """The stored postings of a term: a row for each segment of the index, and one for the tail.

    A segment, or the tail, is called a part of the index.
    """

    df: int
    """The number of documents that mention the term."""
    rows: tuple[bytes | None, ...]
    """The well-formed row of the term in each part, in the form that is hashed (SPEC: Index); None if the
    part has no row for the term."""
    heads: tuple[bytes | None, ...]
    """The rows of the term in heads (titles and labels), part by part like `rows`. Empty if they were not
    requested."""


class Postings(NamedTuple):
    """The postings of a term in one segment, as two read-only arrays of equal length."""

    start: int
    """The ordinal of the document at offset 0."""
    offsets: NDArray[np.uint16]
    """The offsets of the documents that mention the term, ascending."""
    tfs: NDArray[np.uint8]
    """The frequency of the term in each document of `offsets`."""


class Tail:
    """The documents after the last segment, which are read from the journal. The object is immutable."""

    def __init__(self, head: bytes, start: int, documents: tuple[NewDocument, ...], keys: IndexKeys) -> None:
        """`head` is the value of the row `i/head`; `start` is the ordinal of the first of `documents`."""
        self.head = head
        self.keys = keys
        self.start = start
        self.documents = documents
        self.end = start + len(documents)
        """The ordinal after the last document of the tail. This is also N, the number of all ordinals."""

    @cached_property
    def columns(self) -> Columns:
        """The content of the tail as columns, in the same form as the columns of a segment."""
        return columns_of(self.documents, self.keys)

    @cached_property
    def rows(self) -> list[TermRow]:
        """The rows that would be hashed if the tail were a segment, in key order and without salts."""
        return hashed_rows(self.columns)

    @cached_property
    def summary(self) -> Summary:
        """The summary that the tail would have if it were a segment."""
        return self._encoded.summary

    @property
    def roots(self) -> list[bytes]:
        """The roots of the blocks that the tail would have if it were a segment."""
        return decode_blocks(self._encoded.blocks, self.summary.rows, "the tail").roots

    @cached_property
    def total_length(self) -> int:
        """The sum of the lengths of the documents. Unlike `summary`, this sum is computed without hashing."""
        return int(self.columns.lengths.sum(dtype="i8"))

    @cached_property
    def _encoded(self) -> Encoded:
        return build_segment(segment_key(TAIL_LEVEL, self.start), (), self.documents, self.keys)

    @cached_property
    def _ranges(self) -> dict[bytes, tuple[int, int]]:
        ends = self.columns.dfs.cumsum()
        starts = ends - self.columns.dfs
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return dict(zip(self.columns.terms, pairs, strict=True))

    def row(self, term: bytes) -> bytes | None:
        """Return the row that the term with this name would have if the tail were a segment, or None."""
        bounds = self._ranges.get(term)
        if bounds is None:
            return None
        start, end = bounds
        offsets, tfs = self._raw
        counts = tfs[start:end]
        return b"%b%c%b%b" % (
            (end - start).to_bytes(4, "big"),
            max(counts),
            offsets[2 * start : 2 * end],
            counts,
        )

    def found(self, terms: Sequence[bytes]) -> list[bytes | None]:
        """Return the row of each of `terms` (see `row`)."""
        ranges = self._ranges
        return [self.row(term) if term in ranges else None for term in terms]

    def df(self, term: bytes) -> int:
        """Return the number of documents that have the term with the name `term`."""
        start, end = self._ranges.get(term, (0, 0))
        return end - start

    @cached_property
    def _raw(self) -> tuple[bytes, bytes]:
        """The offsets and the frequencies of all postings, in the form of rows."""
        return self.columns.offsets.astype("<u2").tobytes(), self.columns.tfs.tobytes()


class IndexView:
    """The content of the index in one snapshot, for searching. Thread-safe.

    All methods and properties raise CorruptionError if a row is missing or malformed.
    """

    def __init__(
        self,
        rows: Reader,
        segments: list[tuple[SegmentName, Summary]],
        tail: Tail,
        cache: PostingsCache,
        keys: IndexKeys,
    ) -> None:
        """Create a view of `segments` and `tail`.

        The segments must be sorted by ordinal, without gaps. The tail follows the last segment.
        """
        self._rows = rows
        self._segments = segments
        self._tail = tail
        self._cache = cache
        self._keys = keys
        self.content: tuple[bytes, ...] = (tail.head, *(summary.root for _, summary in segments))
        """The row `i/head` and the roots of the segments, which together identify the content of the
        index."""
        self.settled: int = tail.start
        """The number of documents in segments. All other documents are in the tail."""
        self.starts: tuple[int, ...] = (*(name.start for name, _ in segments), tail.start)
        """The ordinal of the first document of each part. The last part is the tail, which may be empty."""
        self.documents: int = tail.end
        """N: the number of all ordinals ever assigned, including replaced, deleted and erased ordinals."""
        self.counted: int = sum(summary.documents for _, summary in segments) + (
            tail.columns.documents if tail.documents else 0
        )
        """The number of ordinals whose payload is not erased. The rarity of terms and the average length of
        documents are computed with this number."""
        self.total_length: int = sum(summary.total_length for _, summary in segments) + (
            tail.total_length if tail.documents else 0
        )
        """The sum of the lengths of all documents."""

    def postings(self, term: str) -> list[Postings]:
        """Return the postings of `term`, segment by segment, with ascending ordinals."""
        return self._decoded(self.find([term])[0].rows)

    def ordinals_with(self, term: str) -> BitMap:
        """Return the ordinals of all atoms that contain `term`, including dead atoms."""
        from pyroaring import BitMap

        ordinals = BitMap()
        for part in self.postings(term):
            # From an array of NumPy, a set is made through a list, which takes ten times as long.
            ordinals |= BitMap(array("I", (part.offsets.astype("u4") + part.start).tobytes()))
        return ordinals

    def df(self, term: str) -> int:
        """Return the number of documents that mention `term`."""
        return self.dfs([term])[0]

    def dfs(self, terms: Sequence[str]) -> list[int]:
        """Return the number of documents that mention each of `terms`."""
        keys = [term.encode() for term in terms]
        wanted = [raw for raw in keys if _can_be_indexed(raw)]
        names = self._keys.names(wanted)
        dfs = dict(zip(wanted, self._cache.dfs(self._rows, self._segments, names), strict=True))
        if self._tail.documents:
            for raw, name in zip(wanted, names, strict=True):
                dfs[raw] += self._tail.df(name)
        return [dfs.get(raw, 0) for raw in keys]

    def columns(self) -> Iterator[tuple[int, Columns]]:
        """Yield the whole content of each part, with the ordinal of its first document."""
        for name, summary in self._segments:
            yield name.start, decode(name, summary, self._rows.scan_prefix(name.row_prefix))
        if self._tail.documents:
            yield self._tail.start, self._tail.columns

    def heads(self, term: str) -> list[Postings]:
        """Return the postings of the documents that have `term` in their head.

        The head of a document is its title, or the label of a text without a title. Nearly all of these
        documents also have the term in their text; the exceptions are labels with asterisks inside a word.
        """
        return self._decoded(self.find([term], heads=True)[0].heads)

    def find(self, terms: Sequence[str], *, heads: bool = False) -> list[TermRows]:
        """Return the stored postings of each of `terms`; with `heads`, also the postings of the heads.

        All rows that are not cached are read together.
        """
        keys = [raw if _can_be_indexed(raw := term.encode()) else None for term in terms]
        wanted = [raw for raw in keys if raw is not None]
        if heads:
            wanted += [HEAD + raw for raw in wanted]
        names = self._keys.names(wanted)
        read = self._cache.rows(self._rows, self._segments, names)
        newest = self._tail.found(names) if self._tail.documents else [None] * len(wanted)
        others = len(wanted) // 2
        rows_found, at = [], 0
        for key in keys:
            if key is None:
                rows_found.append(TermRows(0, (), ()))
                continue
            tail = newest[at]
            df = read[at].df + (0 if tail is None else df_of(tail))
            in_heads = (*read[others + at].rows, newest[others + at]) if heads else ()
            rows_found.append(TermRows(df, (*read[at].rows, tail), in_heads))
            at += 1
        return rows_found

    def _decoded(self, rows: Sequence[bytes | None]) -> list[Postings]:
        return [
            Postings(start, *decoded(row))
            for start, row in zip(self.starts, rows, strict=False)
            if row is not None
        ]

    @cached_property
    def facts(self) -> Facts:
        """The facts of all documents, by ordinal. All facts are 0 for a document whose payload is destroyed.

        The facts are cached. When the index changes, only the facts of new segments are read.
        """
        return self._cache.facts(self._rows, self.content, self._segments, self._tail)

    def lengths_at(self, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the length of each of these documents. The ordinals must ascend."""
        import numpy as np

        lengths = np.zeros(len(ordinals))
        bounds = ordinals.searchsorted((*self.starts, self.documents)).tolist()
        for part, of_part in enumerate(self._lengths):
            low, high = bounds[part : part + 2]
            if low < high:
                local = ordinals[low:high] - self.starts[part]
                lengths[low:high] = np.frombuffer(of_part.raw, "<u2")[local]
        return lengths

    @cached_property
    def _lengths(self) -> list[PartLengths]:
        """The lengths of the documents of each part."""
        parts = self._cache.lengths(self._rows, self._segments)
        tail = part_lengths(self._tail.columns.lengths) if self._tail.documents else PartLengths(b"", 0, 0, 0)
        return [*parts, tail]

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the lengths of all documents, divided by their average; 0 without any."""
        # The sums are integers, so the spread does not depend on the order of the documents.
        total, squares = self.total_length, sum(part.squares for part in self._lengths)
        return math.sqrt(max(0, self.counted * squares - total * total)) / total if total else 0.0

    def norms(self, k1: float, b: float) -> Norms:
        """Return the lengths of all documents, and their norms with BM25's constants k1 and b.

        The norms are cached until the index changes.
        """
        import numpy as np

        key = (k1, b, *self.content)
        cached = self._cache.norms(key)
        if cached is not None:
            return cached
        parts = self._lengths
        # If all documents are empty, any positive number can stand for the average length.
        average = self.total_length / self.counted if self.total_length else 1.0
        possible = np.arange(max(part.longest for part in parts) + 1, dtype=np.float64)
        table = k1 * ((1 - b) + b * (possible / average))
        norms = Norms(
            tuple(part.raw for part in parts),
            tuple(table[[part.shortest for part in parts]].tolist()),
            table.astype("<f8").tobytes(),
        )
        self._cache.cache_norms(key, norms)
        return norms


def decoded(row: bytes) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Return the offsets and the frequencies in the well-formed row of a term, as read-only arrays."""
    import numpy as np

    df = df_of(row)
    return np.frombuffer(row, "<u2", df, HEAD_BYTES), np.frombuffer(row, "u1", df, HEAD_BYTES + 2 * df)


def frequencies(row: bytes | None) -> bytes:
    """Return the frequencies in the well-formed row of a term, a byte each; b"" if there is no row."""
    return b"" if row is None else row[HEAD_BYTES + 2 * df_of(row) :]


def _can_be_indexed(raw: bytes) -> bool:
    """Return True if these bytes can be a term of a text."""
    return 0 < len(raw) <= TERM_BYTES_MAX and raw[0] > HEAD[0]
