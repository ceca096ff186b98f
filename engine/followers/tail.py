"""The documents after the last segment."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from engine.followers import postings
from engine.followers.columns import Columns, build
from engine.followers.documents import Document
from proofs.segments import TAIL_LEVEL, Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Postings(NamedTuple):
    """Who of one segment mentions a term; read-only arrays of equal length."""

    start: int
    """The ordinal that offset 0 stands for."""
    offsets: NDArray[np.uint16]
    """Ascending."""
    tfs: NDArray[np.uint8]


class Tail:
    """The documents after the last segment, made from the journal. Immutable."""

    def __init__(self, head: bytes, start: int, documents: tuple[Document, ...]) -> None:
        """`head` is the row the tail belongs to; `documents` are those of the ordinals from `start` on."""
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
    def columns(self) -> Columns:
        """Its content as a segment's columns."""
        return build(self.documents)

    @cached_property
    def rows(self) -> list[postings.TermRow]:
        """The rows it would have as a segment, in key order."""
        return self._encoded.rows

    @cached_property
    def summary(self) -> Summary:
        """The summary it would have as a segment."""
        return self._encoded.summary

    @property
    def blocks(self) -> bytes:
        """The row about its blocks of rows that it would have as a segment."""
        return self._encoded.blocks

    @cached_property
    def total_length(self) -> int:
        """The sum of its documents' lengths; unlike `summary` it needs no hashing."""
        return int(self.columns.lengths.sum(dtype="i8"))

    @cached_property
    def _encoded(self) -> postings.Encoded:
        return postings.encode(self.columns)

    @cached_property
    def _ranges(self) -> dict[bytes, tuple[int, int]]:
        ends = self.columns.dfs.cumsum()
        starts = ends - self.columns.dfs
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return dict(zip(self.columns.terms, pairs, strict=True))

    def find(self, term: bytes) -> Postings | None:
        """The postings of the row that would have the key `term`."""
        found = self._ranges.get(term)
        if found is None:
            return None
        start, end = found
        return Postings(self.start, self.columns.offsets[start:end], self.columns.tfs[start:end])
