"""Positions: neighbours, source sizes and titles equal those of a naive search, however documents are cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.base.limits import INTEGER_MAX
from engine.index.positions import NO_NEIGHBOUR, PositionsCache, distinct, sorted_pairs
from tests.index.lines import SOURCES, TITLES, Document, Line, large, lines

pytestmark = pytest.mark.slow

ONE, OTHER = SOURCES[1], SOURCES[2]


def turns(*sequences: int, source: int = ONE) -> tuple[Document, ...]:
    """Live documents of one source."""
    return tuple(Document(source, sequence) for sequence in sequences)


@given(lines())
def test_a_neighbour_is_the_nearest_live_document_of_the_source(line: Line) -> None:
    """Gaps and dead documents are skipped; other titles and sources do not count."""
    assert line.beside(after=True) == line.plainly_beside(after=True)
    assert line.beside(after=False) == line.plainly_beside(after=False)


@given(lines(equals=True))
@example(Line((*turns(0, 0, 1),), 1))
def test_documents_in_one_place_stand_in_the_order_of_their_ordinals(line: Line) -> None:
    """Documents with one sequence are ordered by ordinal."""
    assert line.beside(after=True) == line.plainly_beside(after=True)
    assert line.beside(after=False) == line.plainly_beside(after=False)


@given(lines(large))
@example(Line((*turns(0, 1), *turns(INTEGER_MAX, source=OTHER)), 0))
@example(Line((*turns(0, 1), *turns(INTEGER_MAX, source=OTHER)), 2))
def test_sequences_may_be_as_large_as_they_like(line: Line) -> None:
    """Sequences over 2³² do not change the neighbours of any document."""
    assert line.beside(after=True) == line.plainly_beside(after=True)
    assert line.beside(after=False) == line.plainly_beside(after=False)


@given(lines(equals=True), st.integers(0, 24))
@example(Line((*turns(0, 0, 1),), 3), 1)
def test_neighbours_do_not_depend_on_what_is_in_segments(line: Line, settled: int) -> None:
    """The neighbours are the same wherever the segments end."""
    other = line.cut_at(settled)
    assert line.beside(after=True) == other.beside(after=True)
    assert line.beside(after=False) == other.beside(after=False)


@pytest.mark.parametrize("settled", [0, 10])
def test_seven_dead_neighbours_are_stepped_over(settled: int) -> None:
    """Seven dead documents in a row are skipped."""
    dead = tuple(Document(ONE, sequence, live=False) for sequence in range(1, 8))
    line = Line((*turns(0), *dead, *turns(9)), 0).cut_at(settled)
    assert line.beside(after=True)[0] == 8
    assert line.beside(after=False)[8] == 0


@given(lines(), st.data())
def test_sources_that_begin_alike_are_never_mixed(line: Line, data: st.DataObject) -> None:
    """If the hashes of two sources share their first bits, no neighbour is from the other source."""
    mixed = replace(
        line,
        documents=tuple(
            one._replace(source=one.source + data.draw(st.integers(0, 1))) if one.source else one
            for one in line.documents
        ),
    )
    for after in (True, False):
        for ordinal, found in enumerate(mixed.beside(after=after)):
            own = mixed.documents[ordinal]
            assert found == NO_NEIGHBOUR or mixed.documents[found][:3:2] == own[:3:2]


@given(lines(large, equals=True))
def test_nobody_has_no_neighbour(line: Line) -> None:
    """NO_NEIGHBOUR has no neighbour, and ordinals may be given in any order."""
    positions, asked = line.positions(), [NO_NEIGHBOUR, *reversed(range(len(line.documents))), NO_NEIGHBOUR]
    if line.documents:
        found = positions.beside(np.array(asked), line.live, after=True).tolist()
        assert found == [NO_NEIGHBOUR, *reversed(line.beside(after=True)), NO_NEIGHBOUR]


@given(lines(large, equals=True))
def test_a_source_is_as_large_as_it_has_placed_documents(line: Line) -> None:
    """Dead documents count; documents without a sequence do not."""
    positions = line.positions()
    placed = [one.source > 0 and one.sequence is not None for one in line.documents]
    assert positions.placed(line.ordinals).tolist() == placed
    sizes = Counter(one.source for one, there in zip(line.documents, placed, strict=True) if there)
    expected = [sizes[one.source] for one, there in zip(line.documents, placed, strict=True) if there]
    assert positions.source_sizes(line.ordinals[placed]).tolist() == expected


@given(lines(dead=24), st.lists(st.sampled_from([*TITLES[1:], 1, 2**64 - 1])), st.integers(1, 5))
def test_titles_are_found_by_their_hashes(line: Line, asked: list[int], most: int) -> None:
    """Live documents with a title are found, unless more than `most` have it."""
    having = {
        title: [at for at, one in enumerate(line.documents) if one.title == title and one.live]
        for title in asked
    }
    expected = [
        (number, ordinal)
        for number, title in enumerate(asked)
        if len(having[title]) <= most
        for ordinal in having[title]
    ]
    found = line.positions().titled(np.array(asked, np.uint64), line.live, most)
    assert [number for number, _ in found] == [number for number, _ in expected]
    assert sorted(found) == expected


@given(lines())
def test_there_are_titles_if_any_document_has_one(line: Line) -> None:
    """`has_titles` is True if any document has a title."""
    assert line.positions().has_titles == any(one.title for one in line.documents)


@given(st.lists(lines(large, equals=True, most=8), min_size=1, max_size=6), st.data())
def test_a_cache_never_serves_an_old_view(histories: list[Line], data: st.DataObject) -> None:
    """A cache gives the same answers as a new one, for any views in any order."""
    cache = PositionsCache()
    for line in histories:
        shown = line.cut_at(data.draw(st.integers(0, len(line.documents))))
        positions = cache.positions(shown.view())
        for after in (True, False):
            found = positions.beside(shown.ordinals, shown.live, after=after)
            assert found.tolist() == shown.beside(after=after)
        titles = np.array(TITLES[1:], np.uint64)
        found_titles = shown.positions().titled(titles, shown.live, 9)
        assert positions.titled(titles, shown.live, 9) == found_titles


@given(lines(most=12), st.integers(0, 60))
def test_a_growing_store_is_seen_as_it_grows(line: Line, further: int) -> None:
    """With unchanged segments, each new document is found at once."""
    cache = PositionsCache()
    cache.positions(line.view())
    grown = replace(line, documents=(*line.documents, Document(ONE, further), Document(ONE, 2**40)))
    positions = cache.positions(grown.view())
    assert positions.beside(grown.ordinals, grown.live, after=False).tolist() == grown.beside(after=False)


def test_a_view_is_worked_out_once() -> None:
    """While the index is unchanged, the cache returns the same object."""
    cache, line = PositionsCache(), Line(turns(0, 1), 1)
    assert cache.positions(line.view()) is cache.positions(line.view())
    assert cache.positions(line.view()) is not cache.positions(line.view(b"another"))


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5)))
def test_distinct_numbers_are_those_of_numpy(numbers: list[int]) -> None:
    """The numbers, their order and their type are those of `numpy.unique`."""
    values = np.array(numbers, np.uint64)
    assert distinct(values).tolist() == np.unique(values).tolist()
    assert distinct(values).dtype == values.dtype


RUNS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 8)), max_size=12)


@given(RUNS)
def test_pairs_in_runs_are_sorted_as_numpy_sorts_them(runs: list[tuple[int, int, int]]) -> None:
    """Runs may overlap, and equal pairs keep their order."""
    pairs = [(major, minor + step) for major, minor, size in runs for step in range(size)]
    major, minor = np.array(pairs, np.uint64).reshape(-1, 2).T
    assert sorted_pairs(major, minor).tolist() == np.lexsort((minor, major)).tolist()
