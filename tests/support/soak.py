"""How often things are tried, and with which numbers: alike for everybody, or many more and fresh ones.

`make test` tries the same examples in each run, so that more of them find nothing more: it tries a quarter
of the number that a test states. `make soak` sets MEMROOT_SOAK, and tries so many times that number, with
examples that no run had before. MEMROOT_SEED gives the seeds of an earlier run again.
"""

import os
import secrets
from random import Random
from typing import Final

FACTOR: Final = int(os.environ.get("MEMROOT_SOAK", "0"))
"""How many times the stated number of examples a long run tries; 0 in a usual run."""

SHARE: Final = 4
FEWEST: Final = 10

if FACTOR:
    # Set, so that all processes of a run have one.
    os.environ.setdefault("MEMROOT_SEED", str(secrets.randbelow(1 << 32)))

RUN_SEED: Final = os.environ["MEMROOT_SEED"] if FACTOR else ""
"""The seed of a long run; empty for the usual one."""


def times(stated: int) -> int:
    """How many examples to try where a test states so many: in a usual run a quarter, but 10 or all."""
    return stated * FACTOR if FACTOR else max(stated // SHARE, min(stated, FEWEST))


def seed(usual: int) -> int:
    """A seed for a `Random`: the usual one, or in a long run one that no run had before."""
    return Random(f"{RUN_SEED} {usual}").getrandbits(32) if FACTOR else usual
