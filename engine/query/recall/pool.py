"""The candidates of one query, with the amount that each signal added to the score of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.signals.bm25 import MICRO


class Pool:
    """Candidates in ascending order of their ordinals, with the score of each and its parts by signal.

    A row is the index of a candidate in the arrays.
    """

    def __init__(self, ordinals: NDArray[np.int64], words: NDArray[np.float64]) -> None:
        """Set the scores to `words`, the scores by the query's words. The `ordinals` are distinct."""
        self.ordinals = ordinals
        self.score = words.copy()
        self.factor = words * 0.0 + 1.0
        """For each candidate, the product of all factors that its score was multiplied by."""
        self.parts: dict[str, NDArray[np.float64]] = {"words": words}

    def __len__(self) -> int:
        return len(self.ordinals)

    def add(self, signal: str, amounts: NDArray[np.float64]) -> None:
        """Add an amount to the score of each candidate."""
        self.score = self.score + amounts
        before = self.parts.get(signal)
        self.parts[signal] = amounts if before is None else before + amounts

    def multiply(self, signal: str, factors: NDArray[np.floating]) -> None:
        """Multiply the score of each candidate; a factor below 1 lowers it."""
        self.add(signal, self.score * (factors - 1.0))
        self.factor = self.factor * factors

    def rows_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each of these ordinals, and −1 for an ordinal that is not in the pool."""
        if not len(self.ordinals):
            return np.full(len(ordinals), -1, np.int64)
        rows = np.minimum(self.ordinals.searchsorted(ordinals), len(self.ordinals) - 1)
        return np.where(self.ordinals[rows] == ordinals, rows, -1)

    def extended(self, ordinals: NDArray[np.int64], words: NDArray[np.float64]) -> Pool:
        """Return this pool with further candidates, whose scores are `words`.

        None of `ordinals` is in this pool.
        """
        if not len(ordinals):
            return self
        every = np.concatenate([self.ordinals, ordinals])
        order = every.argsort(kind="stable")
        nothing = np.zeros(len(ordinals))
        pool = Pool(every[order], np.concatenate([self.parts["words"], words])[order])
        pool.score = np.concatenate([self.score, words])[order]
        pool.factor = np.concatenate([self.factor, nothing + 1.0])[order]
        for signal, amounts in self.parts.items():
            if signal != "words":
                pool.parts[signal] = np.concatenate([amounts, nothing])[order]
        return pool

    def ranked(self) -> NDArray[np.int64]:
        """Return the rows with a score above 0, the best first, and those with equal scores by ordinal."""
        micros = self.micros
        order = np.argsort(-micros, kind="stable")
        return order[: int((micros > 0).sum())]

    @property
    def micros(self) -> NDArray[np.int64]:
        """The score of each candidate in millionths, rounded."""
        return np.rint(self.score * MICRO).astype(np.int64)

    def explained(self, row: int) -> dict[str, float]:
        """Return the amount that each signal added to one candidate, rounded to six decimals.

        Signals that added nothing are left out.
        """
        parts = ((signal, round(float(amounts[row]), 6)) for signal, amounts in self.parts.items())
        return {signal: amount for signal, amount in parts if amount}
