"""Near copies: short texts that differ in few words, which fingerprints rarely show.

    terms of the index, rarest first ──▶ pairs of texts that share two rare terms ──▶ comparison word by word

If one of 8 words is replaced, about 14 bits of the fingerprint change, but only texts that differ in fewer
than 3 bits are near-duplicates (`engine.text.simhash`). So near copies are found by their rarest terms. If a
text has at most k words that another text lacks, then any k + 2 terms of the first text include two terms of
the second (prefix filtering: Bayardo, Ma & Srikant 2007). The candidates are compared word by word
(`engine.text.language.rewording`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.base.characters import normalized_content
from engine.followers.tags import LIVE, SUPERSEDED, members
from engine.index.columns import FIRST_OF_TEXT, Columns
from engine.index.index_view import IndexView
from engine.index.segments import HEAD
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.text.analyzer import index_terms, index_terms_many
from engine.text.language.rewording import (
    EDITS_MAX,
    SHARE,
    WORDS_MAX,
    WORDS_MIN,
    Rewording,
    reworded,
    wording_of,
)
from proofs.events import AtomBody
from proofs.leaves import Group

TERMS_MAX: Final = 2 * WORDS_MAX
"""Texts with more terms have too many words. Some words have several terms."""
BLOCK_MAX: Final = 16
"""If more texts than this share two rare terms, each is only compared with this many others: with those whose
length is most similar, and among these with the next ones by ordinal."""
PAIRS_MAX: Final = 50_000
"""The largest number of pairs whose texts are read. Pairs with terms that few texts share come first.

