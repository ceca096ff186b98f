"""Operations on arrays that numpy has in a form that is slower to begin with."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def distinct(values: NDArray[T]) -> NDArray[T]:
    """Return the distinct numbers of a one-dimensional array in ascending order, as `numpy.unique` does.

    The first call of `numpy.unique` in a process imports masked arrays, which takes 10 ms (measured).
    """
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
