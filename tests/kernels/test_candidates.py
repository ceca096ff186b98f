"""The compiled function that makes candidates gives what its twins give, one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_config import Signals
from engine.query.recall.recall_run import Pool
from engine.query.recall.signals.anchors import (
    FULL_LENGTH,
    FULL_SOURCE,
    FURTHER,
    TITLED,
    documents_near,
    gains_of,
)
from engine.query.recall.signals.scoring import Lists, best_documents, gains_at
from tests.index.lines import SOURCES, TITLES, Document, Line
from tests.kernels.native import native
from tests.kernels.test_score import searches

pytestmark = pytest.mark.slow

WEIGHTS = st.sampled_from([0.0, 0.25, 1.0])
DOCUMENTS = st.builds(
    Document, st.sampled_from(SOURCES), st.none() | st.integers(0, 30), st.sampled_from([0, 0, *TITLES])
)


@settings(max_examples=300, deadline=None)
@given(searches(), WEIGHTS, WEIGHTS, st.integers(1, 30), st.data())
def test_candidates(
    search: tuple[Lists, AtomSet, int], near: float, source: float, most: int, data: st.DataObject
) -> None:
    """The candidates, their scores and what they gain from others are those of the twins, to the last bit."""
    lists, allowed, limit = search
    weighted, _, _, starts, lengths, _ = lists.kernel_lists
    made = data.draw(st.lists(DOCUMENTS, min_size=allowed.documents, max_size=allowed.documents))
    positions = Line((*made,), starts[-1]).positions()
    found = native().candidates(
        lists.kernel_lists,
        lists.kernel_allowed(allowed),
        positions.kernel_orders,
        limit,
        limit + most,
        (1.0, FURTHER),
        (FULL_SOURCE, 200),
        (near, source, FULL_LENGTH, TITLED),
    )
    hits = best_documents(lists, allowed, limit)[0][: limit + most]
    ordinals, others = documents_near(positions, allowed.mask, hits)
    gains = gains_at(lists, ordinals)
    scores = gains.by_list[: len(weighted)]
    pool, sizes = Pool(ordinals, gains.scores), np.frombuffer(b"".join(lengths), "<u2").astype(float)
    signals = Signals(near=near, source=source)
    twin: list[Any] = [[], []]
    if scores.size:
        amounts = gains_of(positions, sizes[ordinals], pool, others, scores, signals)
        twin = [some.tolist() for some in amounts]
    assert np.frombuffer(found[0], np.int64).tolist() == ordinals.tolist()
    assert np.frombuffer(found[1]).tolist() == scores.ravel().tolist()
    assert np.frombuffer(found[2]).tolist() == gains.scores.tolist()
    assert [np.frombuffer(raw).tolist() for raw in found[3:]] == twin


@given(searches())
def test_candidates_without_neighbours(search: tuple[Lists, AtomSet, int]) -> None:
    """Without distances, the candidates are the best documents, ascending."""
    lists, allowed, limit = search
    positions = Line((Document(0, None),) * allowed.documents, 0).positions()
    arguments = (lists.kernel_lists, lists.kernel_allowed(allowed), positions.kernel_orders)
    weights = (0.0, 1.0, FULL_LENGTH, TITLED)
    found = native().candidates(*arguments, limit, limit, (), (FULL_SOURCE, 200), weights)
    hits = best_documents(lists, allowed, limit)[0][:limit]
    assert np.frombuffer(found[0], np.int64).tolist() == sorted(hits.tolist())


def test_arguments_that_do_not_fit_are_declined() -> None:
    """Documents without a length, a limit of 0 and long distances are left to the twins."""
    lists: Any = ([], 0.0, [(1.0, np.array([0, 9], "<u4").tobytes())], [0], [bytes(2)], bytes(8))
    allowed: Any = ([0.5], b"\xff\xff", [])
    orders = Line((Document(0, None),) * 10, 0).positions().kernel_orders
    weights = (1.0, 1.0, FULL_LENGTH, TITLED)
    assert native().candidates(lists, allowed, orders, 1, 1, (1.0,), (FULL_SOURCE, 200), weights) is None
    assert native().candidates(lists, allowed, orders, 0, 1, (1.0,), (FULL_SOURCE, 200), weights) is None
    assert native().candidates(lists, allowed, orders, 1, 1, (1.0,) * 9, (FULL_SOURCE, 200), weights) is None


def candidates_of(line: Line, best: int, sizes: tuple[float, int]) -> tuple[list[int], list[list[float]]]:
    """Return the candidates, and their gains, if one document alone has the only term, once."""
    count, native_lists = len(line.documents), native()
    head = (1).to_bytes(4, "big") + b"\x01" + best.to_bytes(2, "little") + b"\x01"
    lists: Any = ([(1.0, (head,), ())], 0.0, [], [0], [bytes(2 * count)], np.array([0.5], "<f8").tobytes())
    allowed: Any = ([0.5], np.packbits(line.live, bitorder="little").tobytes(), [])
    orders, weights = line.positions().kernel_orders, (1.0, 1.0, FULL_LENGTH, 1.0)
    found = native_lists.candidates(lists, allowed, orders, 9, 9, (1.0,), sizes, weights)
    assert found is not None
    gains = [np.frombuffer(raw).tolist() for raw in found[3:]]
    return np.frombuffer(found[0], np.int64).tolist(), gains


@pytest.mark.parametrize("dead", [7, 8])
def test_as_many_dead_documents_are_skipped_as_in_the_twin(dead: int) -> None:
    """The search for a neighbour ends at the same dead document as that of the twin."""
    documents = (Document(SOURCES[1], number, live=number in (0, dead + 1)) for number in range(dead + 2))
    line = Line((*documents,), 0)
    twin, _ = documents_near(line.positions(), line.live, np.array([0], np.int64))
    assert candidates_of(line, 0, (FULL_SOURCE, 200))[0] == twin.tolist() == [0, *[dead + 1] * (dead == 7)]


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("best", [0, 2])
def test_a_source_is_too_large_wherever_its_candidate_stands(size: int, best: int) -> None:
    """A source of one atom more than allowed passes nothing on, also from its first and its last atom."""
    line = Line((*(Document(SOURCES[1], number, live=True) for number in range(size)),), 0)
    ordinals, (_, of_source) = candidates_of(line, best, (FULL_SOURCE, 3))
    assert [gain > 0 for gain in of_source] == [size == 3 and one != best for one in ordinals]
