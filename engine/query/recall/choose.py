"""From a ranked pool to hits: near-duplicates folded, walkers held back, the budget kept."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from engine.base.validation import show_id
from engine.ledger.queries import ids_at
from engine.query.budget import CHARS_PER_TOKEN_MAX, CUT, hit_text, tokens_of
from engine.query.duplicates import are_near
from engine.query.filters import in_categories
from engine.query.recall.answer import Dropped, Hit, Role
from engine.query.recall.protocol import Ranking
from engine.query.recall.retired import Retired
from engine.query.recall.scene import Scene, Text
from engine.query.recall.signals.bm25 import MICRO
from engine.query.snippets import Snippets
from engine.text.simhash import near

_WORD: Final = re.compile(r"\S+")

SPARE: Final = 20
"""So many beyond the hits wanted are looked through for copies of them, and to say what was nearly a hit."""

BLOCK: Final = 32
"""Ids are read for so many at a time."""

CATEGORY_CANDIDATES: Final = 400
"""So many more candidates where a category is wanted: whether a text is in it is found out one by one."""

FEW: Final = 64
"""So many hits are compared one by one: measured at 0.2 µs each, where an array takes some 12 µs."""

TOO_LONG: Final = "over the budget"

DROPPED_MAX: Final = 20
"""So many near misses are told of."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place."""

    place: int
    ordinal: int
    id: str
    score: float


class Chosen:
    """The hits so far, the best first, and what was nearly one."""

    def __init__(
        self, scene: Scene, ranking: Ranking, budget: int | None, categories: Sequence[str], *, explain: bool
    ) -> None:
        self.hits: list[Hit] = []
        self.dropped: list[Dropped] = []
        self.tokens = 0
        self._scene = scene
        self._ranking = ranking
        self._budget = budget
        self._categories = categories
        self._explain = explain
        self._walkers = 0
        self._copies: dict[str, list[str]] = {}
        """Id of a hit → ids of its near-duplicates, the best first."""
        self._fingerprints = scene.view.facts.fingerprints
        self._kept: list[int] = []
        """The fingerprints of the hits."""
        weights = {term: scene.idf(term) for term in scene.question.terms}
        self._snippets = Snippets(weights, scene.config.snippet_chars)

    def take(self, one: Ranked, target: int) -> str:
        """Make it a hit, or say why not."""
        original = self._original(one)
        # An anchor mentions a word of the question; a walker was only led to.
        role = Role.ANCHOR if self._ranking.pool.shares["words"][one.place] > 0 else Role.WALKER
        if original is not None:
            self._copies.setdefault(original, []).append(one.id)
            return f"duplicate of {original}"
        if len(self.hits) == target:
            return "beyond the limit"
        if role is Role.WALKER and self._walkers >= int(self._scene.config.protocol.walkers * target):
            return "too many walkers"
        (text,) = self._scene.texts([one.ordinal])
        if not self._is_wanted(text):
            return "no such category"
        hit = self._hit(one, role, text)
        if hit is None:
            return TOO_LONG
        self.hits.append(hit)
        self.tokens += hit.tokens
        self._walkers += role is Role.WALKER
        self._kept.append(int(self._fingerprints[one.ordinal]))
        return ""

    def fold(self) -> None:
        """Note with each hit which near-duplicates were folded into it."""
        self.hits = [replace(hit, duplicates=tuple(self._copies.get(hit.id, ()))) for hit in self.hits]

    def _original(self, one: Ranked) -> str | None:
        """The id of the best hit that this is a near-duplicate of."""
        own = int(self._fingerprints[one.ordinal])
        if not self._scene.config.collapse or not own:
            return None
        if len(self._kept) > FEW:
            found = are_near(np.array(self._kept, np.uint64), np.uint64(own)).nonzero()[0]
            return self.hits[found[0]].id if len(found) else None
        return next(
            (hit.id for kept, hit in zip(self._kept, self.hits, strict=True) if near(own, kept)), None
        )

    def _is_wanted(self, text: Text) -> bool:
        return not self._categories or in_categories(text.body, text.record.tags, self._categories)

    def _hit(self, one: Ranked, role: Role, text: Text) -> Hit | None:
        """The hit, with its text where there is a budget; None if what is left has no room for it.

        Of the first hit its beginning will do.
        """
        record, content = text.record, text.body.content
        left = None if self._budget is None else self._budget - self.tokens
        snippet = self._snippets.around(content)
        shown = snippet if left is None else content

        def cost(shown: str) -> int:
            return tokens_of(hit_text(record.title, record.source, record.sequence, one.id, shown))

        if left is not None and cost(shown) > left:
            shown = "" if self.hits else _beginning(content, left, cost)
            if not shown:
                return None
        return Hit(
            id=one.id,
            score=one.score,
            role=role,
            title=record.title,
            source=record.source,
            sequence=record.sequence,
            key=record.key,
            tags=record.tags,
            created=record.created,
            provenance=record.provenance,
            snippet=snippet,
            content=None if left is None else shown,
            tokens=cost(shown),
            duplicates=(),
            signals=self._ranking.pool.explained(one.place) if self._explain else None,
            path=self._path(one) if role is Role.WALKER else (),
        )

    def _path(self, one: Ranked) -> tuple[str, ...]:
        """How a walker was reached; no anchor is named that the filters leave out."""
        anchor = self._ranking.led.get(one.ordinal)
        path: tuple[str, ...] = ()
        if anchor is not None:
            (text,) = self._scene.texts([anchor])
            if self._is_wanted(text):
                path = (show_id(text.record.id),)
        return (*path, *(f"#{tag}" for tag in sorted(self._ranking.walked.get(one.ordinal, ()))))