Ordinary texts have fewer pairs: 8,000 for 100,000 texts (measured). Filled-in forms have more.
"""
CHUNK: Final = 4_096
"""The number of pairs whose texts are in memory at a time."""
COMPARED_MAX: Final = 64
"""The largest number of atoms that are read to find the copies or the near copies of one text."""
FEW: Final = 4
"""If at most this many atoms are left, they are read, because reading the postings of a further term would
take longer."""


def comparable(rows: Reader) -> BitMap:
    """Return the ordinals of the live atoms that are compared. Superseded atoms are not.

    A correction often differs from the superseded text in a single word, and is no copy of it.
    """
    return members(rows, LIVE) - members(rows, (Group.TAG, SUPERSEDED))


def near_copies(rows: Reader, index: IndexView) -> Iterator[tuple[int, int]]:
    """Yield the ordinals of all pairs of near copies among the live atoms, the lower ordinal first.

    Of atoms with equal fingerprints, only the first is compared. Measured: a collection of 12,485 notes takes
    0.3 s, and 100,000 texts of 40 words take 1.6 s.
    """
    live = np.frombuffer(comparable(rows).to_array(), np.uint32).astype(np.int64)
    live = live[live < index.documents]
    fingerprints = index.facts.fingerprints[live]
    _, firsts = np.unique(fingerprints, return_index=True)
    is_member = np.zeros(index.documents, np.bool_)
    is_member[live[firsts]] = True
    is_member[live[fingerprints == 0]] = False
    candidates = _candidates(index, is_member)
    for start in range(0, len(candidates), CHUNK):
        yield from _verified(rows, candidates[start : start + CHUNK])


def near_copies_of(rows: Reader, index: IndexView, text: str, among: BitMap) -> list[tuple[int, Rewording]]:
    """Return the ordinals of the atoms in `among` that are near copies of a text, ascending.

    At most `COMPARED_MAX` atoms are read: those that have most terms of the text. `among` are live atoms.
    """
    wording = wording_of(text)
    if wording is None or len(wording.words) < WORDS_MIN - 1:
        return []
    terms = sorted(set(index_terms(text)))
    edits = int(_edits_of(np.array(len(wording.words))))
    if len(terms) < edits + 2:
        return []
    dfs = dict(zip(terms, index.dfs(terms), strict=True))
    rarest = sorted(terms, key=lambda term: (dfs[term], term))
    counts = _counted(index, rarest[: edits + 2])
    candidates = np.flatnonzero(counts >= 2)
    candidates = candidates[np.isin(candidates, np.frombuffer(among.to_array(), np.uint32))]
    if len(candidates) > COMPARED_MAX:
        counts = _counted(index, rarest)[candidates]
        candidates = np.sort(candidates[np.argsort(-counts, kind="stable")[:COMPARED_MAX]])
    copies = []
    for ordinal, body in zip(candidates.tolist(), _bodies(rows, candidates.tolist()), strict=True):
        other = wording_of(body.content)
        rewording = None if other is None else reworded(wording, other)
        if rewording is not None:
            copies.append((ordinal, rewording))
    return copies


def equal_texts(
    rows: Reader, index: IndexView, content: str, terms: Sequence[str], among: BitMap
) -> list[tuple[AtomRecord, AtomBody]]:
    """Return the atoms in `among` whose contents have the same normal form as `content`.

    `terms` are the terms of the content. Contents have the same normal form if they differ at most in white
    space and in the case of the letters A to Z. Titles are not compared.
    """
    distinct = list(dict.fromkeys(terms))
    dfs = dict(zip(distinct, index.dfs(distinct), strict=True))
    if not all(dfs.values()):
        return []
    for term in sorted(distinct, key=dfs.__getitem__):
        among = among & index.ordinals_with(term)
        if len(among) <= FEW:
            break
    normal = normalized_content(content)
    return [
        (record, body)
        for record, body in first_atoms(rows, among)
        if normalized_content(body.content) == normal
    ]


def first_atoms(rows: Reader, ordinals: BitMap) -> Iterator[tuple[AtomRecord, AtomBody]]:
    """Yield the first `COMPARED_MAX` of these atoms with their bodies."""
    records = records_of(rows, ids_at(rows, list(islice(ordinals, COMPARED_MAX))))
    return zip(records, bodies_of(rows, records), strict=True)


def _edits_of(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest numbers of edits between texts of so many words and longer or equal ones."""
    return np.minimum(words // (SHARE - 1), EDITS_MAX)


def _counted(index: IndexView, terms: Iterable[str]) -> NDArray[np.uint16]:
    """Return, for each document, the number of these terms that it has."""
    counts = np.zeros(index.documents, np.uint16)
    for term in terms:
        for part in index.postings(term):
            counts[part.offsets.astype(np.int64) + part.start] += 1
    return counts


def _bodies(rows: Reader, ordinals: Sequence[int]) -> list[AtomBody]:
    return bodies_of(rows, records_of(rows, ids_at(rows, ordinals)))


def _verified(rows: Reader, pairs: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield those of the pairs whose texts say nearly the same."""
    ordinals = np.unique(pairs).tolist()
    texts = dict(zip(ordinals, (body.content for body in _bodies(rows, ordinals)), strict=True))
    terms = dict(zip(ordinals, map(frozenset, index_terms_many(list(texts.values()))), strict=True))
    wording = cache(lambda ordinal: wording_of(texts[ordinal]))
    for one, other in pairs.tolist():
        # A quick check first: splitting a text into words takes ten times longer than finding its terms.
        # Filled-in forms usually differ in a number.
        differing = terms[one] ^ terms[other]
        if len(differing) <= 4 * EDITS_MAX and not any(any(map(str.isdigit, term)) for term in differing):
            first, second = wording(one), wording(other)
            if first is not None and second is not None and reworded(first, second) is not None:
                yield one, other


def _candidates(index: IndexView, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the pairs of chosen documents that share two of their rarest terms, in ascending order.

    The rarest terms of a text are those that the fewest chosen texts have. Only texts of a suitable length
    count. The index is read twice, so that only one of its segments is in memory at a time.
    """
    numbers: dict[bytes, int] = {}
    sizes = np.zeros(len(chosen), np.int64)
    dfs = np.zeros(0, np.int64)
    for start, columns in index.columns():
        ids, owners, tfs = _postings(start, columns, numbers)
        sizes += np.bincount(owners, tfs, len(chosen)).astype(np.int64)
        counted = chosen[owners] & (sizes[owners] >= WORDS_MIN - 1) & (sizes[owners] <= TERMS_MAX)
        counts = np.bincount(ids[counted], minlength=len(numbers))
        counts[: len(dfs)] += dfs
        dfs = counts
    wanted = chosen & (sizes >= WORDS_MIN - 1) & (sizes <= TERMS_MAX)
    ranks = np.empty(len(numbers), np.int64)
    ranks[np.argsort(dfs, kind="stable")] = np.arange(len(numbers))
    blocks = [np.zeros((0, 2), np.uint64)]
    for start, columns in index.columns():
        ids, owners, _ = _postings(start, columns, numbers)
        is_wanted = wanted[owners]
        blocks += _keys(np.sort(owners[is_wanted] << 32 | ranks[ids[is_wanted]]), sizes)
    return _pairs(np.concatenate(blocks), sizes)


def _keys(terms: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[NDArray[np.uint64]]:
    """Yield rows of a key and an ordinal: one for each two of the rarest terms of each text.

    `terms` are the terms of texts, text after text, the rarest first; the ordinal is in the upper 32 bits.
    """
    ordinals, starts, counts = np.unique(terms >> 32, return_index=True, return_counts=True)
    wanted = np.minimum(_edits_of(sizes[ordinals]) + 2, counts)
    for second in range(1, EDITS_MAX + 2):
        texts = np.flatnonzero(wanted > second)
        for first in range(second):
            low, high = (terms[starts[texts] + place] & 0xFFFFFFFF for place in (first, second))
            yield np.stack([low << 32 | high, ordinals[texts]], axis=1).astype(np.uint64)


def _pairs(blocks: NDArray[np.uint64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pairs of ordinals with an equal key and a similar size; see BLOCK_MAX and PAIRS_MAX."""
    ordinals = blocks[:, 1].astype(np.int64)
    order = np.lexsort((ordinals, sizes[ordinals], blocks[:, 0]))
    keys, ordinals = blocks[order, 0], ordinals[order]
    _, block, counts = np.unique(keys, return_inverse=True, return_counts=True)
    shared = counts[block.ravel()]
    pairs, sharing = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    at = np.arange(len(keys))
    for gap in range(1, BLOCK_MAX + 1):
        at = at[at < len(keys) - gap]
        at = at[keys[at] == keys[at + gap]]
        close = at[sizes[ordinals[at + gap]] - sizes[ordinals[at]] <= 2 * EDITS_MAX]
        one, other = ordinals[close], ordinals[close + gap]
        pairs.append(np.minimum(one, other) << 32 | np.maximum(one, other))
        sharing.append(shared[close])
    every, counted = np.concatenate(pairs), np.concatenate(sharing)
    every = every[np.argsort(counted, kind="stable")]
    _, firsts = np.unique(every, return_index=True)
    sample = np.sort(every[np.sort(firsts)[:PAIRS_MAX]])
    return np.stack([sample >> 32, sample & 0xFFFFFFFF], axis=1)


def _postings(
    start: int, columns: Columns, numbers: dict[bytes, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]]:
    """Return the postings of texts without their titles: the term, the ordinal and the frequency of each.

    `numbers` maps known terms to their numbers. New terms get the next numbers.
    """
    heads = bisect_left(columns.terms, FIRST_OF_TEXT)
    of_text = [numbers.setdefault(term, len(numbers)) for term in columns.terms[heads:]]
    of_head = [numbers.get(term.removeprefix(HEAD), -1) for term in columns.terms[:heads]]
    cut = int(columns.dfs[:heads].sum())
    owners = columns.offsets.astype(np.int64) + start
    ids = np.repeat(np.array(of_head + of_text, np.int64), columns.dfs)
    keys = ids[cut:] << 32 | owners[cut:]
    # The terms of a title are terms of its document, too. The label of a text without a title is in its text.
    titled = np.flatnonzero(columns.facts.titles[columns.offsets[:cut]])
    order = np.argsort(keys, kind="stable")
    places = np.searchsorted(keys, ids[titled] << 32 | owners[titled], sorter=order)
    inside = places < len(keys)
    tfs = columns.tfs[cut:].astype(np.int16)
    tfs[order[places[inside]]] -= columns.tfs[titled[inside]]
    left = tfs > 0
    return ids[cut:][left], owners[cut:][left], tfs[left]
