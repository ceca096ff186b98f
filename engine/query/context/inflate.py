"""Context inflation: hits, and what stands beside them, as windows to be read (Standard 065).

    hits, best first ──▶ each gets its place ──▶ gaps between them are filled ──▶ neighbours, ring by ring

Every step is kept within the budget, and no neighbour costs a token before all hits have their places.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.base.errors import InvalidInputError
from engine.base.validation import integer
from engine.query.budget import BUDGET_MIN, tokens_of
from engine.query.context.windows import Beside, Layout, Piece, Window
from engine.query.recall.signals.bm25 import idf

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
    query: str, hits: Sequence[Piece], beside: Beside, *, budget: int, radius: int, size: int = 0
) -> Context:
    """The windows of `hits` and of what is near them, in at most `budget` tokens.

    Hits get their places in order, as long as there is room. One that costs more than half of the
    budget (the best: more than all of it) is cut at a word, and so is the last, if half of it fits,
    unless all the others leave room for it; what is cut stands by itself. Then gaps of one or two
    atoms between hits are filled, and each hit gets its neighbours, up to `radius` on either side, but
    none under another title. Atoms side by side are one window.

    A larger budget has every hit that a smaller one has. Equal arguments, equal bytes.

    Args:
        query: What was asked.
        hits: Best first, each once.
        beside: Asked for the atom at a place, where that is no hit. A place for which there is none is
            a wall, which no window reaches over.
        budget: 16 or more.
        radius: 0 or more.
        size: Of the journal that all this was read from.

    Raises:
        InvalidInputError: the budget is too small.
    """
    layout = Layout(checked_budget(budget), hits, beside)
    layout.fill_gaps()
    layout.widen(radius)
    windows = tuple(layout.windows())
    text = "".join(window.text for window in windows)
    return Context(query, windows, text, tokens_of(text), budget, size, radius)
