"""Runs classes of wrong proofs and records accepted proofs and exceptions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from proofs.errors import ProofError
from proofs.verifier import verify
from tests.soundness.mutations import CLASSES, Attempt, Seeds


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


def offer(attempt: Attempt, tally: Tally) -> None:
    """Verify one attempt and record the result."""
    tally.tried += 1
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


def run_class(name: str, seeds: Seeds, count: int, seed: int = 1) -> Tally:
    """Verify the first `count` attempts of a class."""
    tally = Tally()
    for attempt in islice(CLASSES[name](seeds, Random(f"{name} {seed}")), count):
        offer(attempt, tally)
    return tally
