"""Opening a sparse Merkle tree at several keys at once (SPEC, section 20.7).

An opening is two byte strings: the shape of the part of the tree that leads to the keys, a byte for each
place, and the hashes beside it. Which way to go follows from the keys; the shape only says where the
way ends. For one tree and one set of keys there is one opening.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

from proofs.errors import ProofError
from proofs.hashing import DIGEST_BYTES, EMPTY, TREE_HASHER, TreeHasher
from proofs.smt import bit_of

NODE, OWN_LEAF, OTHER_LEAF, NOTHING = range(4)
"""What stands in a place on the way of a key."""

DEPTH_MAX: Final = 8 * DIGEST_BYTES


def opening_root(
    keys: Mapping[bytes, bytes | None], shape: bytes, hashes: bytes, hasher: TreeHasher = TREE_HASHER
) -> bytes:
    """The root of the tree that has `keys` and is opened by `shape` and `hashes`.

    Args:
        keys: Key digest → value digest; None where the tree has no such leaf. One or more.
        shape: NODE, OWN_LEAF, OTHER_LEAF or NOTHING for each place visited, from the root on, left first.
        hashes: What is beside the way, and leaves that stand in the way, in the order of the visit.
        hasher: Another one than TREE_HASHER only for the public vectors of others, which use SHA-256.

    Raises:
        ProofError: no tree has this opening at these keys (`shape`, `other-leaf`, `absent`).
    """
    walk = _Walk(keys, shape, hashes, hasher)
    root, _ = walk.place(0, len(keys), 0)
    walk.finish()
    return root


class _Walk:
    def __init__(
        self, keys: Mapping[bytes, bytes | None], shape: bytes, hashes: bytes, hasher: TreeHasher
    ) -> None:
        self._values = keys
        self._keys = sorted(keys)
        self._shape = shape
        self._hashes = hashes
        self._hasher = hasher
        self._places = 0
        self._used = 0

    def place(self, first: int, last: int, depth: int) -> tuple[bytes, bool]:
        """The root of what holds the keys from `first` up to `last`; whether that is at most one leaf.

        It calls itself only where keys part, which the digests that a prover can find do early: a way may
        be 256 nodes long, and the stack of the caller may be deep already.
        """
        beside: list[bytes | None] = []
        while (case := self._case()) == NODE:
            split = self._split(first, last, depth)
            depth += 1
            if first < split < last:
                found = self._node(self.place(first, split, depth), self.place(split, last, depth))
                break
            # What is to the left of the way comes before what is below it, what is to the right after it.
            beside.append(self._take(DIGEST_BYTES) if split == first else None)
        else:
            found = self._end(case, first, last, depth)
        for left in reversed(beside):
            sibling = self._take(DIGEST_BYTES) if left is None else left
            other = sibling, sibling == EMPTY
            found = self._node(found, other) if left is None else self._node(other, found)
        return found

    def finish(self) -> None:
        """Make sure that nothing is left over."""
        if self._places != len(self._shape) or self._used != len(self._hashes):
            raise ProofError("shape", "the opening has more than its keys call for")

    def _split(self, first: int, last: int, depth: int) -> int:
        """Where among the keys from `first` up to `last` those begin that go right at `depth`."""
        if depth == DEPTH_MAX:
            raise ProofError("shape", f"a way is deeper than {DEPTH_MAX} bits")
        return bisect_left(self._keys, 1, first, last, key=lambda key: bit_of(key, depth))

    def _node(self, left: tuple[bytes, bool], right: tuple[bytes, bool]) -> tuple[bytes, bool]:
        # A tree is no deeper than it takes to tell its leaves apart: below a node there are two or more.
        if (left[0] == EMPTY and right[1]) or (right[0] == EMPTY and left[1]):
            raise ProofError("shape", "a node has fewer than two leaves below it")
        return self._hasher.node(left[0], right[0]), False

    def _end(self, case: int, first: int, last: int, depth: int) -> tuple[bytes, bool]:
        """What ends the way of the keys from `first` up to `last`: a leaf, or nothing."""
        keys = self._keys[first:last]
        own = [(key, value) for key in keys if (value := self._values[key]) is not None]
        if case == OWN_LEAF:
            if len(own) != 1:
                raise ProofError("shape", f"{len(own)} keys with a value for one leaf")
            return self._hasher.leaf(*own[0]), True
        if own:
            raise ProofError("absent", f"the tree has no leaf for the key digest {own[0][0].hex()}")
        if case == OTHER_LEAF:
            return self._other_leaf(keys, depth), True
        return EMPTY, True

    def _other_leaf(self, keys: list[bytes], depth: int) -> bytes:
        found = self._take(2 * DIGEST_BYTES)
        key, value = found[:DIGEST_BYTES], found[DIGEST_BYTES:]
        if key in self._values:
            raise ProofError("other-leaf", "the leaf in the way of a key is that key's own")
        shared = int.from_bytes(key, "big") ^ int.from_bytes(keys[0], "big")
        if shared >> (DEPTH_MAX - depth):
            raise ProofError("other-leaf", f"the leaf in the way belongs elsewhere: {key.hex()}")
        return self._hasher.leaf(key, value)

    def _case(self) -> int:
        if self._places == len(self._shape):
            raise ProofError("shape", "the opening has less than its keys call for")
        case = self._shape[self._places]
        if case > NOTHING:
            raise ProofError("shape", f"no place has the case {case}")
        self._places += 1
        return case

    def _take(self, count: int) -> bytes:
        found = self._hashes[self._used : self._used + count]
        if len(found) != count:
            raise ProofError("shape", "the opening has fewer hashes than its keys call for")
        self._used += count
        return found
