"""Context inflation: windows of text that show hits with their neighbours in the source.

    show hits, best first ──▶ fill small gaps between hits ──▶ add neighbours of hits, by distance

No step exceeds the budget, and neighbours get no tokens before all hits have been placed. This module does
not read the store. The caller passes the hits and a function that looks up the atom at a position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.validation import integer
from engine.query.context.passages import LINE_END, Passage, Position, Run, Window
from engine.query.prompt_text import BUDGET_MIN, body_within, heading, tokens_of
from engine.query.recall.recall_answer import MatchedName, notes_of

GAP_MAX: Final = 2
"""Two hits are joined into one window if at most this many atoms are between them. The window then includes
these atoms."""

MISSES_MAX: Final = 8
"""After this many neighbours have exceeded the budget, no further neighbours are tried.

Measured on LoCoMo: with this limit, the windows contain as much of the evidence as without it, and fewer
atoms are read in vain.
"""

TOKENS_PER_HIT: Final = 60
"""One hit is requested for every 60 tokens of the budget. The tokens that hits do not use are used to show
neighbours.

Measured on LoCoMo: with 40 to 60 tokens per hit, the windows contain as much of the evidence as hits without
neighbours, or slightly more. With 80 or more tokens per hit the windows contain less of it, because the
neighbours use tokens with which further hits could be shown.
"""

HITS_MIN: Final = 5

HITS_MAX: Final = 500

RADIUS_MAX: Final = 4

RADIUS_TOKENS: Final = 250
"""The smallest budget in tokens with which a hit gets one neighbour on each side.

Each doubling of the budget adds one more neighbour on each side.
"""

_RAREST: Final = 3

NeighbourLookup = Callable[[Position], Passage | None]
"""A function that returns the atom at a position, or None if no atom at that position may be shown. It is
called only if the budget may allow one more atom."""


class Layout:
    """Places hits, then their neighbours, in windows within the budget. Each answer needs a new layout."""

    def __init__(self, budget: int, hits: Sequence[Passage], lookup: NeighbourLookup, leads: int = 1) -> None:
        """Place `hits`, which are distinct and given best first. `lookup` finds atoms that are not hits.

        The first `leads` hits share the budget equally; what one of them leaves goes to the next ones.
        """
        self._budget = budget
        self._spent = 0
        self._misses = 0
        self._hits = {passage.position: passage for passage in hits if passage.position is not None}
        self._blocked: set[Position] = set()
        """The positions of hits whose text was cut; no window of several atoms may include them."""
        self._lookup = lookup
        self._placed: list[tuple[int, Position, Passage]] = []
        """The hits that can have neighbours, because they have a position and their whole text is shown. Each
        is given with its rank and its position, and the hits are ordered by rank."""
        self._shown: set[Position] = set()
        self._runs: dict[Position, Run] = {}
        """Maps the first and the last position of each run to the run."""
        self._alone: list[tuple[Run, str]] = []
        """The runs that consist of a single hit and cannot be extended, each with its text."""
        self._place(hits, leads)

    def _place(self, hits: Sequence[Passage], leads: int) -> None:
        """Place hits in order. Stop when less than half of the tokens that a hit wants are left.

        A hit wants as many tokens as its text costs, but at most half of the budget. Each of the first
        `leads` hits may want an equal part of the whole budget instead. If the budget grows, the number of
        wanted tokens grows at most in proportion. So a larger budget places every hit that a smaller budget
        places. Joining hits into one window saves tokens. These tokens are used to show neighbours, and the
        whole texts of hits that were cut.
        """
        # All amounts are doubled, because half of an odd budget is not a whole number.
        left = 2 * self._budget
        cut: list[tuple[Run, str]] = []
        for rank, passage in enumerate(hits):
            run = Run.of(passage, rank)
            most = left // (leads - rank) if rank < leads else self._budget
            wanted = min(2 * run.cost, most)
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
        """Place the whole text of a hit. The caller has checked that the budget suffices."""
        (passage,) = run.passages
        if passage.position is None:
            self._spent += run.cost
            self._alone.append((run, run.text))
        else:
            self._placed.append((run.rank, passage.position, passage))
            self._show(passage.position, [run])

    def _at(self, position: Position) -> Passage | None:
        """Return the passage at a position, or None if no passage there may be included in a window."""
        if position in self._blocked:
            return None
        return self._hits.get(position) or self._lookup(position)

    def fill_gaps(self) -> None:
        """Show the atoms in each gap of one or two atoms between two hits, beginning at the best hits.

        Each atom in the gap must have the same title as one of the two hits, because text under any other
        title belongs to another section.
        """
        for _, position, hit in self._placed:
            for step in (1, -1):
                self._fill_gap(position, hit, step)

    def _fill_gap(self, position: Position, hit: Passage, step: int) -> None:
        beyond = [position.offset(step * distance) for distance in range(1, GAP_MAX + 2)]
        size = next((at for at, one in enumerate(beyond) if one in self._shown), 0)
        passages = [self._at(one) for one in beyond[:size]]
        gap = [passage for passage in passages if passage is not None]
        # The passage after a gap is a hit, because so far neighbours were only shown between two hits.
        titles = (hit.title, self._hits[beyond[size]].title) if gap else ()
        if gap and len(gap) == size and all(passage.title in titles for passage in gap):
            start, order = (beyond[0], gap) if step > 0 else (beyond[size - 1], gap[::-1])
            self._show(start, list(map(Run.of, order)))

    def widen(self, radius: int) -> None:
        """Show the neighbours of hits, up to the distance `radius`.

        The nearest neighbours of all hits are tried first, in the order of the ranks of the hits. For each
        hit, the atom after the hit is tried first, then the atom before the hit. Then the neighbours at
        distance 2 are tried, and so on. Only atoms with the same title as the hit are shown. On each side of
        a hit, the search ends at the first atom that is missing, has a different title or exceeds the budget.
        After 8 atoms have exceeded the budget, no more atoms are tried on any side.
        """
        sides = [(position, hit, step) for _, position, hit in self._placed for step in (1, -1)]
        for distance in range(1, radius + 1):
            sides = [
                (position, hit, step)
                for position, hit, step in sides
                if self._extend_to(position.offset(step * distance), hit.title)
            ]

    def _extend_to(self, position: Position, title: str | None) -> bool:
        """Show the atom at `position` if it has the title `title` and the budget allows it.

        Return True if the atom is now shown, even if it was shown before this call.
        """
        if position in self._shown:
            return True
        passage = self._at(position) if self._misses < MISSES_MAX else None
        if passage is None or passage.title != title:
            return False
        fits = self._show(position, [Run.of(passage)])
        self._misses += not fits
        return fits

    def _show(self, start: Position, added: Sequence[Run]) -> bool:
        """Show consecutive passages, the first at `start`, and join them to the runs before and after them.

        Return True if the passages are shown. If they would exceed the budget, change nothing and return
        False.
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
        """Yield all windows, ordered by source, and within a source by position.

        The sources are ordered by the rank of their best hit.
        """
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
    """Return the text of a hit in at most `tokens` tokens, with its content cut if necessary.

    A heading that costs more than half of the tokens is replaced by one with only the id and the day, or with
    only the id. Return an empty text if the result still costs too much.
    """
    place = passage.title, passage.source, passage.sequence, passage.sequence
    nowhere = None, None, None, None
    heads = [
        heading(*where, passage.id, provenance=passage.provenance, when=when)
        for where, when in ((place, passage.when), (nowhere, passage.when), (nowhere, ""))
    ]
    head = next((one for one in heads if 2 * tokens_of(one) <= tokens), heads[-1])
    content = body_within(passage.content, tokens - tokens_of(head) - LINE_END)
    return f"{head}{content}\n" if content else ""


