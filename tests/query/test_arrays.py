"""Operations on arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.query.arrays import distinct


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5)))
def test_distinct_numbers_are_those_of_numpy(numbers: list[int]) -> None:
    """The numbers, their order and their type are those of `numpy.unique`."""
    values = np.array(numbers, np.uint64)
    assert distinct(values).tolist() == np.unique(values).tolist()
    assert distinct(values).dtype == values.dtype
