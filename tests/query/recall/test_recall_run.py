"""The pool: every score is the sum of the parts by signal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from engine.query.recall.recall_run import Pool
from engine.query.recall.signals.scoring import MICRO

SIGNALS = ("words", "near", "trust", "walk")

amounts = st.floats(0, 50, allow_subnormal=False)
factors = st.floats(0, 8, allow_subnormal=False)


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """A pool after a random sequence of additions, multiplications and extensions."""
    among = draw(st.lists(st.integers(0, 60), unique=True, max_size=20))
    pool = _of(draw, sorted(among))
    for _ in range(draw(st.integers(0, 6))):
        step = draw(st.sampled_from(("add", "multiply", "join")))
        signal = draw(st.sampled_from(SIGNALS[1:]))
        if step == "add":
            pool.add(signal, draw(arrays(np.float64, len(pool), elements=amounts)))
        elif step == "multiply":
            pool.multiply(signal, draw(arrays(np.float64, len(pool), elements=factors)))
        else:
            new = draw(st.lists(st.integers(0, 90), unique=True, max_size=8))
            more = _of(draw, [one for one in new if one not in pool.ordinals])
            pool = pool.extended(more.ordinals, more.score)
    return pool


def _of(draw: st.DrawFn, ordinals: list[int]) -> Pool:
    words = draw(arrays(np.float64, len(ordinals), elements=amounts))
    return Pool(np.array(ordinals, np.int64), words)


def parts_of(pool: Pool, ordinal: int) -> dict[str, float]:
    """The amount of each signal for one candidate, unrounded."""
    (place,) = pool.rows_of(np.array([ordinal])).tolist()
    return {signal: float(given[place]) for signal, given in pool.parts.items()}


@given(pools())
def test_a_score_is_the_sum_of_its_shares(pool: Pool) -> None:
    """A score equals the sum of its parts after additions, multiplications and extensions."""
    total = sum(pool.parts.values(), np.zeros(len(pool)))
    assert np.allclose(pool.score, total, rtol=1e-9, atol=1e-9)


@given(pools())
def test_explained_parts_add_up_to_the_score(pool: Pool) -> None:
    """The sum of rounded parts differs from the rounded score by under a millionth each."""
    for place in range(len(pool)):
        parts = pool.explained(place)
        assert 0.0 not in parts.values()
        assert all(round(part, 6) == part for part in parts.values())
        rounded = int(pool.micros[place]) / MICRO
        assert abs(sum(parts.values()) - rounded) <= (len(SIGNALS) + 1) / MICRO


@given(pools())
def test_ranked_is_the_best_first(pool: Pool) -> None:
    """Every candidate with a score above 0 is ranked once, by rounded score, ties by ordinal."""
    places, micros = pool.ranked().tolist(), pool.micros.tolist()
    assert sorted(places) == [place for place in range(len(pool)) if micros[place] > 0]
    keys = [(-micros[place], int(pool.ordinals[place])) for place in places]
    assert keys == sorted(keys)


@given(pools(), st.integers(0, 12))
def test_the_best_are_the_beginning_of_the_ranking(pool: Pool, most: int) -> None:
    """The best candidates are the first of the ranking; candidates equal to the last are among them."""
    best = pool.ranked(most).tolist()
    micros, places = pool.micros, pool.ranked().tolist()
    assert best == places[: len(best)]
    assert len(best) >= min(most, len(places))
    assert not most or not places[len(best) :] or micros[best[-1]] > micros[places[len(best)]]


@given(pools())
def test_ordinals_ascend_and_are_distinct(pool: Pool) -> None:
    """Extending a pool keeps the ordinals sorted and distinct."""
    assert all(one < other for one, other in pairwise(pool.ordinals.tolist()))
    assert len(pool) == len(pool.ordinals) == len(pool.score) == len(pool.factor)


@given(pools(), st.lists(st.integers(0, 99)))
def test_atoms_are_found_where_they_stand(pool: Pool, asked: list[int]) -> None:
    """`rows_of` returns the row of each ordinal in the pool and −1 for others."""
    ordinals = pool.ordinals.tolist()
    expected = [ordinals.index(one) if one in ordinals else -1 for one in asked]
    assert pool.rows_of(np.array(asked, np.int64)).tolist() == expected


@given(pools(), st.lists(st.integers(100, 120), unique=True), st.data())
def test_joining_keeps_everything(pool: Pool, new: list[int], data: st.DataObject) -> None:
    """Old candidates keep their score, factor and parts; new ones only have their words."""
    words = data.draw(arrays(np.float64, len(new), elements=amounts))
    before = {int(one): parts_of(pool, int(one)) for one in pool.ordinals}
    joined = pool.extended(np.array(new, np.int64), words)
    assert sorted(joined.ordinals.tolist()) == sorted([*before, *new])
    for ordinal, parts in before.items():
        assert parts_of(joined, ordinal) == parts
    for ordinal, word in zip(new, words.tolist(), strict=True):
        assert parts_of(joined, ordinal) == dict.fromkeys(pool.parts, 0.0) | {"words": word}
    for name in ("score", "factor"):
        old, kept = getattr(pool, name), getattr(joined, name)
        assert kept[joined.rows_of(pool.ordinals)].tolist() == old.tolist()
    fresh = joined.rows_of(np.array(new, np.int64))
    assert joined.score[fresh].tolist() == words.tolist()
    assert joined.factor[fresh].tolist() == [1.0] * len(new)


@given(pools())
def test_joining_nobody_changes_nothing(pool: Pool) -> None:
    """Extending a pool by no candidates returns the same object."""
    nobody = np.zeros(0, np.int64)
    assert pool.extended(nobody, np.zeros(0)) is pool


@given(arrays(np.float64, 5, elements=amounts), st.lists(arrays(np.float64, 5, elements=factors), max_size=4))
def test_the_factor_is_all_that_a_score_was_multiplied_by(
    words: NDArray[np.float64], each: list[NDArray[np.float64]]
) -> None:
    """After multiplications only, a score is its words times the factor."""
    pool = Pool(np.arange(5), words)
    for one in each:
        pool.multiply("trust", one)
    assert np.allclose(pool.score, words * pool.factor, rtol=1e-9, atol=1e-9)


def test_multiplying_is_explained_as_what_it_added() -> None:
    """A factor of 1.5 on 2 is explained as 1, one of 0.5 as −1."""
    pool = Pool(np.arange(2), np.array([2.0, 2.0]))
    pool.multiply("trust", np.array([1.5, 0.5]))
    assert [pool.explained(place) for place in (0, 1)] == [
        {"words": 2.0, "trust": 1.0},
        {"words": 2.0, "trust": -1.0},
    ]


def test_an_empty_pool_has_nobody() -> None:
    """An empty pool ranks nothing, finds nothing, and can be extended."""
    pool = Pool(np.zeros(0, np.int64), np.zeros(0))
    assert len(pool) == len(pool.ranked()) == 0
    assert pool.rows_of(np.array([3])).tolist() == [-1]
    assert pool.extended(np.array([3]), np.array([1.0])).ranked().tolist() == [0]
