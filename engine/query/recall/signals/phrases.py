"""The signals `phrase` (atoms whose title occurs in the question) and `hop`.

An anchor is one of the best candidates. The signal `hop` raises the scores of atoms whose title occurs in the
text of an anchor, and of atoms that an edge joins to an anchor. The index contains a hash of every title,
computed from the hashes of the title's terms. So the hashes of all phrases of a text can be computed and
looked up with a few array operations, without a list of titles in memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.direction import Direction
from engine.ledger.queries import edges_at, far_end, records_of
from engine.query.recall.pool import Pool
from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.text.simhash import MULTIPLIER, term_hash
from engine.text.words import STOP_WORDS

TITLE_TERMS_MAX: Final = 12
"""The largest number of terms in a title; longer titles are not looked up in texts."""

TEXT_TERMS_MAX: Final = 512
"""Only this many terms at the beginning of a text are searched for titles."""

SAME_TITLE_MAX: Final = 3
"""A title is ignored if more than this many atoms have it."""

QUESTION_WEIGHT: Final = 10.0
"""A title that occurs in the question has the weight 1 if the idf of its terms adds up to this or more.

With a lower sum, the weight is proportional to the sum.
"""
HOP_WEIGHT: Final = 8.0
"""A title that occurs in an anchor's text has the weight 1 if the idfs of its terms add up to at least 8.

With a lower sum, the weight is proportional to the sum.
"""

ANCHORS: Final = 10
"""The number of anchors whose texts are searched for titles."""

LINKED: Final = 5
"""The number of anchors whose edges are followed."""

EDGES_MAX: Final = 16
"""The largest number of atoms for each anchor whose scores rise because of an edge to or from the anchor."""

EDGES_READ_MAX: Final = 64
"""The largest number of edges that are read for each anchor to find atoms that pass the filters."""


class Target(NamedTuple):
    """An atom whose title occurs in a text, or that an edge joins to an anchor."""

    ordinal: int
    weight: float
    """The weight of the atom, 0 to 1. If the atom was found by its title, this is the weight of the title
    divided by the number of atoms with that title."""


def titles_in(scope: RecallScope, texts: Sequence[Sequence[str]], full: float) -> list[list[Target]]:
    """Return, for each text, the atoms whose whole title occurs in it. A text is given as a list of terms.

    A title inside a longer title is ignored. All texts are concatenated and searched in one pass.
    """
    if not scope.positions.has_titles:
        return [[] for _ in texts]
    texts = [terms[:TEXT_TERMS_MAX] for terms in texts]
    ends = list(accumulate(map(len, texts)))
    flat = np.fromiter(map(term_hash, chain.from_iterable(texts)), np.uint64)
    spans: list[dict[tuple[int, int], list[int]]] = [{} for _ in texts]
    for start, length, ordinal in _matches(scope, flat):
        text = bisect_right(ends, start)
        if start + length <= ends[text]:
            begin = start - ends[text] + len(texts[text])
            spans[text].setdefault((begin, begin + length), []).append(ordinal)
    return [weighted(scope, terms, found, full) for terms, found in zip(texts, spans, strict=True)]


def _matches(scope: RecallScope, hashes: NDArray[np.uint64]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, length, ordinal) for each sequence of at most TITLE_TERMS_MAX terms that is a title."""
    multiplier = np.uint64(MULTIPLIER)
    current = np.zeros(len(hashes), np.uint64)
    runs = []
    for length in range(1, min(TITLE_TERMS_MAX, len(hashes)) + 1):
        current = current[: len(hashes) - length + 1] * multiplier + hashes[length - 1 :]
        runs.append(current)
    if not runs:
        return
    starts = list(accumulate(map(len, runs), initial=0))
    for number, ordinal in scope.positions.titled(np.concatenate(runs), scope.mask, SAME_TITLE_MAX):
        length = bisect_right(starts, number)
        yield number - starts[length - 1], length, ordinal


