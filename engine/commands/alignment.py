"""Align the pieces of a file with the texts that the file contained when it was last read.

A piece that is aligned with a text continues the atom of that text: the atom is revised, and keeps its id,
its tags, its edges and its history. The alignment is made in three steps:

1. Equal texts are aligned, wherever they are in the file.
2. Equal texts that kept their order divide the file into gaps. In each gap, the most similar pairs are
   aligned.
3. Pairs in different gaps are aligned only if they are very similar: the text was moved and changed.

The result depends only on the texts, the titles and their order.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from engine.commands.sequence import longest_ascending

SIMILAR_MIN: Final = 0.5
"""The minimum similarity of a pair in the same gap."""
ALONE_MIN: Final = 0.25
"""The minimum similarity of a pair that is alone in its gap."""
MOVED_MIN: Final = 0.75
"""The minimum similarity of a pair in different gaps."""
TITLE_WEIGHT: Final = 0.25
"""The amount that an equal title adds to the similarity, if only this pair has the title."""
CONTAINED_WEIGHT: Final = 0.8
"""The similarity of a text to a longer text that contains all its words, for example after a split."""
WORDS_MIN: Final = 5
"""Texts with fewer words are compared by pairs of characters, and containment does not count for them."""
PAIRS_MAX: Final = 1 << 14
"""A gap with more pairs is compared only near its diagonal, where the texts kept their relative positions."""


class Passage(NamedTuple):
    """A text of the file, as it was recorded or as it is now."""

    content: str
    title: str | None
    is_present: bool = True
    """False for a text that was removed from the file earlier. Only an equal text continues its atom."""


def align(recorded: Sequence[Passage], wanted: Sequence[Passage]) -> list[int | None]:
    """Return, for each wanted passage, the index of the known passage that it continues, or None.

    Both sequences are in the order of the file. No index occurs twice.
    """
    if [passage.content for passage in recorded] == [passage.content for passage in wanted]:
        return list(range(len(wanted)))
    partners = _equal(recorded, wanted)
    if None not in partners:
        return partners
    free = set(range(len(recorded))).difference(index for index in partners if index is not None)
    open_ = [index for index in sorted(free) if recorded[index].is_present]
    if not open_:
        return partners
    features = _Features(recorded, wanted)
    for olds, news in _gaps(partners, open_, len(recorded)):
        least = ALONE_MIN if len(olds) == len(news) == 1 else SIMILAR_MIN
        for old, new in features.best_pairs(olds, news, least):
            partners[new] = old
    used = set(partners)
    olds = [index for index in open_ if index not in used]
    news = [at for at, index in enumerate(partners) if index is None]
    for old, new in features.best_pairs(olds, news, MOVED_MIN):
        partners[new] = old
    return partners


def _equal(recorded: Sequence[Passage], wanted: Sequence[Passage]) -> list[int | None]:
    """Align equal contents.

    Texts that were in the file last time are used before texts that were removed earlier.

    If the number of copies of a text has changed, the copies that kept their place are aligned first.
    """
    partners: list[int | None] = [None] * len(wanted)
    olds = Counter(passage.content for passage in recorded if passage.is_present)
    news = Counter(passage.content for passage in wanted)
    unmoved = {content for content, number in news.items() if olds[content] == number}
    everything = [index for index, passage in enumerate(recorded) if passage.is_present]
    _pair(
        [index for index in everything if recorded[index].content in unmoved],
        range(len(wanted)),
        recorded,
        wanted,
        partners,
    )
    if None in partners:
        rest = [index for index, passage in enumerate(recorded) if passage.content in news.keys() - unmoved]
        for gap_olds, gap_news in list(_gaps(partners, rest, len(recorded))):
            _pair(gap_olds, gap_news, recorded, wanted, partners)
        _pair(rest, range(len(wanted)), recorded, wanted, partners)
    return partners


def _pair(
    olds: Iterable[int],
    news: Iterable[int],
    recorded: Sequence[Passage],
    wanted: Sequence[Passage],
    partners: list[int | None],
) -> None:
    """Align known passages with wanted passages of equal content in order, if both are free."""
    used = set(partners)
    places: dict[str, deque[int]] = {}
    for index in sorted(olds, key=lambda index: not recorded[index].is_present):
        if index not in used:
            places.setdefault(recorded[index].content, deque()).append(index)
    for at in news:
        waiting = places.get(wanted[at].content)
        if partners[at] is None and waiting:
            partners[at] = waiting.popleft()


def _gaps(
    partners: Sequence[int | None], open_: Sequence[int], size: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the unaligned known indices and wanted positions of each gap that has at least one of each."""
    staying = sorted(longest_ascending([None if index is None else index + 1 for index in partners]))
    anchors = [(-1, -1), *((at, partners[at]) for at in staying), (len(partners), size)]
    for (new, old), (new_end, old_end) in pairwise(anchors):
        news = [at for at in range(new + 1, new_end) if partners[at] is None]
        olds = [index for index in open_ if old is not None and old_end is not None and old < index < old_end]
        if news and olds:
            yield olds, news


class _Features:
    """The words of the passages, counted when they are first compared."""

    def __init__(self, recorded: Sequence[Passage], wanted: Sequence[Passage]) -> None:
        self._known = recorded
        self._wanted = wanted
        self._counted: dict[tuple[str, bool], Counter[str]] = {}

    def best_pairs(self, olds: Sequence[int], news: Sequence[int], least: float) -> list[tuple[int, int]]:
        """Return the most similar pairs (known index, wanted position). No index or position occurs twice."""
        titles = (
            Counter(self._known[old].title for old in olds),
            Counter(self._wanted[new].title for new in news),
        )
        rated: list[tuple[float, int, int, int]] = []
        for at, old in enumerate(olds):
            for distance, new in _near(at, len(olds), news):
                title = self._known[old].title
                same = title is not None and title == self._wanted[new].title
                unique = same and titles[0][title] == titles[1][title] == 1
                score = self._similarity(self._known[old].content, self._wanted[new].content)
                score += TITLE_WEIGHT if unique else 0
                if score >= least:
                    rated.append((-score, distance, old, new))
        taken_old: set[int] = set()
        taken_new: set[int] = set()
        pairs = []
        for _, _, old, new in sorted(rated):
            if old not in taken_old and new not in taken_new:
                taken_old.add(old)
                taken_new.add(new)
                pairs.append((old, new))
        return pairs

    def _similarity(self, one: str, other: str) -> float:
        """Return the similarity of two texts, from 0 to 1."""
        short = min(len(one.split(None, WORDS_MIN)), len(other.split(None, WORDS_MIN))) < WORDS_MIN
        first, second = self._count(one, short), self._count(other, short)
        sizes = first.total(), second.total()
        if not all(sizes):
            return 0.0
        shared = (first & second).total()
        dice = 2 * shared / sum(sizes)
        return dice if short else max(dice, CONTAINED_WEIGHT * shared / min(sizes))

    def _count(self, text: str, short: bool) -> Counter[str]:
        counted = self._counted.get((text, short))
        if counted is None:
            counted = Counter(map("".join, pairwise(text)) if short else text.split())
            self._counted[text, short] = counted
        return counted


def _near(at: int, size: int, news: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the positions to compare with known passage number `at` of `size`, each with its distance."""
    middle = at * len(news) // size
    reach = len(news) if size * len(news) <= PAIRS_MAX else max(1, PAIRS_MAX // (2 * size))
    first = max(0, middle - reach)
    for rank in range(first, min(len(news), middle + reach + 1)):
        yield abs(rank - middle), news[rank]
