"""The scores of documents for weighted terms and tags (BM25F), computed from the stored rows of the terms.

    score(d) = Σ over terms of  (w · idf(t) · (k1 + 1)) · (tf / (norm(d) + tf))
    norm(d)  = k1 · (1 − b + b · (length(d) / average))
    idf(t)   = ln(1 + (N − df + 0.5) / (df + 0.5))

This is BM25F (Robertson & Zaragoza 2009) with the IDF of Lucene, which is never negative. tf is the number of
occurrences of the term in the document. Each occurrence in the head (the title, or the label of a speaker)
adds the weight `head` to tf. df is the number of documents with the term, N is the number of all documents,
and w is the weight of the term in the query.

Every step is one IEEE 754 double operation, terms are summed in ascending order of their code points, and
scores are rounded to six decimals before they are compared. So all machines compute equal results.
N, df and the average count all ordinals of the index, including those that the filters exclude.

A *list* is a term with the documents that contain it, or a tag with the documents that have it. The *gain* of
a document from a term is w · idf · (k1 + 1) · (tf / (norm + tf)); its gain from a tag is the weight of the
tag. The score of a document is the sum of its gains in the order of the lists: terms first, in ascending
order, then tags.

One function finds the best documents, another scores given documents. Each has a compiled twin in
`engine/kernels/src/score.rs`. Neither uses memory or time for documents that are in no list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from engine.base.native import NATIVE
from engine.index.index_view import IndexView, TermRows, decoded
from engine.index.postings_cache import Norms
from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_config import Bm25Config

TIES_MAX: Final = 1000
"""The largest number of further documents that are returned because they have the same score as the last
document within the limit."""

_ROUNDED_UP: Final = 1 + 1e-9
"""Upper bounds of scores are multiplied by this factor, because a score may be rounded differently."""

_DENSE_SHARE: Final = 8
"""If more than one in this many documents of a segment is scored, the frequencies of a term are written into
an array with one number for each document. Otherwise each document is searched for in the row of the term."""

HEAVIEST_TERMS_MAX: Final = 16
"""The largest number of terms whose scores are computed for each candidate. The heaviest terms are used.

