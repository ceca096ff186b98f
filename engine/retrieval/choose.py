"""From a ranked pool to hits: near-duplicates folded, walkers held back, the budget kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from engine.border import show_id
from engine.queries import ids_at
from engine.retrieval.answer import Dropped, Hit, Role
from engine.retrieval.bm25 import TIES_MAX
from engine.retrieval.budget import body_within, hit_text, tokens_of
from engine.retrieval.duplicates import fold
from engine.retrieval.filters import in_categories
from engine.retrieval.pool import MICRO
from engine.retrieval.snippets import Snippets

if TYPE_CHECKING:
    from engine.retrieval.protocol import Ranking
    from engine.retrieval.scene import Scene, Text

SPARE: Final = 20
"""So many more than the hits wanted are looked through, for near-duplicates and the like."""

CATEGORY_SPARE: Final = 400
"""As many where a category is wanted: whether a text belongs to it is found out one by one."""

DROPPED_MAX: Final = 20
"""So many near misses are told of."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place."""

    place: int
    ordinal: int
    id: str
    score: float
    duplicates: tuple[str, ...] = ()


@dataclass(slots=True)
class Chosen:
    """The hits so far."""

    hits: list[Hit] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    tokens: int = 0
    walkers: int = 0


def candidates(target: int, budget: int | None, categories: Sequence[str]) -> int:
    """How many of the best are looked through for `target` hits."""
    if categories:
        return target + CATEGORY_SPARE
    return target + SPARE if budget is None else 3 * target + SPARE


def choose(
    scene: Scene,
    ranking: Ranking,
    target: int,
    *,
    budget: int | None,
    categories: Sequence[str],
    explain: bool,
) -> Chosen:
    """The best `target` hits that the budget has room for, ties by id."""
    chosen = Chosen()
    show = _Show(scene, ranking, budget, explain=explain)
    walkers_max = int(scene.config.protocol.walkers * target)
    most = candidates(target, budget, categories)
    for one in _folded(scene, _ranked(scene, ranking, most), chosen):
        role = show.role(one)
        if len(chosen.hits) < target:
            (text,) = scene.texts([one.ordinal])
        if len(chosen.hits) == target:
            reason = "beyond the limit"
        elif categories and not in_categories(text.body, text.record.tags, categories):
            reason = "no such category"
        elif role is Role.WALKER and chosen.walkers >= walkers_max:
            reason = "too many walkers"
        else:
            left = None if budget is None else budget - chosen.tokens
            hit = show.hit(one, role, text, left, first=not chosen.hits)
            if hit is not None:
                chosen.hits.append(hit)
                chosen.tokens += hit.tokens
                chosen.walkers += role is Role.WALKER
                continue
            reason = "over the budget"
        if len(chosen.hits) == target and (not explain or len(chosen.dropped) >= DROPPED_MAX):
            break
        chosen.dropped.append(Dropped(one.id, one.score, reason))
    return chosen


def _ranked(scene: Scene, ranking: Ranking, most: int) -> list[Ranked]:
    """The best `most` of the pool, ties by id, which unlike ordinals survive a re-ingest."""
    pool = ranking.pool
    places = pool.ranked()
    micros = pool.micros
    end = most
    while end < min(len(places), most + TIES_MAX) and micros[places[end]] == micros[places[most - 1]]:
        end += 1
    chosen = places[:end].tolist()
    ordinals = pool.ordinals[chosen].tolist()
    found = [
        Ranked(place, ordinal, show_id(atom), int(micros[place]) / MICRO)
        for place, ordinal, atom in zip(chosen, ordinals, ids_at(scene.rows, ordinals), strict=True)
    ]
    found.sort(key=lambda one: (-one.score, one.id))
    return found[:most]


def _folded(scene: Scene, ranked: Sequence[Ranked], chosen: Chosen) -> Iterator[Ranked]:
    """Those that are no near-duplicates of a better one; the others are told of."""
    if not scene.config.collapse:
        yield from ranked
        return
    ordinals = [one.ordinal for one in ranked]
    by_ordinal = {one.ordinal: one for one in ranked}
    kept = fold(ordinals, scene.view.facts.fingerprints)
    folded = {copy: ordinal for ordinal, copies in kept.items() for copy in copies}
    for one in ranked:
        if one.ordinal in folded:
            better = by_ordinal[folded[one.ordinal]]
            chosen.dropped.append(Dropped(one.id, one.score, f"duplicate of {better.id}"))
        else:
            copies = tuple(by_ordinal[copy].id for copy in kept.get(one.ordinal, ()))
            yield Ranked(one.place, one.ordinal, one.id, one.score, copies)


class _Show:
    """Makes hits of one ranking."""

    def __init__(self, scene: Scene, ranking: Ranking, budget: int | None, *, explain: bool) -> None:
        self._scene = scene
        self._ranking = ranking
        self._whole = budget is not None
        self._explain = explain
        weights = {term: scene.idf(term) for term in scene.question.terms}
        self._snippets = Snippets(weights, scene.config.snippet_chars)

    def role(self, one: Ranked) -> Role:
        """An anchor mentions a word of the question; a walker was only led to."""
        return Role.ANCHOR if self._ranking.pool.shares["words"][one.place] > 0 else Role.WALKER

    def hit(self, one: Ranked, role: Role, text: Text, left: int | None, *, first: bool) -> Hit | None:
        """The hit, with its text where there is a budget; None if what is `left` has no room for it."""
        record, content = text.record, text.body.content
        snippet = self._snippets.around(content)
        shown = content if self._whole else snippet
        tokens = tokens_of(hit_text(record.title, record.source, record.sequence, one.id, shown))
        if left is not None and tokens > left:
            if not first:
                return None
            shown, tokens = _shortened(text, one.id, left)
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
            tokens=tokens,
            duplicates=one.duplicates,
            signals=self._ranking.pool.explained(one.place) if self._explain else None,
            path=self._path(one),
        )

    def _path(self, one: Ranked) -> tuple[str, ...]:
        """How it was reached, where words were not all."""
        anchor = self._ranking.led.get(one.ordinal)
        path = () if anchor is None else (show_id(anchor),)
        return (*path, *(f"#{tag}" for tag in sorted(self._ranking.walked.get(one.ordinal, ()))))


def _shortened(text: Text, id: str, left: int) -> tuple[str, int]:  # noqa: A002
    """The beginning of a content that `left` tokens have room for, heading included; or nothing."""
    record = text.record
    heading = tokens_of(hit_text(record.title, record.source, record.sequence, id, ""))
    room = left - heading
    while room > 0:
        shown = body_within(text.body.content, room).strip("\n")
        tokens = tokens_of(hit_text(record.title, record.source, record.sequence, id, shown))
        if shown and tokens <= left:
            return shown, tokens
        room -= max(1, tokens - left)
    return "", 0
