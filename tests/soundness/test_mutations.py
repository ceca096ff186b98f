"""The verifier accepts no wrong proof of large random classes, and raises nothing but ProofError.

A usual run does an eighth of these counts; `make soak` does RELEASE_FACTOR times as many, from fresh seeds.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import islice
from random import Random

import pytest

from proofs.errors import REASONS
from tests.soundness.garbage import READERS, read_all, refusal_of
from tests.soundness.malicious import Round, rounds
from tests.soundness.mutations import CLASSES, Seed, seeds_of
from tests.soundness.running import Tally, run_class
from tests.soundness.support import SIZES, items
from tests.support.soak import seed, times

pytestmark = pytest.mark.slow

COUNTS = {
    "M1": 50_000,
    "M2": 10_000,
    "M3": 20_000,
    "M4": 10_000,
    "M5": 10_000,
    "M6": 20_000,
    "M7": 5_000,
    "M8": 5_000,
}
"""The number of attempts of each class."""

ROUNDS = 100
"""The number of rounds of malicious writers (M9), with about 150 openings each."""

GARBAGE = 2_000
"""The number of random inputs (M10) for every reader."""

RELEASE_FACTOR = int(os.environ.get("MEMROOT_SOUNDNESS_FACTOR", "10"))
"""The factor by which long runs have more; 40 or more for releases."""

LARGE = 10_000
"""The number of atoms in one more store, in long runs only."""

STORES = (*((atoms, 0) for atoms in (*SIZES, 24)), (24, 1), (3, 1), (3, 2))
"""The number of atoms and the number of each store; two have the same atoms and different ids."""


@cache
def seeds() -> list[Seed]:
    """Return honest proofs of every kind of claim, against both bases, in all stores."""
    return seeds_of([item for atoms, store in STORES for item in items(atoms, store).values()])


def sound(tally: Tally) -> None:
    """Assert that no wrong proof was accepted, and that only refusals with known reasons were raised."""
    assert [(one.claims, one.data.hex()) for one in tally.accepted] == []
    assert [(error, one.claims, one.data.hex()) for one, error in tally.raised] == []
    assert tally.reasons.keys() <= set(REASONS)


@pytest.mark.parametrize("name", CLASSES)
def test_no_wrong_proof_is_accepted(name: str) -> None:
    """The verifier refuses every proof that differs from the honest one."""
    tally = run_class(name, seeds(), times(COUNTS[name]))
    sound(tally)
    assert tally.tried == times(COUNTS[name])


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.soak
def test_no_wrong_proof_is_accepted_in_the_long_run(name: str) -> None:
    """The same holds for more attempts, from another seed, with a store of 10,000 atoms."""
    more = seeds() + seeds_of(list(items(LARGE).values()))
    sound(run_class(name, more, RELEASE_FACTOR * COUNTS[name], seed=seed(2)))


def fair(given: Round) -> None:
    """Assert that at most one claim about the key was accepted, and for a valid tree exactly the true one."""
    assert len(given.accepted) <= 1, given
    if given.right:
        assert len(given.accepted) == 1, given


def test_no_root_shows_contradictory_claims_about_one_key() -> None:
    """No tree lets a prover show a key both present and absent, or with two values."""
    for one in islice(rounds(Random(1)), ROUNDS):
        fair(one)


@pytest.mark.soak
def test_no_root_shows_contradictory_claims_about_one_key_in_the_long_run() -> None:
    """The same holds in many more rounds."""
    for one in islice(rounds(Random(seed(2))), RELEASE_FACTOR * ROUNDS):
        fair(one)


def test_rounds_have_valid_and_invalid_trees() -> None:
    """About a third of the rounds have a valid tree, and some invalid ones show nothing."""
    seen = [(one.right, len(one.accepted)) for one in islice(rounds(Random(3)), 40)]
    assert {(True, 1), (False, 0), (False, 1)} <= set(seen)


def test_garbage_is_refused() -> None:
    """Every reader refuses random bytes and random CBOR with its own error."""
    read_all(seeds(), Random(1), GARBAGE)


@pytest.mark.soak
def test_garbage_is_refused_in_the_long_run() -> None:
    """The same holds for many more inputs."""
    read_all(seeds(), Random(seed(2)), RELEASE_FACTOR * GARBAGE)


def test_every_reader_refuses_something() -> None:
    """Each reader refuses bytes that end too early or are not of its form."""
    for name, read in READERS.items():
        assert {refusal_of(read, raw) for raw in (b"", b"\xff", b"\xf6\xf6", b"\0" * 33)} - {None}, name


def test_the_seeds_are_accepted() -> None:
    """The verifier accepts the seeds of the classes, which have every kind of claim against both bases."""
    numbers = {(type(seed.basis).__name__, claim.number) for seed in seeds() for claim in seed.claims}
    assert numbers == {(basis, number) for basis in ("Root", "LogHead") for number in range(1, 18)}
