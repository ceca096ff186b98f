"""The index as of one moment, as searching sees it, and what is kept between two questions.

Rows are read when they are asked for.
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
"""What an entry costs beside its numbers: two array objects, a tuple and a key, measured."""

Segments = Sequence[tuple[SegmentName, Summary]]


class Impacts(NamedTuple):
    """What mentioning a term is worth in the documents of one segment: w / (norm + w); read-only.

    w is the term's frequency in the text and, weighed, in the head.
    """

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
        self.impacts: dict[tuple[str, float], TermImpacts] = {}
        """By the term and the weight of heads."""


class _KeptFacts(NamedTuple):
    """The facts of one content of the index."""

    key: tuple[bytes, ...]
    whole: Facts
    parts: dict[bytes, Facts]
    """Those of each segment, by its root: views of the whole."""


class PostingsCache:
    """Decoded rows of segments and impacts, at most CACHE_BYTES_MAX of both; emptied when full.

    A row is named by the root of its segment, which stands for the bytes it was decoded from, so no
    entry is ever wrong. Impacts go first: they are larger, and of no use after the next document.
    Norms and facts come on top, 8 and 32 bytes a document. Safe between threads: a lost entry is made
    again. Where a row is missing or malformed, methods that read raise CorruptionError.
    """

    def __init__(self) -> None:
        self._postings: dict[tuple[bytes, bytes], tuple[NDArray[np.uint16], NDArray[np.uint8]] | None] = {}
        self._lengths: dict[bytes, NDArray[np.uint16]] = {}
        self._row_bytes = 0
        self._scaled: Scaled | None = None
        self._impact_bytes = 0
        self._facts: _KeptFacts | None = None

    @property
    def size(self) -> int:
        """How many bytes are kept, norms and facts not counted."""
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
        found = None if value is None else postings.decode_postings(key, value, name.size)
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
            found = postings.decode_lengths(key, rows.get(key), name.size)
            self._make_room(rows=2 * name.size + CACHE_ENTRY_BYTES)
            self._lengths[root] = found
        return found

    def facts(self, rows: Reader, key: tuple[bytes, ...], segments: Segments, tail: Tail) -> Facts:
        """The facts of all documents, read-only; those of segments that were there before are not read.

        `key` stands for segments and tail.
        """
        kept = self._facts
        if kept is not None and kept.key == key:
            return kept.whole
        known = {} if kept is None else kept.parts
        parts = []
        for name, summary in segments:
            part = known.get(summary.root)
            if part is None:
                row = name.row_prefix + FACTS
                part = decode_facts(row, rows.get(row), name.size)
            parts.append(part)
        whole = join([*parts, tail.columns.facts] if tail.documents else parts)
        views = {
            summary.root: Facts(*(column[name.start : name.end] for column in whole))
            for name, summary in segments
        }
        self._facts = _KeptFacts(key, whole, views)
        return whole

    def scaled(self, key: tuple[object, ...]) -> Scaled | None:
        """What was kept last, if it depends on the same."""
        kept = self._scaled
        return kept if kept is not None and kept.key == key else None

    def keep_scaled(self, scaled: Scaled) -> None:
        """Keep this instead of what was kept last: queries between two writes share it."""
        self._impact_bytes = 0
        self._scaled = scaled

    def keep_impacts(self, scaled: Scaled, term: str, head: float, found: TermImpacts) -> None:
        """Keep the impacts of one more term, for one weight of heads."""
        size = 0
        for _, offsets, values in found.parts:
            size += values.nbytes + (0 if offsets is None else offsets.nbytes) + CACHE_ENTRY_BYTES
        self._make_room(impacts=size + CACHE_ENTRY_BYTES)
        scaled.impacts[term, head] = found

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


DENSE_SHARE: Final = 2
"""Where one document in so many has a term, each gets a number: faster by a third, and no larger."""


class IndexView:
    """What searching needs, as of the rows it was made from. Safe between threads.

    Where a row is missing or malformed, every method and property raises CorruptionError.
    """

    def __init__(
        self, rows: Reader, segments: list[tuple[SegmentName, Summary]], tail: Tail, cache: PostingsCache
    ) -> None:
        """`segments` in the order of their ordinals, without a gap, and `tail` after them."""
        self._rows = rows
        self._segments = segments
        self._tail = tail
        self._cache = cache
        self.content: tuple[bytes, ...] = (tail.head, *(summary.root for _, summary in segments))
        """The head of the tail and the segments' roots: they stand for all that this index says."""
        self.settled: int = tail.start
        """How many documents are in segments; the others are in the tail."""
        self._ends = {name.start: name.end for name, _ in segments} | {tail.start: tail.end}
        self.documents: int = tail.end
        """N: all ordinals ever given, dead ones and erased ones too."""
        self.counted: int = sum(summary.documents for _, summary in segments) + (
            tail.columns.documents if tail.documents else 0
        )
        """What rarity and averages are of: all ordinals whose payload is not erased."""
        self.total_length: int = sum(summary.total_length for _, summary in segments) + (
            tail.total_length if tail.documents else 0
        )
        """Sum of the lengths of all documents."""

    def postings(self, term: str) -> list[Postings]:
        """Who mentions `term`, segment by segment, ordinals ascending over the whole list."""
        return self._postings(term, b"")

    def df(self, term: str) -> int:
        """How many documents mention `term`."""
        return sum(len(part.offsets) for part in self.postings(term))

    def heads(self, term: str) -> list[Postings]:
        """As `postings`, in whose head it is: a title, or the label of a text without one.

        Nearly all of them mention it in their text, too; a label's asterisks may have parted its terms.
        """
        return self._postings(term, HEAD)

    def _postings(self, term: str, mark: bytes) -> list[Postings]:
        raw = term.encode()
        if not 0 < len(raw) <= TERM_BYTES_MAX or raw[0] <= HEAD[0]:
            return []
        found = []
        for name, summary in self._segments:
            decoded = self._cache.postings(self._rows, name, summary.root, mark + raw)
            if decoded is not None:
                found.append(Postings(name.start, *decoded))
        if self._tail.documents and (newest := self._tail.find(mark + raw)) is not None:
            found.append(newest)
        return found

    @cached_property
    def facts(self) -> Facts:
        """What is known of every document, by ordinal; 0 for one that has no body.

        Kept until the index changes; then only the facts of new segments are read.
        """
        return self._cache.facts(self._rows, self.content, self._segments, self._tail)

    @cached_property
    def lengths(self) -> NDArray[np.uint16]:
        """The length of every document, by ordinal; 0 for one that has no body."""
        import numpy as np

        parts = [self._cache.lengths(self._rows, name, summary.root) for name, summary in self._segments]
        if self._tail.documents:
            parts.append(self._tail.columns.lengths)
        return np.concatenate([np.zeros(0, "<u2"), *parts])

    def impacts(self, term: str, k1: float, b: float, head: float = 0.0) -> TermImpacts:
        """What mentioning `term` is worth, and in which documents.

        Args:
            term: An analysed term.
            k1: BM25's constant, 0 or more.
            b: BM25's other constant, 0 to 1.
            head: Being in the head counts so many times as being in the text, on top of that: where the
                text mentions the term, tf is tf + head · (tf in the head), as BM25F has it (Robertson,
                Zaragoza & Taylor 2004). 0 or more; df does not depend on it.
        """
        scaled = self._scaled(k1, b)
        found = scaled.impacts.get((term, head))
        if found is None:
            parts = self.postings(term)
            heads = {part.start: part for part in self.heads(term)} if head else {}
            df = sum(len(part.offsets) for part in parts)
            weighed = (self._weigh(part, heads.get(part.start), head, scaled.norms) for part in parts)
            found = TermImpacts(df, tuple(weighed))
            self._cache.keep_impacts(scaled, term, head, found)
        return found

    def values_at(self, terms: Sequence[TermImpacts], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each term (row) is worth in each of the documents (column), 0 where it is not mentioned.

        The ordinals may stand in any order, repeat, and be none of this index.
        """
        import numpy as np

        order = ordinals.argsort(kind="stable")
        wanted = ordinals[order]
        found = np.zeros((len(terms), len(ordinals)))
        # Which of them lie in a segment is the same for all terms: measured, half of the time.
        within = {}
        for start, end in self._ends.items():
            low, high = wanted.searchsorted((start, end)).tolist()
            if low < high:
                within[start] = (order[low:high], (wanted[low:high] - start).astype(np.uint16))
        for row, (_, parts) in zip(found, terms, strict=True):
            for start, offsets, values in parts:
                if start not in within:
                    continue
                columns, local = within[start]
                if offsets is None:
                    row[columns] = values[local]
                else:
                    places = np.minimum(offsets.searchsorted(local), len(offsets) - 1)
                    row[columns] = np.where(offsets[places] == local, values[places], 0.0)
        return found

    def _weigh(
        self, part: Postings, in_head: Postings | None, head: float, norms: NDArray[np.float64]
    ) -> Impacts:
        import numpy as np

        start = part.start
        offsets = part.offsets.astype(np.int64)
        values = part.tfs.astype(np.float64)
        if in_head is not None:
            places = part.offsets.searchsorted(in_head.offsets)
            places[places == len(offsets)] = 0
            both = part.offsets[places] == in_head.offsets
            values[places[both]] += head * in_head.tfs[both]
        values /= norms[start:].take(offsets) + values
        documents = self._ends[start] - start
        if len(offsets) * DENSE_SHARE < documents:
            return Impacts(start, offsets.astype(np.uint16), values)
        dense = np.zeros(documents)
        dense[offsets] = values
        return Impacts(start, None, dense)

    def _scaled(self, k1: float, b: float) -> Scaled:
        import numpy as np

        key = (k1, b, *self.content)
        kept = self._cache.scaled(key)
        if kept is not None:
            return kept
        # An index of empty documents has no average; no term that counts occurs in it either.
        average = self.total_length / self.counted if self.total_length else 1.0
        found = Scaled(key, k1 * ((1 - b) + b * (self.lengths.astype(np.float64) / average)))
        self._cache.keep_scaled(found)
        return found
