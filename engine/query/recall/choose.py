"""Choose hits among the ranked candidates: group near-duplicates, limit walkers and keep to the budget.

A walker is a candidate without words of the question, found only through its relations to other atoms.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backends.base import Reader
from engine.base.validation import show_id
from engine.followers.names import page_title
from engine.ledger.queries import ids_at
from engine.query.budget import CHARS_PER_TOKEN_MAX, CUT, hit_tokens
from engine.query.duplicates import are_near, near_earlier
from engine.query.filters import in_categories
from engine.query.recall.answer import Dropped, Hit, Role
from engine.query.recall.pool import ALIAS, Pool
from engine.query.recall.protocol import Ranking, complete
from engine.query.recall.retired import SupersededAtoms
from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.query.recall.signals.bm25 import MICRO

_WORD: Final = re.compile(r"\S+")

SPARE: Final = 20
"""The number of candidates that are read in addition to the requested number of hits.

These further candidates may be near-duplicates of hits, or are listed as left out.
"""

BLOCK: Final = 32
"""The number of candidates that are examined together."""

CATEGORY_CANDIDATES: Final = 400
"""The number of further candidates that are ranked if the query names categories.

Many candidates may not belong to these categories.
"""

TOO_LONG: Final = "over the budget"

DROPPED_MAX: Final = 20
"""The largest number of candidates that an explained answer lists as left out."""


class Ranked(NamedTuple):
    """A candidate of the ranking."""

    row: int
    """The row of the candidate in the pool."""
    ordinal: int
    score: float
    fingerprint: int
    is_alike: bool
    """True if the candidate may be a near-duplicate of a hit; False if it certainly is not."""
    source: int
    """The hash of the candidate's source; 0 if the candidate has no source."""
    by_words: bool
    """True if the candidate contains a word of the question, or the question contains an alias of the
    candidate."""


