"""Context inflation: hits, and what stands beside them, as windows to be read (Standard 065).

    hits, best first ──▶ each gets its place ──▶ gaps between them are filled ──▶ neighbours, ring by ring

Every step is kept within the budget, and no neighbour costs a token before all hits have their places.
Nothing here reads a store. Whoever does hands over the hits, and the atom at a place when it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.base.validation import integer
from engine.query.budget import BUDGET_MIN, body, body_within, heading, subheading, tokens_of
from engine.query.recall.signals.bm25 import idf

LINE_END: Final = 1
"""What the line end after a window costs."""

GAP_MAX: Final = 2
"""So many atoms between two hits are filled in."""

MISSES_MAX: Final = 8
"""After so many neighbours without room none is tried any more. Measured on LoCoMo: what is shown has as
much of the evidence as if all were tried, and fewer are read for nothing."""

TOKENS_PER_HIT: Final = 60
"""A hit is asked for with each so many tokens of the budget; neighbours get what hits leave of it.

Measured on LoCoMo: with 40 to 60 as much of the evidence is shown as with hits alone or slightly more;
with 80 and more it is less, because neighbours then take the place of hits.
"""

HITS_MIN: Final = 5

HITS_MAX: Final = 500

RADIUS_MAX: Final = 4

RADIUS_TOKENS: Final = 250
"""From this budget on hits have neighbours; each doubling allows one more on either side."""

_RAREST: Final = 3


class Place(NamedTuple):
    """Where an atom stands."""

    source: str
    number: int
    """Its number among the live atoms of its source, in the order of their sequences, then ordinals."""

    def beside(self, distance: int) -> Place:
        """The place so many atoms after this one; before it, if negative."""
        return Place(self.source, self.number + distance)


@dataclass(frozen=True, slots=True)
class Passage:
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


@dataclass(eq=False)
class Run:
    """Atoms side by side, with how good the hits among them are, and what they cost."""

    pieces: tuple[Passage, ...]
    ranks: dict[str, int]
    """Of the hits by id, 0 the best."""
    below: int
    """Tokens of all lines below the heading."""

    @classmethod
    def of(cls, piece: Passage, rank: int | None = None) -> Run:
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


def _turn(before: Passage, after: Passage) -> str:
    """What stands between two atoms of a window: the title, where it changes."""
    return "" if before.title == after.title else subheading(after.title)


Beside = Callable[[Place], Passage | None]
"""The atom at a place, if there is one that may be shown. Asked only where the budget may have room."""


class Layout:
    """Lays out hits, then what is near them, never over the budget. For one answer."""

    def __init__(self, budget: int, hits: Sequence[Passage], beside: Beside) -> None:
        """`hits`: the best first, each once. `beside` is asked for atoms that are no hits."""
        self._budget = budget
        self._spent = 0
        self._misses = 0
        self._found = {piece.place: piece for piece in hits if piece.place is not None}
        self._walls: set[Place] = set()
        """Of hits that were cut: nothing is to join them."""
        self._beside = beside
        self._placed: list[tuple[int, Place, Passage]] = []
        """The hits that can have neighbours, by rank."""
        self._shown: set[Place] = set()
        self._runs: dict[Place, Run] = {}
        """Each run under its first and under its last place."""
        self._alone: list[tuple[Run, str]] = []
        """Windows of one hit that nothing can join, with their texts."""
        self._place(hits)

    def _place(self, hits: Sequence[Passage]) -> None:
        """Give hits their places, in order, up to the first for less than half of which there is room.

        Counted is the text of each by itself, at most its share: both grow no faster than the budget,
        so that a larger one never loses a hit. What is saved by joining is left for what was cut and
        for neighbours.
        """
        # Everything twice, because half of an odd budget is no whole number.
        left = 2 * self._budget
        cut: list[tuple[Run, str]] = []
        for rank, piece in enumerate(hits):
            run = Run.of(piece, rank)
            wanted = min(2 * run.cost, self._budget if rank else 2 * self._budget)
            room = min(wanted, left)
            if 2 * room < wanted:
                break
            left -= room
            if room == 2 * run.cost:
                self._set(run)
                continue
            text = _cut(piece, room // 2)
            if not text:
                break
            cut.append((run, text))
            self._spent += tokens_of(text)
        for run, text in cut:
            self._spent -= tokens_of(text)
            if self._spent + run.cost <= self._budget:
                self._set(run)
            else:
                self._spent += tokens_of(text)
                self._alone.append((run, text))
                self._walls.update(run.ends)
        self._placed.sort(key=lambda hit: hit[0])

    def _set(self, run: Run) -> None:
        """Show a hit whole, for which there is room."""
        (piece,) = run.pieces
        if piece.place is None:
            self._spent += run.cost
            self._alone.append((run, run.text))
        else:
            self._placed.append((run.rank, piece.place, piece))
            self._show(piece.place, [run])

    def _at(self, place: Place) -> Passage | None:
        """The atom that a window may have at a place."""
        if place in self._walls:
            return None
        return self._found.get(place) or self._beside(place)

    def fill_gaps(self) -> None:
        """Fill gaps of one or two atoms between hits, those beside better hits first.

        Each atom in a gap must have the title of one of the two hits: what stands under a heading of
        its own is another text.
        """
        for _, place, hit in self._placed:
            for step in (1, -1):
                self._fill_gap(place, hit, step)

    def _fill_gap(self, place: Place, hit: Passage, step: int) -> None:
        beyond = [place.beside(step * distance) for distance in range(1, GAP_MAX + 2)]
        size = next((at for at, one in enumerate(beyond) if one in self._shown), 0)
        pieces = [self._at(one) for one in beyond[:size]]
        gap = [piece for piece in pieces if piece is not None]
        # What stands nearest beyond a gap is a hit: neighbours have only been shown between two hits.
        titles = (hit.title, self._found[beyond[size]].title) if gap else ()
        if gap and len(gap) == size and all(piece.title in titles for piece in gap):
            start, order = (beyond[0], gap) if step > 0 else (beyond[size - 1], gap[::-1])
            self._show(start, list(map(Run.of, order)))

    def widen(self, radius: int) -> None:
        """Show what stands around the hits, nearest first, better hits first, what follows first.

        Only atoms with the title of the hit. A side on which one is missing or has no room ends there,
        and all do after 8 that had no room.
        """
        sides = [(place, hit, step) for _, place, hit in self._placed for step in (1, -1)]
        for distance in range(1, radius + 1):
            sides = [
                (place, hit, step)
                for place, hit, step in sides
                if self._reach(place.beside(step * distance), hit.title)
            ]

    def _reach(self, place: Place, title: str | None) -> bool:
        """Whether what stands at `place` is shown, now or already."""
        if place in self._shown:
            return True
        piece = self._at(place) if self._misses < MISSES_MAX else None
        if piece is None or piece.title != title:
            return False
        fits = self._show(place, [Run.of(piece)])
        self._misses += not fits
        return fits

    def _show(self, start: Place, added: Sequence[Run]) -> bool:
        """Put single atoms beside what is shown, if there is room; whether there is."""
        before, after = self._runs.get(start.beside(-1)), self._runs.get(start.beside(len(added)))
        joined = reduce(Run.joined, [run for run in (before, *added, after) if run is not None])
        cost = joined.cost - sum(run.cost for run in (before, after) if run is not None)
        if self._spent + cost > self._budget:
            return False
        self._spent += cost
        places = [start.beside(at) for at in range(len(added))]
        self._shown.update(places)
        for run in (before, after):
            for end in run.ends if run is not None else ():
                self._runs.pop(end, None)
        for end in joined.ends:
            self._runs[end] = joined
        return True

    def windows(self) -> Iterator[Window]:
        """All windows, sources by their best hit, inside a source as in it."""
        runs = [(run, run.text) for place, run in self._runs.items() if place == run.ends[0]]
        best: dict[str, int] = {}
        for run, _ in (*runs, *self._alone):
            for place in run.ends:
                best[place.source] = min(run.rank, best.get(place.source, run.rank))

        def turn(shown: tuple[Run, str]) -> tuple[int, int]:
            run, _ = shown
            return (best[run.ends[0].source], run.ends[0].number) if run.ends else (run.rank, 0)

        for run, text in sorted((*runs, *self._alone), key=turn):
            yield run.window(text)


def _cut(piece: Passage, tokens: int) -> str:
    """A hit in at most `tokens`, its content cut if need be; empty if there is no room even for that.

    A heading that takes over half gives way to one with the id alone.
    """
    whole = heading(piece.title, piece.source, piece.sequence, piece.sequence, piece.id)
    head = whole if 2 * tokens_of(whole) <= tokens else heading(None, None, None, None, piece.id)
    content = body_within(piece.content, tokens - tokens_of(head) - LINE_END)
    return f"{head}{content}\n" if content else ""


@dataclass(frozen=True, slots=True)
class Context:
    """Windows that answer a question, as of the first `size` events."""

    query: str
    windows: tuple[Window, ...]
    """To be read in order: sources by their best hit, inside a source as in it."""
    text: str
    """All windows, as they go into a prompt: `engine.query.budget`."""
    tokens: int
    """Of `text`; at most `budget`."""
    budget: int
    size: int
    radius: int
    """How far around each hit neighbours were looked for."""


def checked_budget(budget: object) -> int:
    """`budget`, if anything can be shown in it.

    Raises:
        InvalidInputError: no whole number, or below 16.
    """
    tokens = integer(budget, "budget")
    if tokens < BUDGET_MIN:
        raise InvalidInputError(
            f"a budget of {tokens} tokens has room for nothing; give {BUDGET_MIN} or more"
        )
    return tokens


def hits_wanted(budget: int) -> int:
    """How many hits to ask for: one for each 60 tokens, at least 5, at most 500."""
    return min(max(budget // TOKENS_PER_HIT, HITS_MIN), HITS_MAX)


def rarity(documents: int, frequencies: Iterable[int]) -> float:
    """How rare a question's words are: 0 if they are everywhere or nowhere, 1 if each is in one document.

    The mean IDF of the three rarest words that occur, as a share of that of a word in one document;
    `frequencies`: in how many of the documents each word occurs.
    """
    rarest = sorted(frequency for frequency in frequencies if frequency)[:_RAREST]
    if not rarest:
        return 0.0
    mean = math.fsum(idf(documents, frequency) for frequency in rarest) / len(rarest)
    return round(mean / idf(documents, 1), 6)


def radius_of(budget: int, rarity: float) -> int:
    """How far around each hit to look for neighbours: 0 to 4.

    With a `rarity` of 1 it is 1 from 250 tokens on and grows by one at each doubling; with less it is
    that share of it, rounded. Rare words lead to the one place where a thing is told, common ones
    lead everywhere.
    """
    return min(round((budget // RADIUS_TOKENS).bit_length() * rarity), RADIUS_MAX)


def inflate(
    query: str, hits: Sequence[Passage], beside: Beside, *, budget: int, radius: int, size: int = 0
) -> Context:
    """The windows of `hits` and of what is near them, in at most `budget` tokens.

    Hits get their places in order, as long as there is room. One that costs more than half of the
    budget (the best: more than all of it) is cut at a word, and so is the last, if half of it fits,
    unless all the others leave room for it; what is cut stands by itself. Then gaps of one or two
    atoms between hits are filled, and each hit gets its neighbours, up to `radius` on either side, but
    none under another title. Atoms side by side are one window.

    A larger budget has every hit that a smaller one has. Equal arguments, equal bytes.

    `hits` are the best first, each once. `beside` is asked for the atom at a place, where that is no hit; a
    place for which there is none is a wall, which no window reaches over.

    Raises:
        InvalidInputError: the budget is too small.
    """
    layout = Layout(checked_budget(budget), hits, beside)
    layout.fill_gaps()
    layout.widen(radius)
    windows = tuple(layout.windows())
    text = "".join(window.text for window in windows)
    return Context(query, windows, text, tokens_of(text), budget, size, radius)
