"""Titles that stand in a text: in the question, and in the anchors, from where they lead on (multi-hop).

The facts of the index have a hash of every title, made of its terms' hashes so that those of all the
phrases of a text are a few array operations; no list of titles is read, and none is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.model import Direction
from engine.ledger.queries import edges_at, far_end, records_of
from engine.query.recall.pool import Pool
from engine.query.recall.scene import Scene, Text
from engine.text.simhash import MULTIPLIER, term_hash
from engine.text.words import STOP_WORDS

TITLE_TERMS_MAX: Final = 12
"""Longer titles are not looked for in texts."""

TEXT_TERMS_MAX: Final = 512
"""Only so many terms of a text are searched for titles."""

SAME_TITLE_MAX: Final = 3
"""A title that more atoms have names none of them."""

QUESTION_WEIGHT: Final = 10.0
HOP_WEIGHT: Final = 8.0
"""Titles whose terms' idf add up to this much count in full, common words in proportion."""

ANCHORS: Final = 10
"""So many anchors lead on."""

LINKED: Final = 5
"""The edges of so many of them are followed."""

EDGES_MAX: Final = 16
"""So many of them lend, of each anchor."""

EDGES_READ_MAX: Final = 64
"""So many are looked through for some whose other end is allowed."""


class Named(NamedTuple):
    """An atom whose title stands in a text."""

    ordinal: int
    weight: float
    """0 to 1: how telling the title is, shared among the atoms that have it."""


def named_in(scene: Scene, texts: Sequence[Sequence[str]], full: float) -> list[list[Named]]:
    """For each text, given as its terms, the atoms whose whole title stands in it.

    The longest titles only. All texts are searched in one pass, as one long text with gaps.
    """
    if not scene.places.has_titles:
        return [[] for _ in texts]
    texts = [terms[:TEXT_TERMS_MAX] for terms in texts]
    ends = list(accumulate(map(len, texts)))
    flat = np.fromiter(map(term_hash, chain.from_iterable(texts)), np.uint64)
    spans: list[dict[tuple[int, int], list[int]]] = [{} for _ in texts]
    for start, length, ordinal in _titles_in(scene, flat):
        text = bisect_right(ends, start)
        if start + length <= ends[text]:
            begin = start - ends[text] + len(texts[text])
            spans[text].setdefault((begin, begin + length), []).append(ordinal)
    return [_weighed(scene, terms, found, full) for terms, found in zip(texts, spans, strict=True)]


def _titles_in(scene: Scene, hashes: NDArray[np.uint64]) -> Iterator[tuple[int, int, int]]:
    """(start, length, ordinal) for each run of 1 to TITLE_TERMS_MAX terms that is an atom's title."""
    multiplier = np.uint64(MULTIPLIER)
    current = np.zeros(len(hashes), np.uint64)
    runs = []
    for length in range(1, min(TITLE_TERMS_MAX, len(hashes)) + 1):
        current = current[: len(hashes) - length + 1] * multiplier + hashes[length - 1 :]
        runs.append(current)
    if not runs:
        return
    starts = list(accumulate(map(len, runs), initial=0))
    for number, ordinal in scene.places.titled(np.concatenate(runs), scene.mask, SAME_TITLE_MAX):
        length = bisect_right(starts, number)
        yield number - starts[length - 1], length, ordinal


def _weighed(
    scene: Scene, terms: Sequence[str], spans: dict[tuple[int, int], list[int]], full: float
) -> list[Named]:
    """Those of the longest spans, in order of the text, with their weights."""
    named: dict[int, float] = {}
    for (start, end), ordinals in _longest(spans):
        telling = sum(scene.idf(term) for term in terms[start:end] if term not in STOP_WORDS)
        for ordinal in ordinals:
            named[ordinal] = max(named.get(ordinal, 0.0), min(1.0, telling / full) / len(ordinals))
    return [Named(ordinal, weight) for ordinal, weight in named.items() if weight]


def _longest(found: dict[tuple[int, int], list[int]]) -> Iterator[tuple[tuple[int, int], list[int]]]:
    """The spans that lie in no longer one, in order."""
    reached = 0
    for span in sorted(found, key=lambda span: (span[0], -span[1])):
        if span[1] > reached:
            reached = span[1]
            yield span, found[span]


def linked_to(scene: Scene, text: Text) -> list[Named]:
    """The allowed atoms at the other ends of an anchor's edges, weaker the more of them there are."""
    edges = islice(edges_at(scene.rows, text.record.id, Direction.BOTH, ()), EDGES_READ_MAX)
    others = list(dict.fromkeys(far_end(edge, text.record.id) for edge in edges))
    records = records_of(scene.rows, others)
    ordinals = [record.ordinal for record in records if scene.mask[record.ordinal]][:EDGES_MAX]
    return [Named(ordinal, len(ordinals) ** -0.5) for ordinal in ordinals]


def led_to(scene: Scene, pool: Pool, hops: Sequence[tuple[float, Sequence[Named]]]) -> None:
    """Raise the atoms that anchors lead to; `hops`: the anchor's score and whom it names or is linked to."""
    amounts: dict[int, float] = {}
    for score, named in hops:
        for one in named:
            amounts[one.ordinal] = max(amounts.get(one.ordinal, 0.0), scene.signals.hop * score * one.weight)
    give(scene, pool, "hop", amounts)


def give(scene: Scene, pool: Pool, signal: str, amounts: dict[int, float]) -> None:
    """Add amounts by ordinal, less to what came from outside; those not in the pool get none."""
    ordinals = np.array(sorted(amounts), np.int64)
    places = pool.at(ordinals)
    given = np.zeros(len(pool))
    kept = places >= 0
    given[places[kept]] = np.array([amounts[ordinal] for ordinal in ordinals.tolist()])[kept]
    pool.add(signal, given if scene.outside is None else given * scene.outside[pool.ordinals])