class Chosen:
    """The hits chosen so far, the best first, and the candidates that were left out."""

    def __init__(
        self,
        scope: RecallScope,
        ranking: Ranking,
        target: int,
        budget: int | None,
        categories: Sequence[str],
        per_page: int,
    ) -> None:
        self.hits: list[Hit] = []
        self.dropped: list[Dropped] = []
        """The candidates that were left out, at most DROPPED_MAX; empty unless the answer is explained."""
        self.tokens = 0
        self._scope = scope
        self.ranking = ranking
        """The ranking from which the hits are chosen."""
        self._target = target
        self._budget = budget
        self._categories = categories
        self._explain = scope.explain
        self._walkers = 0
        self._left_out: list[tuple[Ranked, str]] = []
        self._duplicates: dict[int, list[int]] = {}
        """Maps the index of a hit to the ordinals of its near-duplicates, the best first."""
        self._per_page = per_page
        self._pages: dict[int, int] = {}
        """The hash of the source of each page among the hits, with the number of hits of the page."""
        self.folded = 0
        """The number of candidates that are not hits because enough hits are of the same page."""
        self._walkers_max = int(scope.config.protocol.walkers * target)
        self.fingerprints: list[int] = []
        """The fingerprints of the hits, in the order of the hits."""

    def complete(self) -> Ranking:
        """Complete the ranking and return it. Candidates that were already examined do not change."""
        self.ranking = complete(self._scope, self.ranking)
        return self.ranking

    @property
    def is_full(self) -> bool:
        """True if the requested number of hits has been chosen."""
        return len(self.hits) == self._target

    def take(self, one: Ranked) -> str:
        """Add a candidate to the hits and return '', or return the reason why it cannot be a hit."""
        original = self._original(one.fingerprint) if one.is_alike else None
        if original is not None:
            self._duplicates.setdefault(original, []).append(one.ordinal)
            return f"duplicate of {self.hits[original].id}"
        if len(self.hits) == self._target:
            return "beyond the limit"
        of_page = self._pages.get(one.source, 0)
        if 0 < self._per_page <= of_page:
            self.folded += 1
            return "enough of its page"
        # A walker was found only by its relations.
        role = Role.ANCHOR if one.by_words else Role.WALKER
        if role is Role.WALKER and self._walkers >= self._walkers_max:
            return "too many walkers"
        atom = self._scope.atom(one.ordinal)
        if not self._is_wanted(atom):
            return "no such category"
        hit = self._hit(one, role, atom)
        if hit is None:
            return TOO_LONG
        self.hits.append(hit)
        self.tokens += hit.tokens
        self._walkers += role is Role.WALKER
        if hit.page is not None:
            self._pages[one.source] = of_page + 1
        self.fingerprints.append(one.fingerprint)
        return ""

    def leave_out(self, one: Ranked, reason: str) -> None:
        """Record a candidate that is not a hit. Only an explained answer lists such candidates."""
        if self._explain and len(self._left_out) < DROPPED_MAX:
            self._left_out.append((one, reason))

    def finish(self) -> None:
        """Set `dropped`, and the field `duplicates` of each hit. Ids of other atoms are read only here."""
        for original, ordinals in self._duplicates.items():
            others = tuple(map(show_id, ids_at(self._scope.rows, ordinals)))
            self.hits[original] = replace(self.hits[original], duplicates=others)
        ids = ids_at(self._scope.rows, [one.ordinal for one, _ in self._left_out])
        for (one, reason), atom in zip(self._left_out, ids, strict=True):
            self.dropped.append(Dropped(show_id(atom), one.score, reason))

    def _original(self, fingerprint: int) -> int | None:
        """Return the index of the best hit that is a near-duplicate of a text, or None."""
        if not self._scope.config.collapse:
            return None
        found = are_near(np.array(self.fingerprints, np.uint64), np.uint64(fingerprint)).nonzero()[0]
        return int(found[0]) if len(found) else None

    def _is_wanted(self, atom: LoadedAtom) -> bool:
        return not self._categories or in_categories(atom.body, atom.record.tags, self._categories)

    def _hit(self, one: Ranked, role: Role, atom: LoadedAtom) -> Hit | None:
        """Return a candidate as a hit, or None if too little of the budget is left.

        If there is a budget, the hit contains its text. The text of the first hit is cut if it is too long.
        """
        record, own_id = atom.record, show_id(atom.record.id)
        snippet = atom.reading.snippet
        content = None
        if self._budget is not None:
            content = self._within(atom, own_id, self._budget - self.tokens)
            if content is None:
                return None
        shown = snippet if content is None else content
        return Hit(
            id=own_id,
            score=one.score,
            role=role,
            title=record.title,
            source=record.source,
            sequence=record.sequence,
            page=page_title(atom.body),
            key=record.key,
            tags=record.tags,
            created=record.created,
            provenance=record.provenance,
            snippet=snippet,
            content=content,
            tokens=hit_tokens(record.title, record.source, record.sequence, own_id, shown),
            duplicates=(),
            signals=self.ranking.pool.explained(one.row) if self._explain else None,
            path=self._path(one) if role is Role.WALKER else (),
        )

    def _within(self, atom: LoadedAtom, own_id: str, left: int) -> str | None:
        """Return the text of a hit if it costs at most `left` tokens. The first text is cut if necessary."""
        record, content = atom.record, atom.body.content

        def cost(shown: str) -> int:
            return hit_tokens(record.title, record.source, record.sequence, own_id, shown)

        if not _costs_more(content, left, cost):
            return content
        return None if self.hits else _beginning(content, left, cost) or None

    def _path(self, one: Ranked) -> tuple[str, ...]:
        """Return the id of the anchor and the tags that led to a walker.

        The anchor is omitted if it does not belong to the wanted categories.
        """
        anchor = self.ranking.hop_anchors.get(one.ordinal)
        path: tuple[str, ...] = ()
        if anchor is not None:
            atom = self._scope.atom(anchor)
            if self._is_wanted(atom):
                path = (show_id(atom.record.id),)
        return (*path, *(f"#{tag}" for tag in sorted(self.ranking.walked.get(one.ordinal, ()))))


def choose(
    scope: RecallScope,
    ranking: Ranking,
    target: int,
    *,
    budget: int | None,
    categories: Sequence[str],
    per_page: int,
) -> Chosen:
    """Choose the best `target` hits within the budget, with at most `per_page` hits of a page (0: no limit).

    Candidates with equal scores are ordered by id.

    If there are fewer than `target` hits, more of the ranking is read, up to its end. Reading stops after 2 ·
    `target` + 20 candidates have exceeded the budget. An incomplete ranking is completed when more of it is
    needed.
    """
    chosen = Chosen(scope, ranking, target, budget, categories, per_page)
    superseded = SupersededAtoms(scope.rows, scope.index, scope.marked) if scope.marked else None
    too_long = 0
    for number, one in enumerate(_ranked(scope, ranking, chosen, target)):
        if (chosen.is_full and number >= target + SPARE) or too_long >= 2 * target + SPARE:
            break
        reason = (superseded.reason(one.ordinal) if superseded else None) or chosen.take(one)
        too_long += reason == TOO_LONG
        if reason:
            chosen.leave_out(one, reason)
    chosen.finish()
    return chosen


