"""Signals of titles and aliases: `phrase`, `alias`, `hop` and `mention`.

An anchor is one of the best candidates.

- `phrase` raises the scores of atoms whose title occurs in the question.
- `alias` raises the scores of atoms with another name that occurs in the question (`engine.followers.names`).
  The alias need not occur in the text of the atom. So the signal can find an atom that contains no word of
  the question.
- `hop` raises the scores of atoms whose title occurs in the text of an anchor, and of atoms that an edge
  joins to an anchor.
- `mention` is the counterpart of `hop`: it raises the scores of atoms whose text contains the whole title of
  an anchor. A question may describe a thing without its name: "Who wrote the song about a feast in a village
  on Oahu?" The atom about the village is then an anchor, and the atom about the song contains the name of
  the village.

The index contains a hash of every title, computed from the hashes of the title's terms. So the hashes of all
phrases of a text can be computed and looked up with a few array operations, without a list of titles in
memory.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.model import Direction
from engine.followers.names import aliased, has_aliases
from engine.ledger.queries import edges_at, far_end, records_of
from engine.query.recall.candidates import Pool
from engine.query.recall.recall_run import LoadedAtom, RecallRun
from engine.query.recall.signals.scoring import weighted_terms
from engine.text.analyzer import STOP_WORDS, index_terms
from engine.text.language.snippets import one_by_one
from engine.text.simhash import MULTIPLIER, phrase_hashes, term_hash

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

HOP_ANCHORS: Final = 10
"""The number of anchors whose texts are searched for titles."""

EDGE_ANCHORS: Final = 5
"""The number of anchors whose edges are followed."""

EDGES_MAX: Final = 16
"""The largest number of atoms for each anchor whose scores rise because of an edge to or from the anchor."""

EDGES_READ_MAX: Final = 64
"""The largest number of edges that are read for each anchor to find atoms that pass the filters."""

ALIAS_TERMS_MAX: Final = 6
"""The largest number of terms of an alias; longer aliases are not looked up in questions."""

QUESTION_TERMS_MAX: Final = 64
"""Only this many terms at the beginning of a question are searched for aliases."""

MENTION_ANCHORS: Final = 3
"""The number of anchors whose titles are searched for."""

MENTIONS_MAX: Final = 16
"""A title is ignored if more than this many other atoms contain its terms."""

MENTION_CANDIDATES: Final = 4 * MENTIONS_MAX
"""The number of atoms that are checked for all terms of a title. They score best for these terms."""

_QUALIFIER: Final = re.compile(r"\s\([^()]*\)\s*\Z")


class Target(NamedTuple):
    """An atom whose title occurs in a text, or that an edge joins to an anchor."""

    ordinal: int
    weight: float
    """The weight of the atom, 0 to 1. If the atom was found by its title, this is the weight of the title
    divided by the number of atoms with that title."""


def titles_in(run: RecallRun, texts: Sequence[Sequence[str]], full: float) -> list[list[Target]]:
    """Return, for each text, the atoms whose whole title occurs in it. A text is given as a list of terms.

    A title inside a longer title is ignored. All texts are concatenated and searched in one pass.
    """
    if not run.positions.has_titles:
        return [[] for _ in texts]
    texts = [terms[:TEXT_TERMS_MAX] for terms in texts]
    ends = list(accumulate(map(len, texts)))
    flat = np.fromiter(map(term_hash, chain.from_iterable(texts)), np.uint64)
    spans: list[dict[tuple[int, int], list[int]]] = [{} for _ in texts]
    for start, length, ordinal in _matches(run, flat):
        text = bisect_right(ends, start)
        if start + length <= ends[text]:
            begin = start - ends[text] + len(texts[text])
            spans[text].setdefault((begin, begin + length), []).append(ordinal)
    return [weighted(run, terms, found, full) for terms, found in zip(texts, spans, strict=True)]


def _matches(run: RecallRun, hashes: NDArray[np.uint64]) -> Iterator[tuple[int, int, int]]:
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
    for number, ordinal in run.positions.titled(np.concatenate(runs), run.mask, SAME_TITLE_MAX):
        length = bisect_right(starts, number)
        yield number - starts[length - 1], length, ordinal


def weighted(
    run: RecallRun, terms: Sequence[str], spans: dict[tuple[int, int], list[int]], full: float
) -> list[Target]:
    """Return the atoms whose titles are spans of the text, with their weights, in the order of the spans.

    A span inside a longer span is ignored.
    """
    targets: dict[int, float] = {}
    for (start, end), ordinals in _longest(spans):
        weight = sum(run.idf(term) for term in terms[start:end] if term not in STOP_WORDS)
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


def linked_to(run: RecallRun, atom: LoadedAtom) -> list[Target]:
    """Return the allowed atoms that are joined to the anchor `atom` by edges.

    If there are n such atoms, each has the weight 1 / √n.
    """
    edges = islice(edges_at(run.rows, atom.record.id, Direction.BOTH, ()), EDGES_READ_MAX)
    others = list(dict.fromkeys(far_end(edge, atom.record.id) for edge in edges))
    records = records_of(run.rows, others)
    ordinals = [record.ordinal for record in records if run.mask[record.ordinal]][:EDGES_MAX]
    return [Target(ordinal, len(ordinals) ** -0.5) for ordinal in ordinals]


def led_to(run: RecallRun, anchors: Sequence[LoadedAtom], *, linked: bool) -> list[list[Target]]:
    """Return, for each anchor, the other atoms whose titles occur in its text, or that an edge joins to it.

    With `linked`, the edges of the first anchors are followed.
    """
    found = []
    titles = titles_in(run, [anchor.terms for anchor in anchors], HOP_WEIGHT)
    for rank, (anchor, titled) in enumerate(zip(anchors, titles, strict=True)):
        others = [*titled, *(linked_to(run, anchor) if linked and rank < EDGE_ANCHORS else ())]
        found.append([one for one in others if one.ordinal != anchor.record.ordinal])
    return found


def add_shares(
    run: RecallRun,
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
    add_amounts(run, pool, signal, amounts)


def add_amounts(run: RecallRun, pool: Pool, signal: str, amounts: dict[int, float]) -> None:
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
    lowered = run.atoms.lowered
    pool.add(signal, added * run.atoms.factors_at(pool.ordinals) if lowered else added)


def aliases_in(run: RecallRun) -> list[Target]:
    """Return the allowed atoms with an alias that is a sequence of the question's terms.

    An alias inside a longer alias is ignored, and so is an alias that more than `SAME_TITLE_MAX` atoms have.
    An alias has the weight 1 if its terms make up the whole question, or if its terms are rare enough.
    """
    if not has_aliases(run.rows):
        return []
    terms = index_terms(run.question.core)
    spans = phrase_hashes(terms[:QUESTION_TERMS_MAX], ALIAS_TERMS_MAX)
    found = aliased(run.rows, sorted(set(spans.values())))
    named: dict[tuple[int, int], list[int]] = {}
    for span, phrase in spans.items():
        ordinals = [one for one in found.get(phrase, ()) if run.mask[one]]
        if 0 < len(ordinals) <= SAME_TITLE_MAX:
            named[span] = ordinals
    asked = one_by_one(run.idf(term) for term in run.question.terms)
    return weighted(run, terms, named, min(QUESTION_WEIGHT, asked))


def mentioning(
    run: RecallRun, anchors: Sequence[LoadedAtom], known: Sequence[Collection[Target]]
) -> list[list[Target]]:
    """Return, for each anchor, the allowed atoms whose texts contain the title of the anchor.

    `known` holds the atoms that the signal `hop` found from each anchor; it may be shorter than `anchors`.
    These atoms are left out: a text that links to the anchor often contains its title, and would count twice.
    The text need not contain a qualifier in parentheses at the end of the title.
    """
    titles = [_title_terms(run, anchor) for anchor in anchors]
    run.find([term for terms in titles for term in terms if term not in STOP_WORDS])
    found = []
    for number, (anchor, terms) in enumerate(zip(anchors, titles, strict=True)):
        others = known[number] if number < len(known) else ()
        found.append(_atoms_with(run, terms, {anchor.record.ordinal, *(one.ordinal for one in others)}))
    return found


def _title_terms(run: RecallRun, anchor: LoadedAtom) -> list[str]:
    """Return the terms of an anchor's title without its qualifier, or [] if it is not searched for.

    If all terms of a title are in the question, the search for the question's words found its atoms already.
    """
    terms = index_terms(_QUALIFIER.sub("", anchor.record.title or ""))
    unasked = set(terms) - STOP_WORDS - set(run.question.terms)
    return terms if unasked and len(terms) <= TITLE_TERMS_MAX else []


def _atoms_with(run: RecallRun, title: Sequence[str], left_out: Collection[int]) -> list[Target]:
    """Return the atoms whose texts contain the terms `title` one after the other, apart from `left_out`.

    If there are n such atoms, the weight of each is divided by √n. It is 1 / √n if the terms are rare enough.
    """
    found = run.find([term for term in dict.fromkeys(title) if term not in STOP_WORDS])
    if not found or min(rows.df for rows in found.values()) < 2:
        return []  # one of the terms is only in the anchor
    terms = weighted_terms(run.index.counted, found, dict.fromkeys(found, 1.0), run.config.bm25)
    lists = run.lists(terms)
    best, _ = lists.best(run.atoms, MENTION_CANDIDATES)
    with_all = best[(lists.at(best).by_list > 0).all(axis=0)].tolist()
    possible = [ordinal for ordinal in with_all if ordinal not in left_out]
    if len(possible) > MENTIONS_MAX:
        return []
    others = [atom for atom in run.load(possible) if _contains(atom.terms[:TEXT_TERMS_MAX], list(title))]
    weight = min(1.0, sum(map(run.idf, found)) / HOP_WEIGHT)
    return [Target(atom.record.ordinal, weight * len(others) ** -0.5) for atom in others]


def _contains(terms: list[str], title: list[str]) -> bool:
    """Return True if `title` is a sequence of adjacent elements of `terms`."""
    starts = (at for at, term in enumerate(terms) if term == title[0])
    return any(terms[at : at + len(title)] == title for at in starts)
