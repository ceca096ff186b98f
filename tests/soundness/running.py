"""Running a class of wrong proofs: what was accepted, what went wrong, and how long the slowest took."""

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
    """What became of the attempts of a class."""

    tried: int = 0
    honest: int = 0
    """Attempts that were the honest proof of their question, and accepted."""
    accepted: list[Attempt] = field(default_factory=list)
    """Wrong, and accepted."""
    raised: list[tuple[Attempt, Exception]] = field(default_factory=list)
    """Anything but a ProofError."""
    reasons: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    """Seconds."""

    @property
    def sound(self) -> bool:
        """Whether nothing wrong was accepted, and nothing but a ProofError raised."""
        return not self.accepted and not self.raised


def offer(attempt: Attempt, tally: Tally) -> None:
    """Offer one proof and note what comes of it."""
    tally.tried += 1
    begin = perf_counter()
    try:
        verify(attempt.data, attempt.basis, attempt.claims)
    except ProofError as error:
        tally.reasons[error.reason] += 1
        if attempt.data == attempt.honest:
            tally.raised.append((attempt, error))
    except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
        tally.raised.append((attempt, error))
    else:
        if attempt.data == attempt.honest:
            tally.honest += 1
        else:
            tally.accepted.append(attempt)
    tally.slowest = max(tally.slowest, perf_counter() - begin)


def run(attempts: Attempts, count: int, *, until_unsound: bool = False) -> Tally:
    """Offer the first `count` of `attempts`; or only until one shows that the verifier is not sound."""
    tally = Tally()
    for attempt in islice(attempts, count):
        offer(attempt, tally)
        if until_unsound and not tally.sound:
            break
    return tally


def run_class(name: str, seeds: Seeds, count: int, seed: int = 1, *, until_unsound: bool = False) -> Tally:
    """The first `count` of a class."""
    return run(CLASSES[name](seeds, Random(f"{name} {seed}")), count, until_unsound=until_unsound)
