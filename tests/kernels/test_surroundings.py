"""The compiled functions for nearby atoms and sources give the results of their twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.query.recall.pool import Pool
from engine.query.recall.signals.anchors import Neighbours
from engine.query.recall.signals.surroundings import FURTHER, best_in_groups, best_nearby
from tests.kernels.native import native

SCORES = st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.7, 3.3])


@given(st.data())
def test_best_nearby(data: st.DataObject) -> None:
    """The scores that nearby hits pass on are those of the twin."""
    ordinals = data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=12, unique=True).map(sorted))
    hits = data.draw(st.lists(st.sampled_from(ordinals), max_size=6, unique=True))
    others = st.lists(st.sampled_from([-1, *ordinals]), min_size=len(hits), max_size=len(hits))
    near = [
        Neighbours(np.array(hits, np.int64), np.array(data.draw(others), np.int64), steps)
        for steps in data.draw(st.lists(st.sampled_from([1, 2]), min_size=1, max_size=4))
    ]
    terms = data.draw(st.integers(1, 4))
    flat = data.draw(st.lists(SCORES, min_size=terms * len(ordinals), max_size=terms * len(ordinals)))
    scores = np.array(flat).reshape(terms, -1)
    pool = Pool(np.array(ordinals, np.int64), np.zeros(len(ordinals)))
    found = native().best_nearby(
        scores.tobytes(),
        pool.ordinals.tobytes(),
        near[0].hits.tobytes(),
        [(1.0 if one.steps == 1 else FURTHER, one.others.tobytes()) for one in near],
    )
    assert np.frombuffer(found).tolist() == best_nearby(pool, near, scores).ravel().tolist()


@given(st.data())
def test_best_in_groups(data: st.DataObject) -> None:
    """The groups and the best scores in them are those of the twin."""
    some = data.draw(
        st.lists(st.tuples(st.sampled_from([3, 2**63, 7]), st.booleans()), min_size=1, max_size=12)
    )
    sources = np.array([source for source, _ in some], np.uint64)
    small = np.array([chosen for _, chosen in some])
    small[0] = True
    terms = data.draw(st.integers(1, 3))
    flat = data.draw(st.lists(SCORES, min_size=terms * len(some), max_size=terms * len(some)))
    scores = np.array(flat).reshape(terms, -1)
    groups, best = native().best_in_groups(scores.tobytes(), sources.tobytes(), small.tobytes())
    twin_groups, twin_best = best_in_groups(sources, small, scores)
    assert np.frombuffer(groups, np.int64).tolist() == twin_groups.tolist()
    assert np.frombuffer(best).tolist() == twin_best.ravel().tolist()


@given(st.binary(max_size=40), st.binary(max_size=24), st.binary(max_size=24), st.binary(max_size=24))
def test_arguments_that_do_not_fit_are_declined(one: bytes, two: bytes, three: bytes, four: bytes) -> None:
    """Arbitrary bytes never end the process."""
    native().best_nearby(one, two, three, [(1.0, four)])
    native().best_in_groups(one, two, three)
