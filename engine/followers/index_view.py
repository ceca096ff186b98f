"""A view of the index at one moment, for searching, and the cache that queries share.

Rows are read on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from backends.base import Reader
from engine.followers import postings
from engine.followers.columns import Facts, decode_facts, join
from engine.followers.postings import Postings, Tail
from engine.followers.segments import FACTS, HEAD, LENGTHS, SegmentName
from engine.text.identifiers import TERM_BYTES_MAX
from proofs.segments import Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


CACHE_BYTES_MAX: Final = 32 << 20
CACHE_ENTRY_BYTES: Final = 400
"""The size in bytes of a cache entry without the numbers in its arrays: two array objects, a tuple and a key
(measured)."""

Segments = Sequence[tuple[SegmentName, Summary]]


class Impacts(NamedTuple):
    """The impacts of a term on the scores of the documents of one segment: w / (norm + w). Read-only.

    w is the frequency of the term in the text plus its weighted frequency in the head; norm is the norm of
    the document (`Bm25Weights.norms`).
    """

    start: int
    """The ordinal of the document at offset 0."""
    offsets: NDArray[np.uint16] | None
    """The offsets of the documents that mention the term, ascending. None if `values` has a number for every
    document of the segment; this number is 0 for a document that does not mention the term."""
    values: NDArray[np.float64]
    """The impact of the term on each document in `offsets`. If `offsets` is None, the impact on each document
    of the segment."""


class TermImpacts(NamedTuple):
    """The impacts of a term on the documents of all segments and the tail, in the order of the ordinals."""

    df: int
    """The number of documents that mention the term."""
    parts: tuple[Impacts, ...]


class Bm25Weights:
    """The norms and impacts for one state of the index and one choice of BM25's constants k1 and b."""

    def __init__(self, key: tuple[object, ...], norms: NDArray[np.float64]) -> None:
        """Store the norms. The impacts are added later.

        Args:
            key: The values that determine the norms and impacts.
            norms: k1 · (1 − b + b · length / average length), by ordinal.
        """
        self.key = key
        self.norms = norms
        self.impacts: dict[tuple[str, float], TermImpacts] = {}
        """The impacts of terms. A key is a pair of a term and the weight of its occurrences in heads."""


class _CachedFacts(NamedTuple):
    """The cached facts of the documents in one state of the index. `key` identifies this state."""

    key: tuple[bytes, ...]
    whole: Facts
    parts: dict[bytes, Facts]
    """Root of a segment → the facts of that segment, whose arrays are views of the arrays of `whole`."""


