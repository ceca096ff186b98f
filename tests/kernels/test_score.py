"""The compiled functions that score documents give the results of their twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from engine.index.index_view import TermRows
from engine.index.postings_cache import Norms
from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_run import ranked
from engine.query.recall.signals import scoring
from engine.query.recall.signals.scoring import Lists, WeightedTerm, best_documents, gains_at
from tests.kernels.native import native

pytestmark = pytest.mark.slow

HEADS = (0.0, 0.5, 2.0)


@dataclass
class Index:
    """The part of a view of the index that scoring needs."""

    starts: tuple[int, ...]


def row_of(tfs: dict[int, int]) -> bytes | None:
    """Return the row of a term with these frequencies by offset."""
    if not tfs:
        return None
    offsets = sorted(tfs)
    head = len(tfs).to_bytes(4, "big") + bytes([max(tfs.values())])
    return head + np.array(offsets, "<u2").tobytes() + bytes(tfs[offset] for offset in offsets)


@st.composite
def searches(draw: st.DrawFn) -> tuple[Lists, AtomSet, int]:
    """Return lists over a small index of two or three parts, allowed documents and a number of documents."""
    sizes = draw(st.lists(st.integers(1, 60), min_size=2, max_size=3))
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    documents = sum(sizes)
    lengths = [draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)) for size in sizes]
    k1, b = draw(st.sampled_from([(0.9, 0.4), (0.0, 0.0), (2.0, 1.0)]))
    table = k1 * ((1 - b) + b * (np.arange(10.0) / 3.7))
    norms = Norms(
        tuple(np.array(some, "<u2").tobytes() for some in lengths),
        tuple(float(table[min(some)]) for some in lengths),
        table.astype("<f8").tobytes(),
    )
    head = draw(st.sampled_from(HEADS))

    def rows(largest: int) -> tuple[bytes | None, ...]:
        return tuple(
            row_of(draw(st.dictionaries(st.integers(0, size - 1), st.integers(1, largest), max_size=size)))
            for size in sizes
        )

    weights = st.sampled_from([0.0, 1e-7, 0.3, 1.0, 2.5, 7.125])
    terms = [
        WeightedTerm("", draw(weights), TermRows(1, rows(draw(st.sampled_from([1, 3, 255]))), rows(2)))
        for _ in range(draw(st.integers(0, 5)))
    ]
    sets = st.sets(st.integers(0, documents - 1)).map(BitMap)
    tags = draw(st.lists(st.tuples(weights, sets), max_size=2))
    lowered = draw(sets)
    factors = ((draw(st.sampled_from([0.5, 3.0])), lowered),) if draw(st.booleans()) else ()
    allowed = AtomSet(draw(st.one_of(sets, st.just(BitMap(range(documents))))), documents, factors)
    index: Any = Index(tuple(starts))
    return Lists(index, norms, terms, head, tags), allowed, draw(st.integers(1, 12))


@settings(max_examples=300, deadline=None)
@given(searches(), st.integers(0, 3))
def test_best_documents(search: tuple[Lists, AtomSet, int], ties: int) -> None:
    """The best documents, their order and their scores are those of the twin, and of a full ranking."""
    lists, allowed, limit = search
    kernel, scoring_ties = native(), scoring.TIES_MAX
    scoring.TIES_MAX = ties  # type: ignore[misc]
    try:
        found = kernel.best_documents(lists.kernel_lists, lists.kernel_allowed(allowed), limit, limit + ties)
        twin = best_documents(lists, allowed, limit)
    finally:
        scoring.TIES_MAX = scoring_ties  # type: ignore[misc]
    every = np.array(allowed.ordinals.to_array(), np.int64)
    micros = np.rint(gains_at(lists, every).scores * allowed.factors_at(every) * 1e6).astype(int).tolist()
    ranked = sorted((-micro, ordinal) for ordinal, micro in zip(every.tolist(), micros, strict=True) if micro)
    expected = [one for one in ranked if one[0] <= ranked[min(limit, len(ranked)) - 1][0]][: limit + ties]
    assert list(zip((-twin[1]).tolist(), twin[0].tolist(), strict=True)) == expected
    assert np.frombuffer(found[0], "<i8").tolist() == twin[0].tolist()
    assert np.frombuffer(found[1], "<i8").tolist() == twin[1].tolist()


@settings(max_examples=200, deadline=None)
@given(searches(), st.lists(st.integers(-3, 200), max_size=30))
def test_gains_at(search: tuple[Lists, AtomSet, int], ordinals: list[int]) -> None:
    """The gains and scores of documents are those of the twin, to the last bit."""
    lists, _, _ = search
    asked = np.array(ordinals, np.int64)
    matrix, scores = native().gains_at(lists.kernel_lists, asked.tobytes())
    twin = gains_at(lists, asked)
    assert np.frombuffer(matrix, "<f8").tolist() == twin.by_list.ravel().tolist()
    assert np.frombuffer(scores, "<f8").tolist() == twin.scores.tolist()


@settings(max_examples=200, deadline=None)
@given(searches(), st.lists(st.integers(-3, 200), max_size=30))
def test_lacking(search: tuple[Lists, AtomSet, int], ordinals: list[int]) -> None:
    """The documents that gain nothing are those whose score is 0 in the twin."""
    lists, _, _ = search
    asked = np.array(ordinals, np.int64)
    found = native().lacking(lists.kernel_lists, asked.tobytes())
    assert np.frombuffer(found, np.bool_).tolist() == (gains_at(lists, asked).scores <= 0).tolist()


@given(searches(), st.data())
def test_arguments_that_do_not_fit_are_declined(
    search: tuple[Lists, AtomSet, int], data: st.DataObject
) -> None:
    """Rows and lengths that contradict each other are declined or scored, but never end the process."""
    lists, allowed, limit = search
    kernel = native()
    terms, head, tags, starts, lengths, norms = lists.kernel_lists
    usable = lists.kernel_allowed(allowed)
    cut = [one[: data.draw(st.integers(0, len(one)))] for one in lengths]
    short = norms[: data.draw(st.integers(0, len(norms)))]
    kernel.best_documents((terms, head, tags, starts, cut, short), usable, limit, limit)
    kernel.gains_at((terms, head, tags, starts, cut, short), np.arange(60).tobytes())
    fewer = (terms, head, tags, starts[1:], lengths, norms)
    assert kernel.best_documents(fewer, usable, limit, limit) is None
    negative: list[Any] = [(-1.0, [None] * len(starts), [])]
    assert kernel.gains_at((negative, head, tags, starts, lengths, norms), b"") is None


@given(
    st.lists(st.one_of(st.floats(-5, 5), st.sampled_from([0.0, 1e-7, 5e-7, 1.5e-6, 1.0])), max_size=40),
    st.integers(0, 41),
)
@example([1.0, 2.0, 1.0, 1.0], 2)
@example([1.0, 2.0, 3.0], 2)
def test_ranked(scores: list[float], most: int) -> None:
    """The best candidates with a score above 0, and their order, are those of the twin."""
    most = min(most, len(scores))
    expected = ranked(np.rint(np.array(scores) * 1e6).astype(np.int64), most)
    found = np.frombuffer(native().ranked(np.array(scores).tobytes(), most), np.int64)
    assert found.tolist() == expected.tolist()
