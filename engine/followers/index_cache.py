"""What is kept between two questions: decoded rows, and what was worked out from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from backends.base import Reader
from engine.followers import postings
from engine.followers.facts import Facts, decode_facts, join
from engine.followers.segments import FACTS, LENGTHS, SegmentName
from engine.followers.tail import Tail
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
    again.
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

        Raises:
            CorruptionError: a row is missing or malformed.
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