def choose(
    scene: Scene,
    ranking: Ranking,
    target: int,
    *,
    budget: int | None,
    categories: Sequence[str],
    explain: bool,
) -> Chosen:
    """The best `target` hits that the budget has room for, ties by id.

    Goes down the whole ranking if it must, until twice as many as there may be hits are over the budget.
    """
    chosen = Chosen(scene, ranking, budget, categories, explain=explain)
    retired = Retired(scene.rows, scene.view, scene.marked) if scene.marked else None
    too_long = 0
    for number, one in enumerate(_ranked(scene, ranking)):
        full = len(chosen.hits) == target
        if (full and number >= target + SPARE) or too_long >= 2 * target + SPARE:
            break
        reason = (retired.why(one.ordinal) if retired is not None else None) or chosen.take(one, target)
        too_long += reason == TOO_LONG
        if reason and len(chosen.dropped) < DROPPED_MAX:
            chosen.dropped.append(Dropped(one.id, one.score, reason))
    chosen.fold()
    return chosen


def _ranked(scene: Scene, ranking: Ranking) -> Iterator[Ranked]:
    """The pool from the best down, ties by id, which unlike ordinals survive a re-ingest."""
    pool = ranking.pool
    places = pool.ranked()
    micros = pool.micros[places].tolist()
    ordinals = pool.ordinals[places].tolist()
    start = 0
    while start < len(places):
        end = min(start + BLOCK, len(places))
        while end < len(places) and micros[end] == micros[end - 1]:
            end += 1
        ids = map(show_id, ids_at(scene.rows, ordinals[start:end]))
        block = [
            Ranked(int(places[at]), ordinals[at], atom, micros[at] / MICRO)
            for at, atom in zip(range(start, end), ids, strict=True)
        ]
        yield from sorted(block, key=lambda one: (-one.score, one.id))
        start = end


def _beginning(content: str, left: int, cost: Callable[[str], int]) -> str:
    """The longest beginning of a text that costs no more than `left`; empty for no room.

    It ends with a word, or within one where the last that ends is in its first half.
    """
    window = content[: (left + 1) * CHARS_PER_TOKEN_MAX]
    # A longer beginning never costs less.
    reach = bisect_right(range(len(window) + 1), left, key=lambda end: cost(content[:end] + CUT)) - 1
    if reach < 0:
        return ""
    ends = (word.end() for word in _WORD.finditer(window, 0, reach + 1))
    word = max((end for end in ends if end <= reach), default=0)
    return content[: word if 2 * word > reach else reach] + CUT
