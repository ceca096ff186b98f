"""Windows: atoms that stand side by side in their source, and what their text costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from engine.query.budget import body, heading, subheading, tokens_of

LINE_END: Final = 1
"""What the line end after a window costs."""


class Place(NamedTuple):
    """Where an atom stands."""

    source: str
    number: int
    """Its number among the live atoms of its source, in the order of their sequences, then ordinals."""

    def beside(self, distance: int) -> Place:
        """The place so many atoms after this one; before it, if negative."""
        return Place(self.source, self.number + distance)


@dataclass(frozen=True, slots=True)
class Piece:
    """An atom that may be shown."""

    id: str
    content: str
    title: str | None = None
    source: str | None = None
    sequence: int | None = None
    place: Place | None = None
    """None without a source or a sequence."""
    score: float = 0.0
    """What it scored, if it is a hit."""


@dataclass(frozen=True, slots=True)
class Window:
    """Atoms that stand side by side in their source, or one atom."""

    source: str | None
    title: str | None
    """Of its first atom; in `text` another one stands where it begins."""
    first: int | None
    """Sequence of its first atom."""
    last: int | None
    """Sequence of its last atom."""
    ids: tuple[str, ...]
    """Its atoms, in order."""
    hits: tuple[str, ...]
    """Those among them that have their place as hits, in order; the others are neighbours."""
    score: float
    """Of the best of them."""
    text: str
    tokens: int
    """Of `text`."""


class Run:
    """Atoms side by side, with how good the hits among them are, and what they cost."""

    def __init__(self, pieces: tuple[Piece, ...], ranks: dict[str, int], below: int) -> None:
        """`ranks` of the hits by id, 0 the best; `below`: tokens of all lines below the heading."""
        self.pieces = pieces
        self.ranks = ranks
        self.below = below

    @classmethod
    def of(cls, piece: Piece, rank: int | None = None) -> Run:
        """One atom; a hit, if it has a rank."""
        return cls((piece,), {} if rank is None else {piece.id: rank}, tokens_of(body(piece.content)))

    @property
    def ends(self) -> tuple[Place, ...]:
        """The places of its first and its last atom; empty for one without a place."""
        return tuple(piece.place for piece in (self.pieces[0], self.pieces[-1]) if piece.place is not None)

    def joined(self, following: Run) -> Run:
        """This one and the one after it."""
        turn = tokens_of(_turn(self.pieces[-1], following.pieces[0]))
        return Run(
            self.pieces + following.pieces, self.ranks | following.ranks, self.below + turn + following.below
        )

    @property
    def rank(self) -> int:
        """Of its best hit."""
        return min(self.ranks.values())

    @cached_property
    def heading(self) -> str:
        """The first line, with the id of the best hit."""
        first, last = self.pieces[0], self.pieces[-1]
        named = min(self.ranks, key=self.ranks.__getitem__)
        return heading(first.title, first.source, first.sequence, last.sequence, named)

    @cached_property
    def cost(self) -> int:
        """Tokens of its text, or a few more: each line is rounded up by itself."""
        return tokens_of(self.heading) + self.below + LINE_END

    @property
    def text(self) -> str:
        """Heading and contents."""
        parts = [self.heading, body(self.pieces[0].content)]
        for before, piece in pairwise(self.pieces):
            parts += _turn(before, piece), body(piece.content)
        return "".join(parts) + "\n"

    def window(self, text: str) -> Window:
        """What is answered."""
        first, last = self.pieces[0], self.pieces[-1]
        return Window(
            source=first.source,
            title=first.title,
            first=first.sequence,
            last=last.sequence,
            ids=tuple(piece.id for piece in self.pieces),
            hits=tuple(piece.id for piece in self.pieces if piece.id in self.ranks),
            score=next(piece.score for piece in self.pieces if self.ranks.get(piece.id) == self.rank),
            text=text,
            tokens=tokens_of(text),
        )


def _turn(before: Piece, after: Piece) -> str:
    """What stands between two atoms of a window: the title, where it changes."""
    return "" if before.title == after.title else subheading(after.title)