class PostingsCache:
    """A cache of decoded segment rows and impacts, of at most CACHE_BYTES_MAX bytes; it is cleared when full.

    The key of a row includes the root of its segment, which identifies the bytes, so entries never become
    stale. Impacts are cleared first: they are larger, and adding a document makes them invalid. Norms and
    facts, which do not count towards the limit, take 8 and 32 bytes for each document. The cache is
    thread-safe: if one thread drops an entry that another thread needs, the entry is computed again.
    The methods that read rows raise CorruptionError if a row is missing or malformed.
    """

    def __init__(self) -> None:
        self._postings: dict[tuple[bytes, bytes], tuple[NDArray[np.uint16], NDArray[np.uint8]] | None] = {}
        self._lengths: dict[bytes, NDArray[np.uint16]] = {}
        self._row_bytes = 0
        self._weights: Bm25Weights | None = None
        self._impact_bytes = 0
        self._facts: _CachedFacts | None = None

    @property
    def size(self) -> int:
        """The number of bytes in the cache, not counting norms and facts."""
        return self._row_bytes + self._impact_bytes

    def postings(
        self, rows: Reader, name: SegmentName, root: bytes, term: bytes
    ) -> tuple[NDArray[np.uint16], NDArray[np.uint8]] | None:
        """Return the decoded row of `term` in a segment, or None if the segment has no such row.

        Raises:
            CorruptionError: the row is malformed.
        """
        try:
            return self._postings[root, term]
        except KeyError:
            pass
        key = name.row_prefix + term
        value = rows.get(key)
        decoded = None if value is None else postings.decode_postings(key, value, name.size)
        self._make_room(rows=len(value or b"") + CACHE_ENTRY_BYTES)
        self._postings[root, term] = decoded
        return decoded

    def lengths(self, rows: Reader, name: SegmentName, root: bytes) -> NDArray[np.uint16]:
        """Return the lengths of a segment's documents.

        Raises:
            CorruptionError: the row is missing or malformed.
        """
        lengths = self._lengths.get(root)
        if lengths is None:
            key = name.row_prefix + LENGTHS
            lengths = postings.decode_lengths(key, rows.get(key), name.size)
            self._make_room(rows=2 * name.size + CACHE_ENTRY_BYTES)
            self._lengths[root] = lengths
        return lengths

    def facts(self, rows: Reader, key: tuple[bytes, ...], segments: Segments, tail: Tail) -> Facts:
        """Return the facts of all documents, read-only. Facts of segments in the cache are not read again.

        `key` identifies the segments and the tail.
        """
        cached = self._facts
        if cached is not None and cached.key == key:
            return cached.whole
        cached_parts = {} if cached is None else cached.parts
        parts = []
        for name, summary in segments:
            part = cached_parts.get(summary.root)
            if part is None:
                row = name.row_prefix + FACTS
                part = decode_facts(row, rows.get(row), name.size)
            parts.append(part)
        whole = join([*parts, tail.columns.facts] if tail.documents else parts)
        views = {
            summary.root: Facts(*(column[name.start : name.end] for column in whole))
            for name, summary in segments
        }
        self._facts = _CachedFacts(key, whole, views)
        return whole

    def weights(self, key: tuple[object, ...]) -> Bm25Weights | None:
        """Return the cached weights if they have this key, else None."""
        cached = self._weights
        return cached if cached is not None and cached.key == key else None

    def cache_weights(self, weights: Bm25Weights) -> None:
        """Replace the cached weights, which all queries between two writes share."""
        self._impact_bytes = 0
        self._weights = weights

    def cache_impacts(self, weights: Bm25Weights, term: str, head: float, impacts: TermImpacts) -> None:
        """Add the impacts of a term to `weights`. `head` is the weight of an occurrence in a head."""
        size = 0
        for _, offsets, values in impacts.parts:
            size += values.nbytes + (0 if offsets is None else offsets.nbytes) + CACHE_ENTRY_BYTES
        self._make_room(impacts=size + CACHE_ENTRY_BYTES)
        weights.impacts[term, head] = impacts

    def _make_room(self, *, rows: int = 0, impacts: int = 0) -> None:
        if self.size + rows + impacts > CACHE_BYTES_MAX:
            if self._weights is not None:
                self._weights.impacts.clear()
            self._impact_bytes = 0
        if self.size + rows + impacts > CACHE_BYTES_MAX:
            self._postings.clear()
            self._lengths.clear()
            self._row_bytes = 0
        self._row_bytes += rows
        self._impact_bytes += impacts


DENSE_SHARE: Final = 2
"""If at least one in two documents of a segment mentions a term, `Impacts.values` has a number for every
document of the segment. This form is a third faster and not larger."""


