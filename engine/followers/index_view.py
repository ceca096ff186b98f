"""The index as of one moment, as searching sees it: rows are read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from backends.base import Reader
from engine.followers.facts import Facts
from engine.followers.index_cache import Impacts, PostingsCache, Scaled, TermImpacts
from engine.followers.segments import HEAD, SegmentName
from engine.followers.tail import Postings, Tail
from engine.text.identifiers import TERM_BYTES_MAX
from proofs.segments import Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Facts", "Impacts", "IndexView", "Postings", "TermImpacts"]

DENSE_SHARE: Final = 2
"""Where one document in so many has a term, each gets a number: faster by a third, and no larger."""


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
        """Who mentions `term`, segment by segment, ordinals ascending over the whole list.

        Raises:
            CorruptionError: a row is malformed.
        """
        return self._postings(term, b"")

    def df(self, term: str) -> int:
        """How many documents mention `term`.

        Raises:
            CorruptionError: a row is malformed.
        """
        return sum(len(part.offsets) for part in self.postings(term))

    def heads(self, term: str) -> list[Postings]:
        """As `postings`, in whose head it is: a title, or the label of a text without one.

        Nearly all of them mention it in their text, too; a label's asterisks may have parted its terms.

        Raises:
            CorruptionError: a row is malformed.
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

        Raises:
            CorruptionError: a row is missing or malformed.
        """
        return self._cache.facts(self._rows, self.content, self._segments, self._tail)

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

    def impacts(self, term: str, k1: float, b: float, head: float = 0.0) -> TermImpacts:
        """What mentioning `term` is worth, and in which documents.

        Args:
            term: An analysed term.
            k1: BM25's constant, 0 or more.
            b: BM25's other constant, 0 to 1.
            head: Being in the head counts so many times as being in the text, on top of that: where the
                text mentions the term, tf is tf + head · (tf in the head), as BM25F has it (Robertson,
                Zaragoza & Taylor 2004). 0 or more; df does not depend on it.

        Raises:
            CorruptionError: a row is malformed.
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