@dataclass(frozen=True, slots=True)
class Context:
    """The windows of text that answer a question, read from the state after `size` events of the journal."""

    query: str
    windows: tuple[Window, ...]
    """The windows, ordered by source, and within a source by position. The sources are ordered by the rank of
    their best hit."""
    text: str
    """The texts of all windows, formatted for a prompt (`engine.query.prompt_text`)."""
    tokens: int
    """The estimated number of tokens of `text`; at most `budget`."""
    budget: int
    size: int
    radius: int
    """The largest distance from a hit at which neighbours were looked up."""
    matched: tuple[MatchedName, ...] = ()
    """The names of the question that were probably misspelled, as in `Recall`."""
    unknown_tags: tuple[str, ...] = ()
    """The tags that the filters require and that no atom has."""

    @property
    def notes(self) -> list[str]:
        """What people and models should know about the answer besides its text."""
        return notes_of(self.matched, self.unknown_tags)


def checked_budget(budget: object) -> int:
    """Return `budget` if it is large enough to show at least one hit.

    Raises:
        InvalidInputError: the budget is not a whole number or is below 16.
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
    """Return the rarity of a question's words.

    It is 1 if each word is in only one document, and about 0 if all words are common. The rarity is the mean
    IDF of the three rarest words that occur in the documents, divided by the IDF of a word that occurs in one
    document. It is 0 if none of the words occurs. `frequencies` holds the number of documents that contain
    each word.
    """
    from engine.query.recall.signals.scoring import idf  # imports numpy, which clients do not need

    rarest = sorted(frequency for frequency in frequencies if frequency)[:_RAREST]
    if not rarest:
        return 0.0
    mean = math.fsum(idf(documents, frequency) for frequency in rarest) / len(rarest)
    return round(mean / idf(documents, 1), 6)


def radius_of(budget: int, rarity: float) -> int:
    """Return the largest distance from a hit at which to look up neighbours, 0 to 4.

    With a `rarity` of 1, the distance is 1 for a budget of at least 250 tokens, and one more for each
    doubling of the budget. With a lower `rarity`, this distance is multiplied by `rarity` and rounded. Rare
    words occur only in the passage about a subject, and the neighbours of this passage are useful. Common
    words occur everywhere.
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
    leads: int = 1,
) -> Context:
    """Return windows with `hits` and their neighbours, in at most `budget` tokens.

    Hits are placed in order as long as the budget allows. The first `leads` hits share the budget equally,
    and what one of them leaves goes to the next ones; the text of such a hit is cut if it costs more than its
    share. The text of any other hit is cut if it costs more than half of the budget. The text of the last hit
    is also cut if the remaining tokens suffice for half of the text, but not for the whole text.
    A text is cut after a word. A hit whose text is cut is alone in its window.

    Then gaps of one or two atoms between hits are filled. Last, each hit gets at most `radius` neighbours on
    each side; they have the same title as the hit. Consecutive atoms form one window.

    A larger budget shows every hit that a smaller budget shows. Equal arguments give equal bytes.

    `hits` are distinct: the best hit of each subject of the question, then the rest, the best first. `lookup`
    is called only with positions where there is no hit. If `lookup` returns None for a position, no window
    extends across this position.

    Raises:
        InvalidInputError: the budget is too small.
    """
    layout = Layout(checked_budget(budget), hits, lookup, leads)
    layout.fill_gaps()
    layout.widen(radius)
    windows = tuple(layout.windows())
    text = "".join(window.text for window in windows)
    return Context(query, windows, text, tokens_of(text), budget, size, radius)
