"""Checks of paths and openings over every relevant size and depth, with arbitrary hashes."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from random import Random

import pytest

from proofs.errors import ProofError
from proofs.log import check_consistency, check_inclusion
from proofs.log import root_of as log_root_of
from proofs.smt import opening_root, root_of
from tests.reference.world import consistency, inclusion
from tests.soundness.malicious import attacked, opens, sharing
from tests.soundness.rejects import cut
from tests.soundness.synthetic import opened, tree_of
from tests.support.soak import FACTOR

pytestmark = pytest.mark.slow

SIZES = sorted(
    {*range(1, 66), *(size for power in range(7, 10) for size in (2**power - 1, 2**power, 2**power + 1))}
)
LEAVES = [sha256(b"leaf %d" % number).digest() for number in range(1 + max(SIZES))]


@cache
def root(size: int) -> bytes:
    """Return the root of the log of the first `size` leaves."""
    return log_root_of(LEAVES[:size])


def passes(check: object, *given: object) -> bool:
    """Return True if a check passes; exceptions other than ProofError propagate."""
    try:
        check(*given)  # type: ignore[operator]  # one of the two checks of paths
    except ProofError:
        return False
    return True


def others(path: list[bytes], rng: Random) -> list[list[bytes]]:
    """Yield the path with a hash changed, dropped, doubled or inserted, or in another order."""
    at = rng.randrange(len(path) + 1)
    flipped = [*path[:at], bytes(32), *path[at + 1 :]]
    found = [
        flipped,
        path[:-1],
        path[1:],
        path[::-1],
        [*path, LEAVES[0]],
        [LEAVES[0], *path],
        [*path, *path[-1:]],
    ]
    return [other for other in found if other != path]


def some(size: int, rng: Random) -> list[int]:
    """Return all numbers below a small size, and of a large one both ends, powers of two and some others."""
    if size <= 17:
        return list(range(size))
    powers = {2**power for power in range(10)} | {2**power - 1 for power in range(10)}
    return sorted({0, size - 1, size - 2, *(n for n in powers if n < size), *rng.sample(range(size), 3)})


@pytest.mark.parametrize("size", SIZES)
def test_paths_of_inclusion_show_one_leaf_at_one_place(size: int) -> None:
    """At every size, only an event's own path at its own index shows it."""
    rng = Random(size)
    for index in some(size, rng):
        path = cut(inclusion(index, LEAVES[:size]))
        check_inclusion(index, size, LEAVES[index], path, root(size))
        for other in others(path, rng):
            assert not passes(check_inclusion, index, size, LEAVES[index], other, root(size))
        for near in {index ^ 1, index + 1, index - 1, 0} - {index, -1}:
            assert not passes(check_inclusion, near, size, LEAVES[index], path, root(size))
        assert not passes(check_inclusion, index, size, LEAVES[size], path, root(size))
        assert not passes(
            check_inclusion, index, size, LEAVES[index], path, root(size + 1 if size > 1 else 3)
        )


@pytest.mark.parametrize("size", SIZES)
def test_paths_of_consistency_join_two_logs(size: int) -> None:
    """At every size, a log begins with each smaller one by exactly one path and no other root."""
    rng = Random(size)
    for old in [one + 1 for one in some(size, rng)]:
        path = cut(consistency(old, LEAVES[:size]))
        check_consistency(old, root(old), size, root(size), path)
        for other in others(path, rng):
            assert not passes(check_consistency, old, root(old), size, root(size), other)
        for wrong in {root(old + 1), LEAVES[size], bytes(32)} - {root(old)}:
            assert not passes(check_consistency, old, wrong, size, root(size), path)
            assert not passes(check_consistency, old, root(old), size, wrong, path) or wrong == root(size)


BITS = range(256) if FACTOR else sorted({*range(12), *range(12, 244, 5), *range(244, 256)})
"""The numbers of shared bits in a usual run: the first and the last ones, and some between."""


@pytest.mark.parametrize("bits", BITS)
def test_keys_that_share_any_number_of_bits_are_told_apart(bits: int) -> None:
    """Of two keys that share 0 to 255 bits, each opens to its own value only, and a third is absent."""
    rng = Random(bits)
    base = rng.randbytes(32)
    near = sharing(base, bits, rng)
    leaves = {base: rng.randbytes(32), near: rng.randbytes(32)}
    tree = tree_of(leaves)
    third = next(
        key for key in (sharing(base, rng.randrange(256), rng) for _ in range(99)) if key not in leaves
    )
    for key in (base, near, third):
        assert attacked(tree, key, True, rng).accepted == {leaves.get(key)}
    every = {**leaves, third: None}
    shape, hashes = opened(tree, every)
    assert opening_root(every, shape, hashes) == root_of(leaves)
    for wrong in ({**every, base: None}, {**every, near: leaves[base]}, {**every, third: leaves[base]}):
        assert not opens(wrong, shape, hashes, root_of(leaves))
