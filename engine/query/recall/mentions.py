"""The terms of the question that each candidate contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.kernels import NATIVE
from engine.text.language.lexicon import forms_of


class Mentions:
    """The candidates that contain a term of the question or one of its irregular forms."""

    def __init__(
        self,
        terms: Sequence[str],
        scored: Sequence[str],
        weights: Mapping[str, float],
        scores: NDArray[np.float64],
    ) -> None:
        """Find the rows of `scores` that belong to each of `terms`.

        `scores` has one row for each of the terms `scored`, and one column for each candidate. Forms that
        have no weight were not searched for.
        """
        self._scores = scores
        numbers = {term: number for number, term in enumerate(scored)}
        self._rows: dict[str, list[int]] = {}
        for term in terms:
            there = [numbers[form] for form in (term, *forms_of(term)) if form in numbers and form in weights]
            if there:
                self._rows[term] = there

    def __contains__(self, term: str) -> bool:
        """Return True if the term was scored, whether or not a candidate contains it."""
        return term in self._rows

    def of(self, term: str) -> NDArray[np.bool_]:
        """Return True for each candidate that contains the term."""
        there = np.zeros(self._scores.shape[1], np.bool_)
        for row in self._rows.get(term, ()):
            there |= self._scores[row] > 0
        return there

    def covering(self, weights: Mapping[str, float], least: float) -> int:
        """Return the number of candidates that contain terms whose weights add up to at least `least`."""
        if NATIVE is not None:
            rows = [(weight, self._rows[term]) for term, weight in weights.items()]
            found: int | None = NATIVE.covering(self._scores.tobytes(), len(self._scores), rows, least)
            if found is not None:
                return found
        return covering(self, weights, least)


def covering(mentions: Mentions, weights: Mapping[str, float], least: float) -> int:
    """Return the result of `Mentions.covering`."""
    covered: NDArray[np.float64] = np.zeros(())
    for term, weight in weights.items():
        covered = covered + weight * mentions.of(term)
    return int(np.count_nonzero(covered >= least))
