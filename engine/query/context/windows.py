"""Context inflation: hits and their neighbours in the source, as windows of text (Standard 065).

    hits, best first ──▶ each gets its share ──▶ gaps between them are filled ──▶ neighbours, by distance

Every step keeps to the budget, and neighbours get no tokens before all hits have been laid out.
This module reads no store. The caller passes the hits and a function that looks up the atom at a position.
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
"""The tokens of the line end after a window."""

GAP_MAX: Final = 2
"""The largest number of atoms between two hits that are filled in."""

MISSES_MAX: Final = 8
"""No more neighbours are tried after this many did not fit. Measured on LoCoMo: the windows hold as much of
the evidence as if all neighbours were tried, and fewer are read in vain."""

TOKENS_PER_HIT: Final = 60
"""The tokens of the budget for which one hit is requested; neighbours get what the hits leave over.

Measured on LoCoMo: at 40 to 60 the windows hold as much of the evidence as hits alone, or slightly more;
at 80 and above they hold less, because neighbours then take the room of hits.
"""

HITS_MIN: Final = 5

HITS_MAX: Final = 500

RADIUS_MAX: Final = 4

RADIUS_TOKENS: Final = 250
"""The smallest budget in tokens at which hits get neighbours; each doubling adds one on either side."""

_RAREST: Final = 3


class Position(NamedTuple):
    """The position of an atom in its source."""

    source: str
    number: int
    """Its index among the live atoms of its source, ordered by sequence, then ordinal."""

    def offset(self, distance: int) -> Position:
        """Return the position `distance` atoms after this one, or before it if negative."""
        return Position(self.source, self.number + distance)


@dataclass(frozen=True, slots=True)
class Passage:
    """An atom that may be shown."""

    id: str
    content: str
    title: str | None = None
    source: str | None = None
    sequence: int | None = None
    position: Position | None = None
    """None if it has no source or no sequence."""
    score: float = 0.0
    """The score of a hit; 0 for a neighbour."""


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive atoms of one source, or a single atom."""

    source: str | None
    title: str | None
    """The title of its first atom; `text` marks where another title begins."""
    first: int | None
    """The sequence of its first atom."""
    last: int | None
    """The sequence of its last atom."""
    ids: tuple[str, ...]
    """The ids of its atoms, in order."""
    hits: tuple[str, ...]
    """The ids of its hits, in order; its other atoms are neighbours."""
    score: float
    """The score of its best hit."""
    text: str
    tokens: int
    """The tokens of `text`."""


@dataclass(eq=False)
class Run:
    """Consecutive passages with the ranks of the hits among them, and their cost in tokens."""

    passages: tuple[Passage, ...]
    ranks: dict[str, int]
    """The rank of each hit by id, 0 for the best."""
    body_tokens: int
    """The tokens of all lines below the heading."""

    @classmethod
    def of(cls, passage: Passage, rank: int | None = None) -> Run:
        """Return a run of one passage, which is a hit if it has a rank."""
        ranks = {} if rank is None else {passage.id: rank}
        return cls((passage,), ranks, tokens_of(body(passage.content)))

    @property
    def ends(self) -> tuple[Position, ...]:
        """The positions of its first and last passage; empty for a passage without a position."""
        ends = (self.passages[0], self.passages[-1])
        return tuple(passage.position for passage in ends if passage.position is not None)

    def joined(self, following: Run) -> Run:
        """Return this run and the one that follows it as one run."""
        between = tokens_of(_between(self.passages[-1], following.passages[0]))
        return Run(
            self.passages + following.passages,
            self.ranks | following.ranks,
            self.body_tokens + between + following.body_tokens,
        )

    @property
    def rank(self) -> int:
        """The rank of its best hit."""
        return min(self.ranks.values())

    @cached_property
    def heading(self) -> str:
        """The first line, with the id of the best hit."""
        first, last = self.passages[0], self.passages[-1]
        best = min(self.ranks, key=self.ranks.__getitem__)
        return heading(first.title, first.source, first.sequence, last.sequence, best)

    @cached_property
    def cost(self) -> int:
        """The tokens of its text, or a few more, because each line is rounded up by itself."""
        return tokens_of(self.heading) + self.body_tokens + LINE_END

    @property
    def text(self) -> str:
        """The heading and the contents."""
        parts = [self.heading, body(self.passages[0].content)]
        for before, passage in pairwise(self.passages):
            parts += _between(before, passage), body(passage.content)
        return "".join(parts) + "\n"

    def window(self, text: str) -> Window:
        """Return the run as a window with this text."""
        first, last = self.passages[0], self.passages[-1]
        return Window(
            source=first.source,
            title=first.title,
            first=first.sequence,
            last=last.sequence,
            ids=tuple(passage.id for passage in self.passages),
            hits=tuple(passage.id for passage in self.passages if passage.id in self.ranks),
            score=next(one.score for one in self.passages if self.ranks.get(one.id) == self.rank),
            text=text,
            tokens=tokens_of(text),
        )


