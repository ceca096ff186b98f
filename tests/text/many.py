"""Fingerprints of many texts at once, computed as the index computes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from engine.text.simhash import combine, term_hash


def fingerprints(documents: Sequence[Sequence[str]]) -> NDArray[np.uint64]:
    """Return the value of `fingerprint` for each of many texts."""
    flat = list(chain.from_iterable(documents))
    return combine(
        np.fromiter(map(term_hash, flat), np.uint64, len(flat)),
        np.fromiter(map(len, documents), np.int64, len(documents)),
        np.fromiter((len(set(terms)) for terms in documents), np.int64, len(documents)),
    )
