"""Signals of the relations between atoms: `phrase`, `alias`, `hop` and `walk`.

An anchor is one of the best candidates.

- `phrase` raises the scores of atoms whose title occurs in the question.
- `alias` raises the scores of atoms with another name that occurs in the question (`engine.followers.names`).
  The alias need not occur in the text of the atom. So the signal can find an atom that contains no word of
  the question.
- `hop` raises the scores of atoms whose title occurs in the text of an anchor, and of atoms that an edge
  joins to an anchor.
- `walk`, the last step of recall, finds atoms that contain no word of the question but share a tag with an
  anchor.

The index contains a hash of every title, computed from the hashes of the title's terms. So the hashes of all
phrases of a text can be computed and looked up with a few array operations, without a list of titles in
memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, islice
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.basic_values import Direction
from engine.followers.names import aliased, has_aliases
from engine.ledger.queries import edges_at, far_end, records_of
from engine.query.recall.recall_answer import Bridge
from engine.query.recall.recall_run import LoadedAtom, Pool, Ranking, RecallRun, best_atoms
from engine.query.recall.signals.anchors import extended
from engine.query.recall.signals.scoring import MICRO, Lists
from engine.text.analyzer import STOP_WORDS, index_terms
from engine.text.language.snippets import one_by_one
from engine.text.simhash import MULTIPLIER, phrase_hashes, term_hash
from proofs.leaves import Group, tag_identity

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

TAG_ANCHORS: Final = 3
"""The number of anchors whose tags are considered."""

TAGS_MAX: Final = 4
"""The largest number of tags that are followed. Those with the highest weight · score are used."""

HUB_SHARE: Final = 0.1
HUB_MIN: Final = 20
"""A tag is ignored as a hub if more than HUB_SHARE of all atoms, and more than HUB_MIN atoms, have it."""

WALKERS_MAX: Final = 24
"""The largest number of atoms that are found through one tag. The newest atoms with the tag are used."""

_ROUNDING: Final = 2 / MICRO
"""Scores that differ by this much also differ in millionths."""


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
    every = zip(texts, spans, strict=True)
    titles = chain.from_iterable(terms[start:end] for terms, places in every for start, end in places)
    run.read_idfs(term for term in titles if term not in STOP_WORDS)
    return [weighted(run, terms, places, full) for terms, places in zip(texts, spans, strict=True)]


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
    reached = []
    titles = titles_in(run, [anchor.terms for anchor in anchors], HOP_WEIGHT)
    for rank, (anchor, titled) in enumerate(zip(anchors, titles, strict=True)):
        others = [*titled, *(linked_to(run, anchor) if linked and rank < EDGE_ANCHORS else ())]
        reached.append([one for one in others if one.ordinal != anchor.record.ordinal])
    return reached


def add_shares(
    run: RecallRun, pool: Pool, scores: Sequence[float], targets: Sequence[Sequence[Target]]
) -> None:
    """Raise the scores of `targets` by a share of the scores of the anchors that led to them (signal `hop`).

    `targets` holds the atoms that were found from each anchor, and `scores` the scores of these anchors.
    """
    amounts: dict[int, float] = {}
    for score, target in zip(scores, targets, strict=True):
        for one in target:
            amounts[one.ordinal] = max(amounts.get(one.ordinal, 0.0), run.signals.hop * score * one.weight)
    add_amounts(run, pool, "hop", amounts)


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
    aliases = aliased(run.rows, sorted(set(spans.values())))
    named: dict[tuple[int, int], list[int]] = {}
    for span, phrase in spans.items():
        ordinals = [one for one in aliases.get(phrase, ()) if run.mask[one]]
        if 0 < len(ordinals) <= SAME_TITLE_MAX:
            named[span] = ordinals
    asked = one_by_one(run.idf(term) for term in run.question.terms)
    return weighted(run, terms, named, min(QUESTION_WEIGHT, asked))


def bridge_weight(atoms: int, total: int) -> float:
    """Return the weight, 0 to 1, of a tag.

    `atoms` is the number of atoms with the tag, and `total` is the number of all atoms. The weight is the
    `rarity` of the tag. It is 0 if only one atom or every atom has the tag, or if the tag is a hub.
    """
    if not 1 < atoms < total or atoms > max(HUB_MIN, HUB_SHARE * total):
        return 0.0
    return rarity(atoms, total)


def rarity(atoms: int, total: int) -> float:
    """Return the rarity of a tag, (log(N / n) / log(N))², for n = `atoms` and N = `total`.

    The rarity is 1 if one atom has the tag, 0.25 if √N atoms have it, and 0 if all atoms have it.
    """
    return (log(total / atoms) / log(total)) ** 2


class WalkedTag(NamedTuple):
    """A tag of an anchor through which other atoms are found."""

    bridge: Bridge
    score: float
    """The best score among the anchors that have the tag."""
    newest: NDArray[np.int64]
    """The ordinals of the newest atoms that have the tag, ascending."""


def walked_tags(run: RecallRun, anchors: Sequence[tuple[float, LoadedAtom]]) -> list[WalkedTag]:
    """Return the tags to follow. They are tags of anchors.

    The tags are in descending order of the product of weight and score. `anchors` holds the anchors with
    their scores, the best first. The weight of a tag is its `bridge_weight`.
    """
    best: dict[str, float] = {}
    for score, anchor in anchors[:TAG_ANCHORS]:
        for tag in map(tag_identity, anchor.record.tags):
            best.setdefault(tag, score)
    total = len(run.atoms.ordinals)
    walked = []
    for tag, score in best.items():
        atoms, newest = run.atoms.newest(run.rows, Group.TAG, tag, 4 * WALKERS_MAX)
        weight = bridge_weight(atoms, total)
        if weight:
            walked.append(WalkedTag(Bridge(tag, round(weight, 6), atoms), score, newest))
    walked.sort(key=lambda one: (-one.bridge.weight * one.score, one.bridge.tag))
    return walked[:TAGS_MAX]


def walkers(run: RecallRun, tags: Sequence[WalkedTag], words: Lists) -> dict[int, dict[str, float]]:
    """Return the atoms that have one of the tags and no word of the question.

    The result maps ordinal → tag → the amount that the tag adds to the score. `words` scores
    documents for the question's words.
    """
    reached: dict[int, dict[str, float]] = {}
    if not tags:
        return reached
    lacking = words.lacking(np.concatenate([one.newest for one in tags]))
    for bridge, score, ordinals in tags:
        without, lacking = lacking[: len(ordinals)], lacking[len(ordinals) :]
        for ordinal in ordinals[without][-WALKERS_MAX:].tolist():
            reached.setdefault(ordinal, {})[bridge.tag] = run.signals.walk * score * bridge.weight
    return reached


def complete_if_needed(run: RecallRun, ranking: Ranking) -> Ranking:
    """Return the ranking with the atoms of the walk, unless these cannot change its `first` best candidates.

    Otherwise the ranking is returned unchanged, and `complete` adds these atoms when they are needed.
    """
    pool, first = ranking.pool, ranking.first
    if first is None or _walk_is_vain(run, pool, first, pool.score.max(initial=0.0)):
        return ranking
    tags = _tags_to_follow(run, pool)
    if tags and _walk_is_vain(run, pool, first, max(one.score * one.bridge.weight for one in tags)):
        return ranking
    return complete(run, ranking, tags)


def complete(run: RecallRun, ranking: Ranking, tags: Sequence[WalkedTag] | None = None) -> Ranking:
    """Return a ranking that includes the atoms of the walk. `tags` are the tags to follow, if already read.

    The walk adds the atoms that contain no word of the question but share a tag with one of the best
    candidates.
    """
    tags = _tags_to_follow(run, ranking.pool) if tags is None else tags
    walked = walkers(run, tags, ranking.words)
    pool = extended(run, ranking.pool, ranking.words, list(walked))
    add_amounts(run, pool, "walk", {one: max(gains.values()) for one, gains in walked.items()})
    return replace(ranking, pool=pool, walked=walked, bridges=tuple(one.bridge for one in tags), first=None)


def _tags_to_follow(run: RecallRun, pool: Pool) -> list[WalkedTag]:
    """Return the tags through which the walk finds atoms."""
    if not run.signals.walk or not run.config.protocol.walkers:
        return []
    best, atoms = best_atoms(run, pool, TAG_ANCHORS)
    return walked_tags(run, list(zip(pool.score[best].tolist(), atoms, strict=True)))


def _walk_is_vain(run: RecallRun, pool: Pool, first: int, score: float) -> bool:
    """Return True if the walk can change neither the best candidates (`first` of them) nor their scores.

    The walk raises only the scores of atoms that contain no word of the question. Each of these scores is
    raised by at most a share of `score`.
    """
    best = pool.ranked(first)
    if not 0 < first <= len(best):
        return False
    lowest = float(pool.score[best[-1]]) - _ROUNDING
    most = score * run.signals.walk * run.atoms.largest_factor
    lacking = pool.score[pool.parts["words"] <= 0]
    return most < lowest and (not len(lacking) or float(lacking.max()) + most < lowest)