def _between(before: Passage, after: Passage) -> str:
    """Return the line between two passages of a window: the new title if it changes, else nothing."""
    return "" if before.title == after.title else subheading(after.title)


NeighbourLookup = Callable[[Position], Passage | None]
"""Returns the atom at a position, or None if there is none that may be shown. Called only where the budget
may have room."""


class Layout:
    """Lays out hits, then their neighbours, within the budget. Used for one answer."""

    def __init__(self, budget: int, hits: Sequence[Passage], lookup: NeighbourLookup) -> None:
        """Lay out `hits`, the best first, each once. `lookup` is called for atoms that are not hits."""
        self._budget = budget
        self._spent = 0
        self._misses = 0
        self._hits = {passage.position: passage for passage in hits if passage.position is not None}
        self._blocked: set[Position] = set()
        """The positions of hits that were cut, which no window may include."""
        self._lookup = lookup
        self._placed: list[tuple[int, Position, Passage]] = []
        """The hits that can have neighbours, by rank."""
        self._shown: set[Position] = set()
        self._runs: dict[Position, Run] = {}
        """Each run, under its first and under its last position."""
        self._alone: list[tuple[Run, str]] = []
        """The runs of one hit that cannot be extended, with their texts."""
        self._place(hits)

    def _place(self, hits: Sequence[Passage]) -> None:
        """Lay out hits in order, up to the first for which less than half of the needed room is left.

        Each hit counts with the cost of its own text, or its share if that is less. Both grow no faster
        than the budget, so a larger budget never loses a hit. Tokens that joining saves are left for hits
        that were cut and for neighbours.
        """
        # All amounts are doubled, because half of an odd budget is not a whole number.
        left = 2 * self._budget
        cut: list[tuple[Run, str]] = []
        for rank, passage in enumerate(hits):
            run = Run.of(passage, rank)
            wanted = min(2 * run.cost, self._budget if rank else 2 * self._budget)
            room = min(wanted, left)
            if 2 * room < wanted:
                break
            left -= room
            if room == 2 * run.cost:
                self._add_hit(run)
                continue
            text = _cut(passage, room // 2)
            if not text:
                break
            cut.append((run, text))
            self._spent += tokens_of(text)
        for run, text in cut:
            self._spent -= tokens_of(text)
            if self._spent + run.cost <= self._budget:
                self._add_hit(run)
            else:
                self._spent += tokens_of(text)
                self._alone.append((run, text))
                self._blocked.update(run.ends)
        self._placed.sort(key=lambda hit: hit[0])

    def _add_hit(self, run: Run) -> None:
        """Show a whole hit for which there is room."""
        (passage,) = run.passages
        if passage.position is None:
            self._spent += run.cost
            self._alone.append((run, run.text))
        else:
            self._placed.append((run.rank, passage.position, passage))
            self._show(passage.position, [run])

    def _at(self, position: Position) -> Passage | None:
        """Return the passage that a window may include at a position, or None."""
        if position in self._blocked:
            return None
        return self._hits.get(position) or self._lookup(position)

    def fill_gaps(self) -> None:
        """Fill gaps of one or two atoms between hits, those beside better hits first.

        Each atom in a gap must have the title of one of the two hits, because text under a heading of its
        own is a different text.
        """
        for _, position, hit in self._placed:
            for step in (1, -1):
                self._fill_gap(position, hit, step)

    def _fill_gap(self, position: Position, hit: Passage, step: int) -> None:
        beyond = [position.offset(step * distance) for distance in range(1, GAP_MAX + 2)]
        size = next((at for at, one in enumerate(beyond) if one in self._shown), 0)
        passages = [self._at(one) for one in beyond[:size]]
        gap = [passage for passage in passages if passage is not None]
        # The passage beyond a gap is a hit, because so far neighbours were only shown between two hits.
        titles = (hit.title, self._hits[beyond[size]].title) if gap else ()
        if gap and len(gap) == size and all(passage.title in titles for passage in gap):
            start, order = (beyond[0], gap) if step > 0 else (beyond[size - 1], gap[::-1])
            self._show(start, list(map(Run.of, order)))

    def widen(self, radius: int) -> None:
        """Show the neighbours of the hits: by distance, then by the rank of the hit, following ones first.

        Only atoms with the title of the hit are shown. A side ends at the first atom that is missing or
        does not fit, and all sides end after 8 atoms that did not fit.
        """
        sides = [(position, hit, step) for _, position, hit in self._placed for step in (1, -1)]
        for distance in range(1, radius + 1):
            sides = [
                (position, hit, step)
                for position, hit, step in sides
                if self._extend_to(position.offset(step * distance), hit.title)
            ]

    def _extend_to(self, position: Position, title: str | None) -> bool:
        """Show the atom at `position` if it fits; return True if it is shown now."""
        if position in self._shown:
            return True
        passage = self._at(position) if self._misses < MISSES_MAX else None
        if passage is None or passage.title != title:
            return False
        fits = self._show(position, [Run.of(passage)])
        self._misses += not fits
        return fits

    def _show(self, start: Position, added: Sequence[Run]) -> bool:
        """Add single passages from `start` on and join them to the runs beside them.

        Return False, and change nothing, if the budget has no room for them.
        """
        before, after = self._runs.get(start.offset(-1)), self._runs.get(start.offset(len(added)))
        joined = reduce(Run.joined, [run for run in (before, *added, after) if run is not None])
        cost = joined.cost - sum(run.cost for run in (before, after) if run is not None)
        if self._spent + cost > self._budget:
            return False
        self._spent += cost
        positions = [start.offset(at) for at in range(len(added))]
        self._shown.update(positions)
        for run in (before, after):
            for end in run.ends if run is not None else ():
                self._runs.pop(end, None)
        for end in joined.ends:
            self._runs[end] = joined
        return True

    def windows(self) -> Iterator[Window]:
        """Yield all windows: sources by the rank of their best hit, and within a source in its order."""
        runs = [(run, run.text) for position, run in self._runs.items() if position == run.ends[0]]
        best: dict[str, int] = {}
        for run, _ in (*runs, *self._alone):
            for position in run.ends:
                best[position.source] = min(run.rank, best.get(position.source, run.rank))

        def sort_key(shown: tuple[Run, str]) -> tuple[int, int]:
            run, _ = shown
            return (best[run.ends[0].source], run.ends[0].number) if run.ends else (run.rank, 0)

        for run, text in sorted((*runs, *self._alone), key=sort_key):
            yield run.window(text)


def _cut(passage: Passage, tokens: int) -> str:
    """Return a hit in at most `tokens`, its content cut if necessary; empty if there is no room for that.

    A heading that takes more than half of the tokens is replaced by one with the id alone.
    """
    whole = heading(passage.title, passage.source, passage.sequence, passage.sequence, passage.id)
    head = whole if 2 * tokens_of(whole) <= tokens else heading(None, None, None, None, passage.id)
    content = body_within(passage.content, tokens - tokens_of(head) - LINE_END)
    return f"{head}{content}\n" if content else ""


@dataclass(frozen=True, slots=True)
class Context:
    """Windows that answer a question, from the first `size` events of the journal."""

    query: str
    windows: tuple[Window, ...]
    """In reading order: sources by the rank of their best hit, and within a source in its order."""
    text: str
    """All windows, as they go into a prompt: `engine.query.budget`."""
    tokens: int
    """The tokens of `text`; at most `budget`."""
    budget: int
    size: int
    radius: int
    """The distance from each hit up to which neighbours were looked up."""


def checked_budget(budget: object) -> int:
    """Return `budget` if it has room for anything.

    Raises:
        InvalidInputError: it is not a whole number, or below 16.
    """
    tokens = integer(budget, "budget")
    if tokens < BUDGET_MIN:
        raise InvalidInputError(
            f"a budget of {tokens} tokens is too small to show anything; give {BUDGET_MIN} or more"
        )
    return tokens


def hits_wanted(budget: int) -> int:
    """Return the number of hits to request: one for each 60 tokens, at least 5, at most 500."""
    return min(max(budget // TOKENS_PER_HIT, HITS_MIN), HITS_MAX)


def query_rarity(documents: int, frequencies: Iterable[int]) -> float:
    """Return the rarity of a question's words, from about 0 for common words to 1 for words in one document.

    It is the mean IDF of the three rarest words that occur, divided by the IDF of a word in one document,
    and 0 if none occurs. `frequencies` holds the number of documents that contain each word.
    """
    rarest = sorted(frequency for frequency in frequencies if frequency)[:_RAREST]
    if not rarest:
        return 0.0
    mean = math.fsum(idf(documents, frequency) for frequency in rarest) / len(rarest)
    return round(mean / idf(documents, 1), 6)


def radius_of(budget: int, rarity: float) -> int:
    """Return the distance from each hit up to which to look up neighbours, 0 to 4.

    With a `rarity` of 1 it is 1 from 250 tokens on and grows by one at each doubling; with a lower rarity
    it is that share of it, rounded. Rare words lead to the one passage about a subject, common words lead
    everywhere.
    """
    return min(round((budget // RADIUS_TOKENS).bit_length() * rarity), RADIUS_MAX)


def inflate(
    query: str,
    hits: Sequence[Passage],
    lookup: NeighbourLookup,
    *,
    budget: int,
    radius: int,
    size: int = 0,
) -> Context:
    """Return the windows of `hits` and of their neighbours, in at most `budget` tokens.

    Hits are laid out in order as long as there is room. The best hit is cut, after a word, if it costs more
    than the budget; any other hit, if it costs more than half of it. The last hit is also cut if at least
    half of it fits, unless the other hits leave room for all of it. A hit that is cut has a window of its
    own. Then gaps of one or two atoms between hits are filled, and each hit gets its neighbours with the
    same title, up to `radius` on either side. Consecutive atoms make one window.

    A larger budget has every hit that a smaller one has. Equal arguments give equal bytes.

    `hits` are the best first, each once. `lookup` is called with positions that are not those of hits; no
    window extends across a position for which it returns None.

    Raises:
        InvalidInputError: the budget is too small.
    """
    layout = Layout(checked_budget(budget), hits, lookup)
    layout.fill_gaps()
    layout.widen(radius)
    windows = tuple(layout.windows())
    text = "".join(window.text for window in windows)
    return Context(query, windows, text, tokens_of(text), budget, size, radius)
