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