def weighted(
    scope: RecallScope, terms: Sequence[str], spans: dict[tuple[int, int], list[int]], full: float
) -> list[Target]:
    """Return the atoms whose titles are spans of the text, with their weights, in the order of the spans.

    A span inside a longer span is ignored.
    """
    targets: dict[int, float] = {}
    for (start, end), ordinals in _longest(spans):
        weight = sum(scope.idf(term) for term in terms[start:end] if term not in STOP_WORDS)
        for ordinal in ordinals:
            targets[ordinal] = max(targets.get(ordinal, 0.0), min(1.0, weight / full) / len(ordinals))
    return [Target(ordinal, weight) for ordinal, weight in targets.items() if weight]


def _longest(found: dict[tuple[int, int], list[int]]) -> Iterator[tuple[tuple[int, int], list[int]]]:
    """Yield the spans that are not inside a longer span, each with its ordinals, in the order of the text."""
    reached = 0
    for span in sorted(found, key=lambda span: (span[0], -span[1])):
        if span[1] > reached:
            reached = span[1]
            yield span, found[span]


def linked_to(scope: RecallScope, atom: LoadedAtom) -> list[Target]:
    """Return the allowed atoms that are joined to the anchor `atom` by edges.

    If there are n such atoms, each has the weight 1 / √n.
    """
    edges = islice(edges_at(scope.rows, atom.record.id, Direction.BOTH, ()), EDGES_READ_MAX)
    others = list(dict.fromkeys(far_end(edge, atom.record.id) for edge in edges))
    records = records_of(scope.rows, others)
    ordinals = [record.ordinal for record in records if scope.mask[record.ordinal]][:EDGES_MAX]
    return [Target(ordinal, len(ordinals) ** -0.5) for ordinal in ordinals]


def led_to(scope: RecallScope, anchors: Sequence[LoadedAtom], *, linked: bool) -> list[list[Target]]:
    """Return, for each anchor, the other atoms whose titles occur in its text, or that an edge joins to it.

    With `linked`, the edges of the first anchors are followed.
    """
    found = []
    titles = titles_in(scope, [anchor.terms for anchor in anchors], HOP_WEIGHT)
    for rank, (anchor, titled) in enumerate(zip(anchors, titles, strict=True)):
        others = [*titled, *(linked_to(scope, anchor) if linked and rank < LINKED else ())]
        found.append([one for one in others if one.ordinal != anchor.record.ordinal])
    return found


def add_shares(
    scope: RecallScope,
    pool: Pool,
    signal: str,
    share: float,
    scores: Sequence[float],
    targets: Sequence[Sequence[Target]],
) -> None:
    """Raise the scores of `targets` by `share` of the scores of the anchors that led to them.

    `targets` holds the atoms that were found from each anchor. `scores` begins with the scores of these
    anchors, in the same order.
    """
    amounts: dict[int, float] = {}
    for score, found in zip(scores, targets, strict=False):
        for one in found:
            amounts[one.ordinal] = max(amounts.get(one.ordinal, 0.0), share * score * one.weight)
    add_amounts(scope, pool, signal, amounts)


def add_amounts(scope: RecallScope, pool: Pool, signal: str, amounts: dict[int, float]) -> None:
    """Add `amounts` (ordinal → amount) to the scores of the candidates in the pool.

    The amounts are lowered for atoms that are not internal. Ordinals that are not in the pool are skipped.
    """
    if not amounts:
        return
    ordinals = np.array(sorted(amounts), np.int64)
    rows = pool.rows_of(ordinals)
    added = np.zeros(len(pool))
    present = rows >= 0
    added[rows[present]] = np.array([amounts[ordinal] for ordinal in ordinals.tolist()])[present]
    lowered = scope.atoms.lowered
    pool.add(signal, added * scope.atoms.factors_at(pool.ordinals) if lowered else added)