class IndexView:
    """The content of the index in one snapshot, for searching. Thread-safe.

    All methods and properties raise CorruptionError if a row is missing or malformed.
    """

    def __init__(
        self, rows: Reader, segments: list[tuple[SegmentName, Summary]], tail: Tail, cache: PostingsCache
    ) -> None:
        """Create a view of `segments` and `tail`.

        The segments must be in the order of their ordinals, without gaps. The tail follows them.
        """
        self._rows = rows
        self._segments = segments
        self._tail = tail
        self._cache = cache
        self.content: tuple[bytes, ...] = (tail.head, *(summary.root for _, summary in segments))
        """The row `i/head` and the roots of the segments, which together identify the content of the
        index."""
        self.settled: int = tail.start
        """The number of documents in segments. All other documents are in the tail."""
        self._ends = {name.start: name.end for name, _ in segments} | {tail.start: tail.end}
        self.documents: int = tail.end
        """N: the number of all ordinals ever assigned, including those that are replaced, deleted or
        erased."""
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
        return self._postings(term, b"")

    def df(self, term: str) -> int:
        """Return the number of documents that mention `term`."""
        return sum(len(part.offsets) for part in self.postings(term))

    def heads(self, term: str) -> list[Postings]:
        """Return the postings of the documents that have `term` in their head.

        The head of a document is its title, or the label of a text without a title. Nearly all of these
        documents also have the term in their text; the exceptions are labels with asterisks inside a word.
        """
        return self._postings(term, HEAD)

    def _postings(self, term: str, mark: bytes) -> list[Postings]:
        raw = term.encode()
        if not 0 < len(raw) <= TERM_BYTES_MAX or raw[0] <= HEAD[0]:
            return []
        parts = []
        for name, summary in self._segments:
            decoded = self._cache.postings(self._rows, name, summary.root, mark + raw)
            if decoded is not None:
                parts.append(Postings(name.start, *decoded))
        if self._tail.documents and (newest := self._tail.find(mark + raw)) is not None:
            parts.append(newest)
        return parts

    @cached_property
    def facts(self) -> Facts:
        """The facts of all documents, by ordinal. All facts are 0 for a document whose payload is destroyed.

        The facts are cached until the index changes; then only the facts of new segments are read.
        """
        return self._cache.facts(self._rows, self.content, self._segments, self._tail)

    @cached_property
    def lengths(self) -> NDArray[np.uint16]:
        """The lengths of all documents, by ordinal. The length is 0 if the payload is destroyed."""
        import numpy as np

        parts = [self._cache.lengths(self._rows, name, summary.root) for name, summary in self._segments]
        if self._tail.documents:
            parts.append(self._tail.columns.lengths)
        return np.concatenate([np.zeros(0, "<u2"), *parts])

    def impacts(self, term: str, k1: float, b: float, head: float = 0.0) -> TermImpacts:
        """Return the impacts of `term` on the documents that mention it.

        Args:
            term: An analysed term.
            k1: BM25's constant k1, 0 or more.
            b: BM25's constant b, 0 to 1.
            head: The weight of an occurrence in the head, 0 or more. If the text mentions the term, the
                frequency of the term is tf + head · (tf in the head), as in BM25F (Robertson, Zaragoza &
                Taylor 2004). df does not depend on `head`.
        """
        weights = self._weights(k1, b)
        impacts = weights.impacts.get((term, head))
        if impacts is None:
            parts = self.postings(term)
            heads = {part.start: part for part in self.heads(term)} if head else {}
            df = sum(len(part.offsets) for part in parts)
            weighted = (self._impacts_of(part, heads.get(part.start), head, weights.norms) for part in parts)
            impacts = TermImpacts(df, tuple(weighted))
            self._cache.cache_impacts(weights, term, head, impacts)
        return impacts

    def values_at(self, terms: Sequence[TermImpacts], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a matrix of the impact of each term (row) on each document (column).

        The impact is 0 if the document does not mention the term. The ordinals may be in any order, may
        repeat, and may be outside this index.
        """
        import numpy as np

        order = ordinals.argsort(kind="stable")
        ascending = ordinals[order]
        matrix = np.zeros((len(terms), len(ordinals)))
        # Finding the ordinals in each segment once for all terms halves the time (measured).
        within = {}
        for start, end in self._ends.items():
            low, high = ascending.searchsorted((start, end)).tolist()
            if low < high:
                within[start] = (order[low:high], (ascending[low:high] - start).astype(np.uint16))
        for row, (_, parts) in zip(matrix, terms, strict=True):
            for start, offsets, values in parts:
                if start not in within:
                    continue
                columns, local = within[start]
                if offsets is None:
                    row[columns] = values[local]
                else:
                    positions = np.minimum(offsets.searchsorted(local), len(offsets) - 1)
                    row[columns] = np.where(offsets[positions] == local, values[positions], 0.0)
        return matrix

    def _impacts_of(
        self, part: Postings, in_head: Postings | None, head: float, norms: NDArray[np.float64]
    ) -> Impacts:
        import numpy as np

        start = part.start
        offsets = part.offsets.astype(np.int64)
        values = part.tfs.astype(np.float64)
        if in_head is not None:
            positions = part.offsets.searchsorted(in_head.offsets)
            positions[positions == len(offsets)] = 0
            both = part.offsets[positions] == in_head.offsets
            values[positions[both]] += head * in_head.tfs[both]
        values /= norms[start:].take(offsets) + values
        documents = self._ends[start] - start
        if len(offsets) * DENSE_SHARE < documents:
            return Impacts(start, offsets.astype(np.uint16), values)
        dense = np.zeros(documents)
        dense[offsets] = values
        return Impacts(start, None, dense)

    def _weights(self, k1: float, b: float) -> Bm25Weights:
        import numpy as np

        key = (k1, b, *self.content)
        cached = self._cache.weights(key)
        if cached is not None:
            return cached
        # If all documents are empty, any positive number can stand for the average length.
        average = self.total_length / self.counted if self.total_length else 1.0
        weights = Bm25Weights(key, k1 * ((1 - b) + b * (self.lengths.astype(np.float64) / average)))
        self._cache.cache_weights(weights)
        return weights
