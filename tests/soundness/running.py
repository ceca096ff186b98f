"""Runs classes of wrong proofs and records accepted proofs, exceptions and the slowest attempt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from time import perf_counter

from proofs.errors import ProofError
from proofs.verifier import verify
from tests.soundness.mutations import CLASSES, Attempt, Attempts, Seeds


@dataclass
class Tally:
    """The results of the attempts of a class."""

    tried: int = 0
    honest: int = 0
    """The number of attempts that were the honest proof of their claims, and were accepted."""
    accepted: list[Attempt] = field(default_factory=list)
    """Wrong attempts that were accepted."""
    raised: list[tuple[Attempt, Exception]] = field(default_factory=list)
    """Attempts that raised another exception than ProofError, or honest ones that were refused."""
    reasons: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    """The time of the slowest attempt in seconds."""

    @property
    def sound(self) -> bool:
        """True if no wrong proof was accepted and nothing but ProofError was raised."""
        return not self.accepted and not self.raised


def offer(attempt: Attempt, tally: Tally) -> None:
    """Verify one attempt and record the result."""
    tally.tried += 1
    begin = perf_counter()
    try:
        verify(attempt.data, attempt.basis, attempt.claims)
    except ProofError as error:
        tally.reasons[error.reason] += 1
        if attempt.data == attempt.honest:
            tally.raised.append((attempt, error))
    except Exception as error:  # noqa: BLE001  the test looks for any other exception
        tally.raised.append((attempt, error))
    else:
        if attempt.data == attempt.honest:
            tally.honest += 1
        else:
            tally.accepted.append(attempt)
    tally.slowest = max(tally.slowest, perf_counter() - begin)


def run(attempts: Attempts, count: int, *, until_unsound: bool = False) -> Tally:
    """Verify the first `count` of `attempts`, or stop at the first that shows the verifier to be unsound."""
    tally = Tally()
    for attempt in islice(attempts, count):
        offer(attempt, tally)
        if until_unsound and not tally.sound:
            break
    return tally


def run_class(name: str, seeds: Seeds, count: int, seed: int = 1, *, until_unsound: bool = False) -> Tally:
    """Verify the first `count` attempts of a class."""
    return run(CLASSES[name](seeds, Random(f"{name} {seed}")), count, until_unsound=until_unsound)
