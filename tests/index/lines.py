"""Documents in their sources, as an index view presents them, and a naive search for their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.base.limits import INTEGER_MAX
from engine.index.columns import Facts
from engine.index.index_view import IndexView
from engine.index.positions import NO_NEIGHBOUR, Positions, PositionsCache

SOURCES = (0, 0x1111_1111_0000_0001, 0x2222_2222_8000_0002, 0xFFFF_FFFF_0000_0003)
"""Numbers of sources that differ in their upper halves; 0 stands for none."""

TITLES = (0, 0x0001_0000_0000_0005, 0x0001_0000_0000_0006, 0xFFFF_0000_0000_0007)
"""Hashes of titles, two of which begin with the same bits; 0 stands for none."""

SKIPPED = 7
"""So many dead documents in a row are stepped over for sure."""


class Document(NamedTuple):
    """The facts of a document."""

    source: int
    sequence: int | None
    title: int = 0
    live: bool = True


@dataclass(frozen=True)
class Line:
    """Documents by ordinal, and the number of them that are in segments."""

    documents: tuple[Document, ...]
    settled: int

    def view(self, head: bytes = b"") -> IndexView:
        """The part of an index view that `Positions` reads; another `head` makes a different view."""
        columns = (
            [one.source for one in self.documents],
            [0 if one.sequence is None else one.sequence + 1 for one in self.documents],
            [one.title for one in self.documents],
            [0] * len(self.documents),
        )
        facts = Facts(*(np.array(column, np.uint64) for column in columns))
        roots = repr(self.documents[: self.settled]).encode()
        head += repr(self.documents[self.settled :]).encode()
        return cast("IndexView", _View(facts, self.settled, len(self.documents), (head, roots)))

    def positions(self) -> Positions:
        """The positions of its documents, from a new cache."""
        return PositionsCache().positions(self.view())

    @property
    def ordinals(self) -> NDArray[np.int64]:
        """All ordinals."""
        return np.arange(len(self.documents))

    @property
    def live(self) -> NDArray[np.bool_]:
        """True for each live document."""
        return np.array([one.live for one in self.documents], np.bool_)

    def cut_at(self, settled: int) -> Line:
        """The same documents with this many of them in segments."""
        return replace(self, settled=min(settled, len(self.documents)))

    def beside(self, *, after: bool) -> list[int]:
        """The neighbour of each document according to `Positions.beside`."""
        found: list[int] = self.positions().beside(self.ordinals, self.live, after=after).tolist()
        return found

    def plainly_beside(self, *, after: bool) -> list[int]:
        """The neighbour of each document according to a naive search."""
        return [self._neighbour(one, after=after) for one in self.documents]

    def _neighbour(self, own: Document, *, after: bool) -> int:
        if not own.source or own.sequence is None:
            return NO_NEIGHBOUR
        further = [
            (other.sequence, ordinal)
            for ordinal, other in enumerate(self.documents)
            if other.live and other.source == own.source and other.sequence is not None
            if (other.sequence > own.sequence if after else other.sequence < own.sequence)
        ]
        if not further:
            return NO_NEIGHBOUR
        _, nearest = min(further) if after else max(further)
        return nearest if self.documents[nearest].title == own.title else NO_NEIGHBOUR


class _View(NamedTuple):
    """The part of an `IndexView` that `Positions` reads."""

    facts: Facts
    settled: int
    documents: int
    content: tuple[bytes, ...]


small = st.integers(0, 40)
"""Sequences, often with gaps between them."""

large = st.one_of(
    small,
    st.integers(2**32 - 4, 2**32 + 4),
    st.integers(2**40, 2**40 + 20),
    st.integers(INTEGER_MAX - 3, INTEGER_MAX),
)
"""Sequences such as times in µs are, beside small ones."""


@st.composite
def lines(
    draw: st.DrawFn,
    sequences: st.SearchStrategy[int] = small,
    *,
    equals: bool = False,
    dead: int = SKIPPED,
    most: int = 24,
) -> Line:
    """Up to `most` documents, at most `dead` of them dead; with `equals`, positions may repeat."""
    documents: list[Document] = []
    taken: set[tuple[int, int]] = set()
    for _ in range(draw(st.integers(0, most))):
        source = draw(st.sampled_from(SOURCES))
        sequence = draw(st.one_of(st.none(), sequences))
        if sequence is not None and not equals:
            if (source, sequence) in taken:
                continue
            taken.add((source, sequence))
        alive = dead == 0 or draw(st.booleans())
        dead -= not alive
        documents.append(Document(source, sequence, draw(st.sampled_from(TITLES[:3])), alive))
    return Line(tuple(documents), draw(st.integers(0, len(documents))))
