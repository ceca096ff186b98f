"""The number of examples and the seeds of randomised tests, in a normal run and in a long run.

`make test` tries the same examples in each run, an eighth of the number that a test states. `make soak` sets
MEMROOT_SOAK to a factor, and tries the stated number of examples multiplied by this factor, with new random
seeds. To repeat a long run, set MEMROOT_SEED to the seed of that run.
"""

import os
import secrets
from random import Random
from typing import Any, Final

import pytest

FACTOR: Final = int(os.environ.get("MEMROOT_SOAK", "0"))
"""The factor by which a long run multiplies the stated number of examples; 0 in a normal run."""

SHARE: Final = 8
FEWEST: Final = 6

if FACTOR:
    # Set, so that all processes of a run have one.
    os.environ.setdefault("MEMROOT_SEED", str(secrets.randbelow(1 << 32)))

RUN_SEED: Final = os.environ["MEMROOT_SEED"] if FACTOR else ""
"""The seed of a long run; empty in a normal run."""


def times(stated: int) -> int:
    """Return the number of examples to try: normally an eighth of `stated`, but at least 6 or all."""
    return stated * FACTOR if FACTOR else max(stated // SHARE, min(stated, FEWEST))


def often(usual: int, stated: int) -> list[Any]:
    """Return the values of a parameter: `usual` in a normal run, and `stated` in `make soak`, too."""
    return [usual, pytest.param(stated, marks=pytest.mark.soak)]


def seed(usual: int) -> int:
    """Return a seed for a `Random`: always the same seed in a normal run, a new seed in a long run."""
    return Random(f"{RUN_SEED} {usual}").getrandbits(32) if FACTOR else usual
