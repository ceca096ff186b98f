"""The atoms that are looked at closely for a question, and what each signal gave them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.query.recall.signals.bm25 import MICRO


class Pool:
    """Atoms by ordinal, ascending, each with a score and with its parts, signal by signal."""

    def __init__(self, ordinals: NDArray[np.int64], words: NDArray[np.float64]) -> None:
        """`words`: the score by the question's words, of each of `ordinals`, which are distinct."""
        self.ordinals = ordinals
        self.score = words.copy()
        self.factor = words * 0.0 + 1.0
        """The product of all that each atom's score was multiplied by."""
        self.shares: dict[str, NDArray[np.float64]] = {"words": words}

    def __len__(self) -> int:
        return len(self.ordinals)

    def add(self, signal: str, amounts: NDArray[np.float64]) -> None:
        """Give each atom an amount."""
        self.score = self.score + amounts
        before = self.shares.get(signal)
        self.shares[signal] = amounts if before is None else before + amounts

    def multiply(self, signal: str, factors: NDArray[np.floating]) -> None:
        """Give each atom so many times its score; less than 1 takes away."""
        self.add(signal, self.score * (factors - 1.0))
        self.factor = self.factor * factors

    def at(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each of these ordinals stands, −1 for one that is not here."""
        if not len(self.ordinals):
            return np.full(len(ordinals), -1, np.int64)
        places = np.minimum(self.ordinals.searchsorted(ordinals), len(self.ordinals) - 1)
        return np.where(self.ordinals[places] == ordinals, places, -1)

    def joined(self, ordinals: NDArray[np.int64], words: NDArray[np.float64]) -> Pool:
        """This pool and others that are not in it, with their score by the words and nothing else."""
        if not len(ordinals):
            return self
        together = np.concatenate([self.ordinals, ordinals])
        order = together.argsort(kind="stable")
        nothing = np.zeros(len(ordinals))
        pool = Pool(together[order], np.concatenate([self.shares["words"], words])[order])
        pool.score = np.concatenate([self.score, words])[order]
        pool.factor = np.concatenate([self.factor, nothing + 1.0])[order]
        for signal, amounts in self.shares.items():
            if signal != "words":
                pool.shares[signal] = np.concatenate([amounts, nothing])[order]
        return pool

    def ranked(self) -> NDArray[np.int64]:
        """Where the atoms with a score above 0 stand, the best first, ties by ordinal."""
        micros = self.micros
        order = np.argsort(-micros, kind="stable")
        return order[: int((micros > 0).sum())]

    @property
    def micros(self) -> NDArray[np.int64]:
        """The scores in millionths, rounded."""
        return np.rint(self.score * MICRO).astype(np.int64)

    def explained(self, place: int) -> dict[str, float]:
        """What each signal gave one atom, rounded to six decimals; those that gave nothing are left out."""
        parts = ((signal, round(float(amounts[place]), 6)) for signal, amounts in self.shares.items())
        return {signal: amount for signal, amount in parts if amount}
