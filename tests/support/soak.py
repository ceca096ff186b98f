"""How often things are tried, and with which numbers: alike for everybody, or many more and fresh ones.

`make test` tries the same examples everywhere, always. `make soak` sets MEMROOT_SOAK, and tries so many
times as many, with numbers that no run had before. MEMROOT_SEED repeats the numbers of a run.
"""

import os
import secrets
from random import Random
from typing import Final

FACTOR: Final = int(os.environ.get("MEMROOT_SOAK", "0"))
"""How many times as many examples a long run tries; 0: the usual ones."""

if FACTOR:
    # Set, so that all processes of a run have one.
    os.environ.setdefault("MEMROOT_SEED", str(secrets.randbelow(1 << 32)))

RUN_SEED: Final = os.environ["MEMROOT_SEED"] if FACTOR else ""
"""The seed of a long run; empty for the usual one."""


def times(usual: int) -> int:
    """How often to try what is usually tried so often."""
    return usual * (FACTOR or 1)


def seed(usual: int) -> int:
    """A seed for a `Random`: the usual one, or in a long run one that no run had before."""
    return Random(f"{RUN_SEED} {usual}").getrandbits(32) if FACTOR else usual
