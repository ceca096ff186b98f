"""The compiled functions for nearby atoms and sources give the results of their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.index.positions import Positions
from engine.query.recall.recall_config import Signals
from engine.query.recall.recall_run import Pool
from engine.query.recall.signals.anchors import (
    FULL_LENGTH,
    FULL_SOURCE,
    FURTHER,
    NEIGHBOUR_STEPS,
    SOURCE_ATOMS_MAX,
    TITLED,
    Neighbours,
    documents_near,
    gains_of,
    lent,
)
from tests.index.lines import SOURCES, Document, Line, lines
from tests.kernels.native import native

SCORES = st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.7, 3.3])


def positions_of(line: Line) -> Positions:
    """Return the positions of documents, in the form for kernels, too."""
    native()
    return line.positions()


@pytest.mark.parametrize("dead", [7, 8])
def test_as_many_dead_documents_are_skipped_as_in_the_twin(dead: int) -> None:
    """The search for a neighbour ends at the same dead document as that of the twin."""
    line = Line(
        (*(Document(SOURCES[1], number, live=number in (0, dead + 1)) for number in range(dead + 2)),), 0
    )
    live = np.packbits(line.live, bitorder="little").tobytes()
    ordinals = np.array([0, dead + 1], np.int64)
    _, near = native().near_documents(positions_of(line).kernel_orders, live, ordinals.tobytes(), 1)
    found = [np.frombuffer(raw, np.int64).tolist() for raw in near]
    assert found == ([[-1, 0], [8, -1]] if dead == 7 else [[-1, -1], [-1, -1]])


@settings(max_examples=300)
@given(lines(equals=True, dead=14), st.data())
def test_near_documents(line: Line, data: st.DataObject) -> None:
    """The neighbours of hits are those of the twin, wherever the segments end."""
    every = range(len(line.documents))
    hits = np.array(data.draw(st.permutations(every))[: data.draw(st.integers(0, 8))], np.int64)
    positions = positions_of(line)
    live = np.packbits(line.live, bitorder="little").tobytes()
    found = native().near_documents(positions.kernel_orders, live, hits.tobytes(), NEIGHBOUR_STEPS)
    ordinals, near = documents_near(positions, line.live, hits)
    assert np.frombuffer(found[0], np.int64).tolist() == ordinals.tolist()
    others = [np.frombuffer(raw, np.int64).tolist() for raw in found[1]]
    assert others == [one.others.tolist() for one in near]


@settings(max_examples=300)
@given(lines(equals=True), st.data())
def test_surrounding_scores(line: Line, data: st.DataObject) -> None:
    """What candidates gain from neighbours and sources is what the twins compute, to the last bit."""
    every = st.integers(0, max(0, len(line.documents) - 1))
    ordinals = np.array(sorted(data.draw(st.sets(every, min_size=1))) if line.documents else [], np.int64)
    if not len(ordinals):
        return
    candidates = ordinals.tolist()
    hits = data.draw(st.lists(st.sampled_from(candidates), max_size=6, unique=True))
    others = st.lists(st.sampled_from([-1, *candidates]), min_size=len(hits), max_size=len(hits))
    near = [
        Neighbours(np.array(hits, np.int64), np.array(data.draw(others), np.int64), steps)
        for steps in data.draw(st.lists(st.sampled_from([1, 2]), min_size=1, max_size=4))
    ]
    terms = data.draw(st.integers(1, 12))
    flat = data.draw(st.lists(SCORES, min_size=terms * len(ordinals), max_size=terms * len(ordinals)))
    scores = np.array(flat).reshape(terms, -1)
    positions = positions_of(line)
    sizes = st.lists(st.integers(0, 90), min_size=len(line.documents), max_size=len(line.documents))
    lengths = np.array(data.draw(sizes), "<u2")
    signals = Signals(near=data.draw(SCORES), source=data.draw(SCORES))
    found = native().surrounding_scores(
        positions.kernel_orders,
        ([0, line.settled], [lengths[: line.settled].tobytes(), lengths[line.settled :].tobytes()]),
        ordinals.tobytes(),
        scores.tobytes(),
        near[0].hits.tobytes(),
        [(1.0 if one.steps == 1 else FURTHER, one.others.tobytes()) for one in near],
        (FULL_SOURCE, SOURCE_ATOMS_MAX),
        (signals.near, signals.source, FULL_LENGTH, TITLED),
    )
    pool = Pool(ordinals, np.zeros(len(ordinals)))
    expected = gains_of(positions, lengths[ordinals].astype(float), pool, near, scores, signals)
    assert [np.frombuffer(raw).tolist() for raw in found] == [amounts.tolist() for amounts in expected]


@pytest.mark.parametrize(("size", "seen"), [(3, 0), (3, 2), (4, 0), (4, 3)])
def test_a_source_is_too_large_wherever_its_candidate_stands(size: int, seen: int) -> None:
    """A source of one atom more than allowed passes nothing on, also to its first and to its last atom."""
    line = Line((*(Document(SOURCES[1], number, live=True) for number in range(size)),), 0)
    orders, giver = positions_of(line).kernel_orders, (seen + 1) % size
    ordinals = np.array(sorted((seen, giver)), np.int64)
    weights = (1.0, 1.0, FULL_LENGTH, 1.0)
    lengths = ([0], [bytes(2 * size)])
    raw, scores = ordinals.tobytes(), (ordinals == giver).astype(float).tobytes()
    _, found = native().surrounding_scores(orders, lengths, raw, scores, b"", [], (FULL_SOURCE, 3), weights)
    assert np.frombuffer(found)[ordinals == seen].tolist() == [float(size == 3)]


@given(lines(equals=True, most=6), st.integers(1, 3))
def test_large_sources_pass_nothing_on(line: Line, most: int) -> None:
    """Only sources of at most `most` atoms are considered, and the best atom of a source gains nothing."""
    ordinals = line.ordinals
    if not len(ordinals):
        return
    positions = positions_of(line)
    raw, scores = ordinals.tobytes(), ordinals.astype(float)
    lengths = ([0], [bytes(2 * len(ordinals))])
    weights, orders = (1.0, 1.0, FULL_LENGTH, 1.0), positions.kernel_orders
    _, found = native().surrounding_scores(
        orders, lengths, raw, scores.tobytes(), b"", [], (FULL_SOURCE, most), weights
    )
    sizes, placed = positions.source_sizes(ordinals), positions.placed(ordinals)
    sources = positions.sources[ordinals]
    passed = lent(scores[np.newaxis])[0]
    best = np.array([passed[placed & (sources == one)].max(initial=0.0) for one in sources])
    expected = np.where(placed & (sizes > 1) & (sizes <= most), np.maximum(best - scores, 0.0), 0.0)
    assert np.frombuffer(found).tolist() == expected.tolist()
