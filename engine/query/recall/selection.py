"""The hits chosen so far, and the rules that a candidate must pass to become a hit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from engine.base.validation import show_id
from engine.followers.names import page_title
from engine.ledger.queries import ids_at
from engine.query.filters import in_categories
from engine.query.prompt_text import CHARS_PER_TOKEN_MAX, CUT, hit_tokens
from engine.query.recall.recall_answer import Dropped, Hit, Role, Subject
from engine.query.recall.recall_run import LoadedAtom, Ranking, RecallRun, top_score
from engine.query.recall.signals.relations import complete
from engine.query.written_days import day_written, note_of
from engine.text.simhash import are_near

_WORD: Final = re.compile(r"\S+")

TOO_LONG: Final = "over the budget"
BEYOND: Final = "beyond the limit"
WAITING: Final = "too many walkers"

MISSES_MAX: Final = 8
"""After so many candidates beyond the target have exceeded the budget, no more hits are looked for."""

DROPPED_MAX: Final = 20
"""The largest number of candidates that an explained answer lists as left out."""


class SelectionLimits(NamedTuple):
    """The limits that the caller of recall sets."""

    target: int
    """The number of hits to aim at."""
    most: int
    """The largest number of hits; more than `target` only if there is a budget."""
    budget: int | None
    categories: Sequence[str]
    per_page: int
    """The largest number of hits of one page; 0 for any number."""


class Candidate(NamedTuple):
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


class Selection:
    """The hits chosen so far, and the candidates that were left out."""

    def __init__(self, run: RecallRun, ranking: Ranking, wanted: SelectionLimits) -> None:
        """Begin with no hits."""
        self.hits: list[Hit] = []
        """The hits; after `finish`, the best first."""
        self.ordinals: list[int] = []
        """The ordinals of the hits, in the same order."""
        self.subjects: tuple[Subject, ...] = ()
        """The subjects of a question about several things; set by `select_hits`."""
        self.dropped: list[Dropped] = []
        """The candidates that were left out, at most DROPPED_MAX; empty unless the answer is explained."""
        self.tokens = 0
        self._run = run
        self.ranking = ranking
        """The ranking from which the hits are selection."""
        self.wanted = wanted
        self._best = top_score(ranking.pool)
        self._misses = 0
        self._is_closed = False
        self._walkers = 0
        self._waiting: list[Candidate] = []
        """The walkers for which there are too few hits so far, the best first."""
        self._left_out: dict[int, tuple[Candidate, str]] = {}
        self._duplicates: dict[int, list[int]] = {}
        """Maps the index of a hit to the ordinals of its near-duplicates, the best first."""
        self._pages: dict[int, int] = {}
        """The hash of the source of each page among the hits, with the number of hits of the page."""
        self._sources: set[int] = set()
        """The hashes of the sources of the anchors among the hits."""
        self.folded = 0
        """The number of candidates that are not hits because enough hits are of the same page."""
        self.fingerprints: list[int] = []
        """The fingerprints of the hits, in the order in which they were selection."""

    def complete(self) -> Ranking:
        """Complete the ranking and return it. Candidates that were already examined do not change."""
        self.ranking = complete(self._run, self.ranking)
        return self.ranking

    @property
    def has_target(self) -> bool:
        """True if there are as many hits as were aimed at."""
        return len(self.hits) >= self.wanted.target

    @property
    def is_full(self) -> bool:
        """True if no candidate can become a hit any more."""
        return self._is_closed or len(self.hits) >= self.wanted.most

    @property
    def _lowest_further(self) -> float:
        """The lowest score of a hit beyond the target."""
        return self._run.config.protocol.further * self._best

    @property
    def left(self) -> int | None:
        """The number of tokens that are left of the budget; None without a budget."""
        return None if self.wanted.budget is None else self.wanted.budget - self.tokens

    def take(self, one: Candidate, allowance: int | None = None) -> str:
        """Add a candidate to the hits and return '', or return the reason why it cannot be a hit.

        A walker for which there are too few hits waits (see `_walkers_max`). A hit costs at most the tokens
        left of the budget. If it gets an `allowance`, it costs at most so many tokens, and its text is cut if
        necessary. Without an allowance, only the text of the first hit is cut.
        """
        reason = self._try(one, allowance)
        if not reason:
            while self._waiting and self._walkers < self._walkers_max:
                # A walker that is too long or a near-duplicate now will never be a hit.
                walker = self._waiting.pop(0)
                self.leave_out(walker, self._try(walker, None))
        return reason

    def fill(self) -> None:
        """Give places that no anchor fills to the walkers that wait, up to the target.

        A walker gets such a place only if a tag, a link or its source relates it to an anchor. Atoms that
        merely contain words of the best candidates would be filler.
        """
        if not self._run.config.protocol.walkers:
            return
        related = self.ranking.walked.keys() | self.ranking.hop_anchors.keys()
        for walker in self._waiting:
            if self.has_target:
                break
            if walker.ordinal in related or walker.source in self._sources:
                self.leave_out(walker, self._try(walker, None, patient=False))

    @property
    def _walkers_max(self) -> int:
        """The largest number of walkers if one more candidate becomes a hit."""
        return int(self._run.config.protocol.walkers * (len(self.hits) + 1))

    def _try(self, one: Candidate, allowance: int | None, *, patient: bool = True) -> str:
        if one.is_alike and (original := self._original(one.fingerprint)) is not None:
            self._duplicates.setdefault(original, []).append(one.ordinal)
            return f"duplicate of {self.hits[original].id}"
        wanted, has_target = self.wanted, self.has_target
        if has_target and one.score < self._lowest_further:
            self._is_closed = True
        if has_target and self.is_full:
            return BEYOND
        of_page = self._pages.get(one.source, 0)
        if 0 < wanted.per_page <= of_page:
            self.folded += 1
            return "enough of its page"
        # A walker was found only by its relations.
        role = Role.ANCHOR if one.by_words else Role.WALKER
        if patient and role is Role.WALKER and self._walkers >= self._walkers_max:
            # A hit that is chosen before it may be a near-duplicate of it.
            self._waiting.append(one._replace(is_alike=True))
            return WAITING
        atom = self._run.atom(one.ordinal)
        if wanted.categories and not self._is_wanted(atom):
            return "no such category"
        hit = self._hit(one, role, atom, allowance)
        if hit is None:
            self._misses += has_target
            self._is_closed = self._misses >= MISSES_MAX
            return TOO_LONG
        self.hits.append(hit)
        self.ordinals.append(one.ordinal)
        self.tokens += hit.tokens
        self._walkers += role is Role.WALKER
        if one.source and role is Role.ANCHOR:
            self._sources.add(one.source)
        if hit.page is not None:
            self._pages[one.source] = of_page + 1
        self.fingerprints.append(one.fingerprint)
        return ""

    def leave_out(self, one: Candidate, reason: str) -> None:
        """Record the reason why a candidate is not a hit, or '' if it is one after all.

        Only an explained answer lists such candidates.
        """
        if not reason:
            self._left_out.pop(one.ordinal, None)
        elif self._run.explain and (one.ordinal in self._left_out or len(self._left_out) < DROPPED_MAX):
            self._left_out[one.ordinal] = one, reason

    def finish(self) -> None:
        """Order the hits, and set `dropped` and the field `duplicates` of each hit.

        Ids of other atoms are read only here.
        """
        for original, ordinals in self._duplicates.items():
            others = tuple(map(show_id, ids_at(self._run.rows, ordinals)))
            self.hits[original] = replace(self.hits[original], duplicates=others)
        order = [at for _, _, at in sorted((-hit.score, hit.id, at) for at, hit in enumerate(self.hits))]
        self.hits = [self.hits[at] for at in order]
        self.ordinals = [self.ordinals[at] for at in order]
        ids = ids_at(self._run.rows, list(self._left_out))
        for (one, reason), atom in zip(self._left_out.values(), ids, strict=True):
            self.dropped.append(Dropped(show_id(atom), one.score, reason))

    def _original(self, fingerprint: int) -> int | None:
        """Return the index of the best hit that is a near-duplicate of a text, or None."""
        if not self._run.config.collapse:
            return None
        near = are_near(np.array(self.fingerprints, np.uint64), np.uint64(fingerprint)).nonzero()[0]
        return int(near[0]) if len(near) else None

    def _is_wanted(self, atom: LoadedAtom) -> bool:
        categories = self.wanted.categories
        return not categories or in_categories(atom.body, atom.record.tags, categories)

    def _hit(self, one: Candidate, role: Role, atom: LoadedAtom, allowance: int | None) -> Hit | None:
        """Return a candidate as a hit, or None if too little of the budget is left.

        If there is a budget, the hit contains its text.
        """
        record, own_id = atom.record, show_id(atom.record.id)
        snippet = atom.reading.snippet
        content, left = None, self.left
        if left is not None:
            content = self._within(atom, own_id, left, allowance)
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
            signals=self._explained(one) if self._run.explain else None,
            path=self._path(one) if role is Role.WALKER else (),
            when=note_of(day_written(record, atom.body), shown, asked=self._run.question.asks_when),
        )

    def cost(self, one: Candidate) -> int:
        """Return the tokens of a candidate with its whole text."""
        record, body = self._run.atom(one.ordinal)[:2]
        return hit_tokens(record.title, record.source, record.sequence, show_id(record.id), body.content)

    def _explained(self, one: Candidate) -> dict[str, float]:
        """Return the amount that each signal added to the score of a candidate.

        The row of a candidate that waited may have changed since.
        """
        pool = self.ranking.pool
        return pool.explained(int(pool.rows_of(np.array([one.ordinal], np.int64))[0]))

    def _within(self, atom: LoadedAtom, own_id: str, left: int, allowance: int | None) -> str | None:
        """Return the text of a hit if it costs at most `left` tokens; it is cut where `take` says so."""
        record, content = atom.record, atom.body.content

        def cost(shown: str) -> int:
            return hit_tokens(record.title, record.source, record.sequence, own_id, shown)

        most = left if allowance is None else min(left, allowance)
        if not _costs_more(content, most, cost):
            return content
        may_be_cut = allowance is not None or not self.hits
        return (_beginning(content, most, cost) or None) if may_be_cut else None

    def _path(self, one: Candidate) -> tuple[str, ...]:
        """Return the id of the anchor and the tags that led to a walker.

        The anchor is omitted if it does not belong to the wanted categories.
        """
        anchor = self.ranking.hop_anchors.get(one.ordinal)
        path: tuple[str, ...] = ()
        if anchor is not None:
            atom = self._run.atom(anchor)
            if self._is_wanted(atom):
                path = (show_id(atom.record.id),)
        return (*path, *(f"#{tag}" for tag in sorted(self.ranking.walked.get(one.ordinal, ()))))


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
