"""The content of a window of context: passages at positions in their sources, and runs of passages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from engine.base.validation import PROVENANCES
from engine.query.prompt_text import INTERNAL, body, day_line, heading, subheading, tokens_of

LINE_END: Final = 1
"""The number of tokens that the line end after a window costs."""


class Position(NamedTuple):
    """The position of an atom in its source."""

    source: str
    number: int
    """The index of the atom among the live atoms of its source, which are sorted by sequence, then by
    ordinal."""

    def offset(self, distance: int) -> Position:
        """Return the position `distance` atoms later in the source, or earlier if `distance` is negative."""
        return Position(self.source, self.number + distance)


@dataclass(frozen=True, slots=True)
class Passage:
    """An atom that may be shown in a window, as a hit or as a neighbour of a hit."""

    id: str
    content: str
    title: str | None = None
    source: str | None = None
    sequence: int | None = None
    position: Position | None = None
    """The position of the atom; None if the atom has no source or no sequence."""
    score: float = 0.0
    """The score of a hit; 0 for a neighbour."""
    provenance: str = INTERNAL
    day: str = ""
    """The day on which the text was written; '' if it is unknown."""
    when: str = ""
    """What a heading shows of the day, and of the times in the text that depend on it."""


@dataclass(frozen=True, slots=True)
class Window:
    """A text that shows several consecutive atoms of one source, or a single atom."""

    source: str | None
    title: str | None
    """The title of the first atom. If a later atom has a different title, `text` shows that title on a line
    before the atom."""
    first: int | None
    """The sequence of the first atom."""
    last: int | None
    """The sequence of the last atom."""
    ids: tuple[str, ...]
    """The ids of the atoms, in order."""
    hits: tuple[str, ...]
    """The ids of the atoms that are hits, in order; the other atoms are neighbours of hits."""
    score: float
    """The score of the best hit in the window."""
    text: str
    tokens: int
    """The estimated number of tokens of `text`."""
    provenance: str = INTERNAL
    """The provenance of the atoms. If the atoms differ, it is the provenance that deserves the least
    confidence: `quarantine` if an atom has it, else `external`."""


@dataclass(eq=False)
class Run:
    """Consecutive passages, their cost in tokens, and the rank of each passage that is a hit."""

    passages: tuple[Passage, ...]
    ranks: dict[str, int]
    """The id of each hit → the rank of the hit, 0 for the best."""
    body_tokens: int
    """The estimated number of tokens of all lines below the heading."""

    @classmethod
    def of(cls, passage: Passage, rank: int | None = None) -> Run:
        """Return a run that consists of one passage. The passage is a hit if `rank` is given."""
        ranks = {} if rank is None else {passage.id: rank}
        return cls((passage,), ranks, tokens_of(body(passage.content)))

    @property
    def ends(self) -> tuple[Position, ...]:
        """The positions of the first and the last passage; empty for a passage without a position."""
        ends = (self.passages[0], self.passages[-1])
        return tuple(passage.position for passage in ends if passage.position is not None)

    def joined(self, following: Run) -> Run:
        """Return one run that contains the passages of this run and then those of the run `following`."""
        between = tokens_of(_between(self.passages[-1], following.passages[0]))
        return Run(
            self.passages + following.passages,
            self.ranks | following.ranks,
            self.body_tokens + between + following.body_tokens,
        )

    @property
    def rank(self) -> int:
        """The rank of the best hit in the run."""
        return min(self.ranks.values())

    @cached_property
    def heading(self) -> str:
        """The first line of the text. It contains the id of the best hit in the run."""
        first, last = self.passages[0], self.passages[-1]
        best = min(self.ranks, key=self.ranks.__getitem__)
        return heading(
            *(first.title, first.source, first.sequence, last.sequence, best),
            provenance=self.provenance,
            when=first.when,
        )

    @property
    def provenance(self) -> str:
        """The provenance of the passage that deserves the least confidence."""
        return max((one.provenance for one in self.passages), key=PROVENANCES.index)

    @cached_property
    def cost(self) -> int:
        """The estimated number of tokens of the text.

        It may be slightly too high, because the number is rounded up for each line.
        """
        return tokens_of(self.heading) + self.body_tokens + LINE_END

    @property
    def text(self) -> str:
        """The text of the run for a prompt: the heading and the contents of the passages."""
        parts = [self.heading, body(self.passages[0].content)]
        for before, passage in pairwise(self.passages):
            parts += _between(before, passage), body(passage.content)
        return "".join(parts) + "\n"

    def window(self, text: str) -> Window:
        """Return a window that shows the passages of this run with the given text."""
        first, last = self.passages[0], self.passages[-1]
        return Window(
            source=first.source,
            title=first.title,
            first=first.sequence,
            last=last.sequence,
            ids=tuple(passage.id for passage in self.passages),
            hits=tuple(passage.id for passage in self.passages if passage.id in self.ranks),
            score=max(one.score for one in self.passages if one.id in self.ranks),
            text=text,
            tokens=tokens_of(text),
            provenance=self.provenance,
        )


def _between(before: Passage, after: Passage) -> str:
    """Return the lines above the passage `after`: its title and its day, if `before` has others."""
    title = "" if before.title == after.title else subheading(after.title)
    if after.day in ("", before.day) and after.when in ("", after.day, before.when):
        return title
    return title + day_line(after.when or after.day)
