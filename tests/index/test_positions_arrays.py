"""Operations on arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.index.positions import distinct, sorted_pairs


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