A question may have hundreds of terms if somebody pastes a whole page.
"""

MICRO: Final = 1_000_000
"""The factor that converts a score to millionths. Scores are compared in millionths, because sums may differ
in the last bit on different machines."""


class WeightedTerm(NamedTuple):
    """A term of a query with its weight and its stored postings."""

    term: str
    weight: float
    """w · idf · (k1 + 1). The product of this weight and tf / (norm + tf) is added to the score of a
    document."""
    rows: TermRows


class Gains(NamedTuple):
    """The amounts that documents gain from each list, and the scores of the documents."""

    by_list: NDArray[np.float64]
    """A matrix with one row for each list and one column for each document."""
    scores: NDArray[np.float64]


class Lists:
    """Weighted terms and tags with which documents of one state of the index are scored."""

    def __init__(
        self,
        index: IndexView,
        norms: Norms,
        terms: Sequence[WeightedTerm],
        head: float = 0.0,
        tags: Sequence[tuple[float, BitMap]] = (),
    ) -> None:
        """Prepare the lists.

        Args:
            index: The index.
            norms: The norms of its documents.
            terms: The terms, in ascending order. All weights are 0 or more.
            head: The weight of an occurrence in the head. If it is 0, no rows of heads are needed.
            tags: The weight of each tag, and the ordinals of the documents that have it.
        """
        self.terms = terms
        self._starts = list(index.starts)
        self._norms = norms
        self._terms = [(one.weight, one.rows.rows, one.rows.heads if head else ()) for one in terms]
        self._head = head
        self._tags = [(weight, _raw(ordinals)) for weight, ordinals in tags]

    def best(self, allowed: AtomSet, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ordinals of the best `limit` allowed documents in order, and their scores in millionths.

        Scores are first multiplied by the factors of `allowed`. Documents with a score below one millionth
        are left out. Documents with equal scores are in the order of their ordinals. At most TIES_MAX further
        documents with the same score as the last document are included: the documents with the lowest
        ordinals.
        """
        if NATIVE is not None:
            best = NATIVE.best_documents(
                self.kernel_lists,
                self.kernel_allowed(allowed),
                limit,
                limit + TIES_MAX,
            )
            if best is not None:
                return np.frombuffer(best[0], "<i8"), np.frombuffer(best[1], "<i8")
        return best_documents(self, allowed, limit)

    def found(self, allowed: AtomSet, most: int) -> NDArray[np.int64]:
        """Return the ordinals of the best `most` allowed documents, the best first (see `best`).

        At most `most` further documents with the same score as the last document are included.
        """
        return self.best(allowed, most)[0][: 2 * most]

    def at(self, ordinals: NDArray[np.int64]) -> Gains:
        """Return the gains and the scores of documents.

        The ordinals may be in any order and may repeat. The score of an ordinal outside the index is 0.
        """
        if NATIVE is not None:
            raw = ordinals.astype("<i8", copy=False).tobytes()
            gains = NATIVE.gains_at(self.kernel_lists, raw)
            if gains is not None:
                matrix = np.frombuffer(gains[0], "<f8")
                count = len(self._terms) + len(self._tags)
                return Gains(matrix.reshape(count, len(ordinals)), np.frombuffer(gains[1], "<f8"))
        return gains_at(self, ordinals)

    def lacking(self, ordinals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for each document whose score stays 0."""
        if NATIVE is not None:
            is_lacking = NATIVE.lacking(self.kernel_lists, ordinals.astype("<i8", copy=False).tobytes())
            if is_lacking is not None:
                return np.frombuffer(is_lacking, np.bool_)
        return gains_at(self, ordinals).scores <= 0

    def by_term(
        self, ordinals: NDArray[np.int64]
    ) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
        """Return the heaviest terms, a matrix of their scores, and the total scores of documents.

        The terms are in ascending order of their code points. The matrix has one row for each of these terms,
        and one column for each document.
        """
        gains, columns = self.at(ordinals), list(range(len(self.terms)))
        if len(columns) > HEAVIEST_TERMS_MAX:
            heaviest = sorted(columns, key=lambda at: (-self.terms[at].weight, self.terms[at].term))
            columns = sorted(heaviest[:HEAVIEST_TERMS_MAX])
        return tuple(self.terms[at].term for at in columns), gains.by_list[columns], gains.scores

    @property
    def kernel_lists(self) -> tuple[Any, ...]:
        """The lists in the form that the compiled functions read."""
        norms = self._norms
        return self._terms, self._head, self._tags, self._starts, norms.lengths, norms.table

    def kernel_allowed(self, allowed: AtomSet) -> tuple[Any, ...]:
        """Return the arguments of the compiled search for the best documents, apart from the lists."""
        return self._norms.least, allowed.bits, allowed.factors

    # What follows is for the functions in Python only.

    @property
    def weights(self) -> list[float]:
        """The weights of all lists."""
        return [*(one[0] for one in self._terms), *(one[0] for one in self._tags)]

    def bounds(self) -> NDArray[np.float64]:
        """Return upper bounds for the gain of a document: a row for each list, a column for each part."""
        bounds = np.zeros((len(self._terms) + len(self._tags), len(self._starts)))
        for number, (weight, rows, _) in enumerate(self._terms):
            for part, row in enumerate(rows):
                if row is not None:
                    bounds[number, part] = self._bound(number, part, weight, row[4])
        for number, (weight, _) in enumerate(self._tags, len(self._terms)):
            bounds[number] = weight * _ROUNDED_UP
        return bounds

    def _bound(self, number: int, part: int, weight: float, tf: int) -> float:
        heads = self._terms[number][2]
        in_head = heads[part] if heads else None
        value = tf + (0.0 if in_head is None else self._head * in_head[4])
        return float(weight * (value / (self._norms.least[part] + value)) * _ROUNDED_UP)

    def named(self, number: int, least: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the documents of a list, in ascending order.

        Documents of part p that gain less than `least[p]` may be left out.
        """
        if number >= len(self._terms):
            return _ordinals(self._tags[number - len(self._terms)][1])
        weight, rows, _ = self._terms[number]
        lists = []
        for part, (start, row) in enumerate(zip(self._starts, rows, strict=True)):
            if row is None or self._bound(number, part, weight, row[4]) < least[part]:
                continue
            offsets, tfs = decoded(row)
            if least[part] > 0:
                possible = [
                    self._bound(number, part, weight, tf) >= least[part] for tf in range(1, row[4] + 1)
                ]
                offsets = offsets[np.array([False, *possible])[tfs]]
            lists.append(offsets.astype(np.int64) + start)
        return np.concatenate(lists) if lists else np.zeros(0, np.int64)

    def norms_of(self, lengths: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the norms of documents with these lengths."""
        norms: NDArray[np.float64] = np.frombuffer(self._norms.table, "<f8")[lengths]
        return norms


def best_documents(lists: Lists, allowed: AtomSet, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Do the work of `Lists.best` in Python.

    The lists are visited from the one with the highest bound to the one with the lowest. A document that is
    in none of the visited lists cannot gain more than the sum of the bounds of the remaining lists. So the
    visit ends when this sum is too low (MaxScore: Turtle & Flood 1995).
    """
    bounds = lists.bounds()
    order = np.argsort(-bounds.max(axis=1), kind="stable").tolist() if bounds.size else []
    largest = allowed.largest_factor * _ROUNDED_UP
    ordinals = np.zeros(0, np.int64)
    micros = np.zeros(0, np.int64)
    least = 1
    for place, number in enumerate(order):
        rest = bounds[order[place + 1 :]].sum(axis=0)
        lowest = (least - 1) / MICRO / largest
        if ((rest + bounds[number]) < lowest).all():
            break
        new = lists.named(number, lowest - rest)
        new = new[allowed.mask[new]]
        new = new[~_among(new, ordinals)]
        scored = lists.at(new).scores * allowed.factors_at(new) if len(new) else np.zeros(0)
        ordinals = np.concatenate([ordinals, new])
        micros = np.concatenate([micros, np.rint(scored * MICRO).astype(np.int64)])
        places = np.flatnonzero(micros >= least)
        order_of_chosen = np.lexsort((ordinals[places], -micros[places]))
        if len(places) >= limit:
            least = max(1, int(np.partition(micros[places], -limit)[-limit]))
        places = places[order_of_chosen][: limit + TIES_MAX]
        ordinals, micros = ordinals[places], micros[places]
    count = int((micros >= least).sum())
    return ordinals[:count], micros[:count]


def gains_at(lists: Lists, ordinals: NDArray[np.int64]) -> Gains:
    """Do the work of `Lists.at` in Python."""
    order = ordinals.argsort(kind="stable")
    ascending = ordinals[order]
    matrix = np.zeros((len(lists.weights), len(ordinals)))
    ends = [*lists._starts[1:], int(ascending[-1]) + 1 if len(ascending) else 0]
    for part, (start, end) in enumerate(zip(lists._starts, ends, strict=True)):
        low, high = ascending.searchsorted((start, max(start, end))).tolist()
        lengths = np.frombuffer(lists._norms.lengths[part], "<u2")
        high = min(high, int(ascending.searchsorted(start + len(lengths))))
        if low >= high:
            continue
        columns, local = order[low:high], ascending[low:high] - start
        norms = lists.norms_of(lengths[local])
        for row, (weight, rows, heads) in zip(matrix, lists._terms, strict=False):
            stored = rows[part]
            if stored is None:
                continue
            tfs = _frequencies(stored, local, len(lengths))
            values = tfs.astype(np.float64)
            in_head = heads[part] if heads else None
            if in_head is not None:
                values += lists._head * (_frequencies(in_head, local, len(lengths)) * (tfs > 0))
            row[columns] = weight * (values / (norms + values + (tfs == 0)))
    for row, (weight, raw) in zip(matrix[len(lists._terms) :], lists._tags, strict=True):
        row[_among(ordinals, _ordinals(raw))] = weight
    scores = np.zeros(len(ordinals))
    for row in matrix:
        scores += row
    return Gains(matrix, scores)


def _frequencies(row: bytes, local: NDArray[np.int64], documents: int) -> NDArray[np.uint8]:
    """Return the frequency of a term in each document at the ascending offsets `local`."""
    offsets, tfs = decoded(row)
    if len(local) * _DENSE_SHARE > documents:
        dense = np.zeros(documents, np.uint8)
        dense[offsets] = tfs
        return dense[local]
    positions = np.minimum(offsets.searchsorted(local.astype(np.uint16)), len(offsets) - 1)
    return np.where(offsets[positions] == local, tfs[positions], np.uint8(0))


def _among(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for each of `some` that is among `others`."""
    if not len(others):
        return np.zeros(len(some), np.bool_)
    ascending = np.sort(others)
    at = np.minimum(ascending.searchsorted(some), len(ascending) - 1)
    is_member: NDArray[np.bool_] = ascending[at] == some
    return is_member


def _raw(ordinals: BitMap) -> bytes:
    return np.frombuffer(ordinals.to_array(), np.uint32).astype("<u4", copy=False).tobytes()


def _ordinals(raw: bytes) -> NDArray[np.int64]:
    return np.frombuffer(raw, "<u4").astype(np.int64)


def idf(documents: int, df: int) -> float:
    """Return the inverse document frequency, above 0. The term is in `df` of all `documents` documents."""
    return math.log(1 + (documents - df + 0.5) / (df + 0.5))


def weighted_terms(
    documents: int, found: Mapping[str, TermRows], weights: Mapping[str, float], config: Bm25Config
) -> list[WeightedTerm]:
    """Return the terms in `weights` that occur in at least one document, in ascending order.

    `documents` is N, and `found` holds the stored postings of each term.
    """
    return [
        WeightedTerm(term, weights[term] * idf(documents, found[term].df) * (config.k1 + 1), found[term])
        for term in sorted(weights)
        if found[term].df
    ]