def _ranked(scope: RecallScope, ranking: Ranking, chosen: Chosen, target: int) -> Iterator[Ranked]:
    """Yield the candidates, the best first. Candidates with equal scores are ordered by id.

    They are not ordered by ordinal, because ordinals may change when the atoms are ingested again. Ids are
    read only where scores are equal. The caller adds hits to `chosen`. If the answer is not explained, the
    last candidates may be left out when they can no longer change the answer.
    """
    pool = ranking.pool
    rows = pool.ranked(ranking.first)
    micros = pool.micros_at(rows)
    hits = chosen.fingerprints
    start, end = 0, min(target, BLOCK)
    while start < len(rows) or ranking.first is not None:
        if start >= len(rows):
            ranking = chosen.complete()
            pool = ranking.pool
            rows = pool.ranked()
            micros = pool.micros_at(rows)
            continue
        if chosen.is_full and not scope.explain:
            last = _after_equal(micros, target + SPARE)
            others = scope.index.facts.fingerprints[pool.ordinals[rows[start:last]]]
            if not any(near_earlier(np.concatenate([np.array(hits, np.uint64), others]), len(hits))):
                return
        end = _after_equal(micros, end)
        ordered = _by_id(scope.rows, rows[start:end], pool.ordinals[rows[start:end]], micros[start:end])
        for begin in range(0, end - start, BLOCK):  # more than one block if many scores are equal
            block = ordered[begin : begin + BLOCK]
            ordinals = pool.ordinals[block]
            # Nearly all of these become hits, so they are read together.
            scope.load(ordinals[: target - len(hits)].tolist())
            fingerprints = scope.index.facts.fingerprints[ordinals]
            before = np.array(hits, np.uint64)
            alike = near_earlier(np.concatenate([before, fingerprints]), len(before))
            scores = micros[start + begin : end][:BLOCK] / MICRO
            own = (block.tolist(), ordinals.tolist(), scores.tolist(), fingerprints.tolist(), alike)
            sources = scope.positions.sources[ordinals].tolist()
            yield from map(Ranked, *own, sources, _by_words(pool, block).tolist())
        start, end = end, end + BLOCK


def _by_words(pool: Pool, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for each candidate with a word of the question or with an alias that is in the question."""
    found: NDArray[np.bool_] = pool.parts["words"][rows] > 0
    if ALIAS in pool.parts:
        found |= pool.parts[ALIAS][rows] > 0
    return found


def _after_equal(micros: NDArray[np.int64], end: int) -> int:
    """Return the first index from `end` on at which the score differs from the score before it."""
    end = min(end, len(micros))
    while end < len(micros) and micros[end] == micros[end - 1]:
        end += 1
    return end


def _by_id(
    snapshot: Reader, rows: NDArray[np.int64], ordinals: NDArray[np.int64], micros: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows of candidates by descending score. Candidates with equal scores are sorted by id."""
    equal = micros[1:] == micros[:-1]
    if not equal.any():
        return rows
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal)).tolist()
    ids = ids_at(snapshot, ordinals[tied].tolist())
    # The places of equal scores are adjacent, so sorting by score and id permutes them among themselves.
    order = sorted(zip((-micros[tied]).tolist(), ids, tied, strict=True))
    sorted_rows = rows.copy()
    sorted_rows[tied] = rows[[at for _, _, at in order]]
    return sorted_rows


def _costs_more(content: str, left: int, cost: Callable[[str], int]) -> bool:
    """Return True if a text costs more than `left` tokens. Count only its beginning if that suffices."""
    most = (left + 1) * CHARS_PER_TOKEN_MAX
    # A longer beginning never costs less.
    return (len(content) > most and cost(content[:most]) > left) or cost(content) > left


def _beginning(content: str, left: int, cost: Callable[[str], int]) -> str:
    """Return the longest beginning of a text, followed by `…`, that costs at most `left` tokens.

    The beginning is cut at the end of a word, unless that would remove more than half of the beginning. The
    result is '' if `…` alone costs too much.
    """
    window = content[: (left + 1) * CHARS_PER_TOKEN_MAX]
    # Bisection is valid because a longer beginning never costs less.
    reach = bisect_right(range(len(window) + 1), left, key=lambda end: cost(content[:end] + CUT)) - 1
    if reach < 0:
        return ""
    ends = (word.end() for word in _WORD.finditer(window, 0, reach + 1))
    word = max((end for end in ends if end <= reach), default=0)
    return content[: word if 2 * word > reach else reach] + CUT
