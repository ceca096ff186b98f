"""From a ranked pool to hits: near-duplicates folded, walkers held back, the budget kept."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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


@dataclass(slots=True)
class Chosen:
    """The hits so far."""

    hits: list[Hit] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    copies: dict[str, list[str]] = field(default_factory=dict)
    """Id of a hit → ids of its near-duplicates, the best first."""
    tokens: int = 0
    walkers: int = 0


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
    chosen = Chosen()
    show = _Show(scene, ranking, budget, categories, explain=explain)
    folding = _Folding(scene)
    retired = Retired(scene.rows, scene.view, scene.marked) if scene.marked else None
    too_long = 0
    walkers_max = int(scene.config.protocol.walkers * target)
    for number, one in enumerate(_ranked(scene, ranking)):
        full = len(chosen.hits) == target
        if (full and number >= target + SPARE) or too_long >= 2 * target + SPARE:
            break
        role = show.role(one)
        hidden = retired.why(one.ordinal) if retired is not None else None
        original = None if hidden else folding.original(one)
        if hidden:
            reason = hidden
        elif original is not None:
            chosen.copies.setdefault(original, []).append(one.id)
            reason = f"duplicate of {original}"
        elif full:
            reason = "beyond the limit"
        elif role is Role.WALKER and chosen.walkers >= walkers_max:
            reason = "too many walkers"
        else:
            reason = _refused(scene, show, one, role, chosen, folding, budget, categories)
            too_long += reason == TOO_LONG
        if reason and len(chosen.dropped) < DROPPED_MAX:
            chosen.dropped.append(Dropped(one.id, one.score, reason))
    chosen.hits = [replace(hit, duplicates=tuple(chosen.copies.get(hit.id, ()))) for hit in chosen.hits]
    return chosen


def _refused(
    scene: Scene,
    show: _Show,
    one: Ranked,
    role: Role,
    chosen: Chosen,
    folding: _Folding,
    budget: int | None,
    categories: Sequence[str],
) -> str:
    """Make it a hit, or say why not."""
    (text,) = scene.texts([one.ordinal])
    if categories and not in_categories(text.body, text.record.tags, categories):
        return "no such category"
    hit = show.hit(one, role, text, None if budget is None else budget - chosen.tokens, cut=not chosen.hits)
    if hit is None:
        return TOO_LONG
    chosen.hits.append(hit)
    chosen.tokens += hit.tokens
    chosen.walkers += role is Role.WALKER
    folding.keep(one)
    return ""


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


class _Folding:
    """Tells near-duplicates of hits."""

    def __init__(self, scene: Scene) -> None:
        self._fingerprints = scene.view.facts.fingerprints
        self._collapse = scene.config.collapse
        self._kept: list[int] = []
        self._ids: list[str] = []

    def original(self, one: Ranked) -> str | None:
        """The id of the best hit that this is a near-duplicate of."""
        own = int(self._fingerprints[one.ordinal])
        if not self._collapse or not own:
            return None
        if len(self._kept) > FEW:
            found = are_near(np.array(self._kept, np.uint64), np.uint64(own)).nonzero()[0]
            return self._ids[found[0]] if len(found) else None
        return next((atom for kept, atom in zip(self._kept, self._ids, strict=True) if near(own, kept)), None)

    def keep(self, one: Ranked) -> None:
        """Compare what follows with this hit, too."""
        self._kept.append(int(self._fingerprints[one.ordinal]))
        self._ids.append(one.id)


class _Show:
    """Makes hits of one ranking."""

    def __init__(
        self,
        scene: Scene,
        ranking: Ranking,
        budget: int | None,
        categories: Sequence[str],
        *,
        explain: bool,
    ) -> None:
        self._scene = scene
        self._ranking = ranking
        self._whole = budget is not None
        self._categories = categories
        self._explain = explain
        weights = {term: scene.idf(term) for term in scene.question.terms}
        self._snippets = Snippets(weights, scene.config.snippet_chars)

    def role(self, one: Ranked) -> Role:
        """An anchor mentions a word of the question; a walker was only led to."""
        return Role.ANCHOR if self._ranking.pool.shares["words"][one.place] > 0 else Role.WALKER

    def hit(self, one: Ranked, role: Role, text: Text, left: int | None, *, cut: bool) -> Hit | None:
        """The hit, with its text where there is a budget; None if what is `left` has no room for it.

        With `cut` its beginning will do.
        """
        record, content = text.record, text.body.content
        snippet = self._snippets.around(content)
        shown = content if self._whole else snippet

        def cost(shown: str) -> int:
            return tokens_of(hit_text(record.title, record.source, record.sequence, one.id, shown))

        if left is not None and cost(shown) > left:
            shown = _beginning(content, left, cost) if cut else ""
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
            content=shown if self._whole else None,
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
            if not self._categories or in_categories(text.body, text.record.tags, self._categories):
                path = (show_id(text.record.id),)
        return (*path, *(f"#{tag}" for tag in sorted(self._ranking.walked.get(one.ordinal, ()))))


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
