"""Wrong proofs in bulk: none is accepted, and nothing but a ProofError comes of one.

A usual run does a quarter of these counts; `make soak` does RELEASE_FACTOR times as many, from fresh seeds.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import islice
from random import Random

import pytest

from tests.soundness.garbage import READERS, read_all, refusal_of
from tests.soundness.malicious import Round, rounds
from tests.soundness.mutations import CLASSES, Seed, seeds_of
from tests.soundness.running import Tally, run_class
from tests.soundness.support import SIZES, items
from tests.support.soak import seed, times

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
"""Attempts of each class."""

ROUNDS = 100
"""Of malicious writers (M9): each some 150 openings."""

GARBAGE = 2_000
"""Pieces of garbage (M10), each for every reader."""

RELEASE_FACTOR = int(os.environ.get("MEMROOT_SOUNDNESS_FACTOR", "10"))
"""Long runs have so many times as many: 40 and more for releases."""

LARGE = 10_000
"""Atoms in one more store, in long runs only."""

STORES = (*((atoms, 0) for atoms in (*SIZES, 24)), (24, 1), (3, 1), (3, 2))
"""Atoms and number of each store; two of them hold the same atoms under another id."""


@cache
def seeds() -> list[Seed]:
    """Honest proofs of every kind of claim, against both bases, in all stores."""
    return seeds_of([item for atoms, store in STORES for item in items(atoms, store).values()])


def sound(tally: Tally) -> None:
    """State that nothing wrong was accepted, and nothing raised but refusals."""
    assert [(one.claims, one.data.hex()) for one in tally.accepted] == []
    assert [(error, one.claims, one.data.hex()) for one, error in tally.raised] == []


@pytest.mark.parametrize("name", CLASSES)
def test_no_wrong_proof_is_accepted(name: str) -> None:
    """A proof that was changed by a byte or more shows nothing: no exceptions to that."""
    tally = run_class(name, seeds(), times(COUNTS[name]))
    sound(tally)
    assert tally.tried == times(COUNTS[name])


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.soak
def test_no_wrong_proof_is_accepted_in_the_long_run(name: str) -> None:
    """The same, with more attempts, from another seed, and with a store of 10,000 atoms among the others."""
    more = seeds() + seeds_of(list(items(LARGE).values()))
    sound(run_class(name, more, RELEASE_FACTOR * COUNTS[name], seed=seed(2)))


def fair(given: Round) -> None:
    """State that one thing at most was shown of the key, and of a right tree exactly what is true."""
    assert len(given.accepted) <= 1, given
    if given.right:
        assert len(given.accepted) == 1, given


def test_no_root_shows_two_things_of_one_key() -> None:
    """Whatever a writer puts into a tree, no key is shown there and not there, or with two values."""
    for one in islice(rounds(Random(1)), ROUNDS):
        fair(one)


@pytest.mark.soak
def test_no_root_shows_two_things_of_one_key_in_the_long_run() -> None:
    """The same, many more times."""
    for one in islice(rounds(Random(seed(2))), RELEASE_FACTOR * ROUNDS):
        fair(one)


def test_right_trees_and_wrong_ones_are_among_the_rounds() -> None:
    """A third of the rounds or so have a tree that is right, and some wrong ones show nothing at all."""
    seen = [(one.right, len(one.accepted)) for one in islice(rounds(Random(3)), 40)]
    assert {(True, 1), (False, 0), (False, 1)} <= set(seen)


def test_garbage_is_refused() -> None:
    """Random bytes and random CBOR are refused by every reader, with its own error."""
    read_all(seeds(), Random(1), GARBAGE)


@pytest.mark.soak
def test_garbage_is_refused_in_the_long_run() -> None:
    """The same, many more times."""
    read_all(seeds(), Random(seed(2)), RELEASE_FACTOR * GARBAGE)


def test_every_reader_refuses_something() -> None:
    """No reader takes just anything: each refuses bytes that end too early, or are none of its own."""
    for name, read in READERS.items():
        assert {refusal_of(read, raw) for raw in (b"", b"\xff", b"\xf6\xf6", b"\0" * 33)} - {None}, name


def test_honest_proofs_are_honest() -> None:
    """What the classes start from is accepted, and every kind of claim is among it, by both bases."""
    numbers = {(type(seed.basis).__name__, claim.number) for seed in seeds() for claim in seed.claims}
    assert numbers == {(basis, number) for basis in ("Root", "LogHead") for number in range(1, 15)}
