"""The compact sparse Merkle tree, computed by its definition, and openings of it at several keys at once.

Tests compare all other implementations with this implementation.

A tree maps 32-byte key digests to 32-byte value digests. A key digest is a path of 256 bits, the first being
the most significant bit of byte 0: 0 goes left, 1 goes right. Then

- the root of no leaves is 32 zero bytes,
- the root of one leaf is that leaf, at any depth: H(leaf; key digest ‖ value digest),
- any other root is H(node; root of the left half ‖ root of the right half).

So the root depends only on the set of leaves, and the tree is as deep as needed to separate any two keys.

An opening (SPEC, section 20.7) consists of two byte strings. The first is the shape of the part of the tree
that leads to the keys, with one byte for each position. The second contains the hashes of the siblings. The
keys determine the direction at each node; the shape only determines where each path ends. For one tree and
one set of keys there is exactly one opening.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping
from typing import Final

from proofs.errors import ProofError
from proofs.hashing import DIGEST_BYTES, EMPTY, TREE_HASHER, TreeHasher

NODE, OWN_LEAF, OTHER_LEAF, NOTHING = range(4)
"""The possible values of a byte in a shape. Each byte gives the kind of one position on the path of a key."""


DEPTH_MAX: Final = 8 * DIGEST_BYTES


def root_of(leaves: Mapping[bytes, bytes], hasher: TreeHasher = TREE_HASHER) -> bytes:
    """Return the root of the tree with exactly `leaves` (key digest → value digest).

    Raises:
        ValueError: a key digest or a value digest does not have 32 bytes.
    """
    for key, value in leaves.items():
        if len(key) != DIGEST_BYTES or len(value) != DIGEST_BYTES:
            raise ValueError(
                f"a leaf is two digests of {DIGEST_BYTES} bytes each, not of {len(key)} and {len(value)}"
            )
    return _subtree(sorted(leaves.items()), 0, hasher)


def bit_of(key_digest: bytes, depth: int) -> int:
    """Return the direction of the path of `key_digest` at `depth` (0 to 255): 0 is left, 1 is right."""
    return (key_digest[depth >> 3] >> (7 - (depth & 7))) & 1


def _subtree(leaves: list[tuple[bytes, bytes]], depth: int, hasher: TreeHasher) -> bytes:
    if not leaves:
        return EMPTY
    if len(leaves) == 1:
        return hasher.leaf(*leaves[0])
    left = [leaf for leaf in leaves if not bit_of(leaf[0], depth)]
    right = [leaf for leaf in leaves if bit_of(leaf[0], depth)]
    return hasher.node(_subtree(left, depth + 1, hasher), _subtree(right, depth + 1, hasher))


def opening_root(
    keys: Mapping[bytes, bytes | None],
    shape: bytes,
    hashes: bytes,
    hasher: TreeHasher = TREE_HASHER,
    complete: Collection[bytes] = (),
) -> bytes:
    """Return the root of the tree that `shape` and `hashes` open at `keys`.

    Args:
        keys: Key digest → value digest, or None if the tree has no leaf for the key. At least one key.
        shape: NODE, OWN_LEAF, OTHER_LEAF or NOTHING for each position visited, from the root down, left
            first.
        hashes: The siblings of the paths, and the leaves of other keys at the end of a path, in the order in
            which the positions are visited.
        hasher: TREE_HASHER, except for public test vectors, which use SHA-256.
        complete: Beginnings of key digests. `keys` holds every leaf with such a beginning. The walk also
            visits the place of the beginning followed by zeros.

    Raises:
        ProofError: no tree has this opening at these keys (`shape`, `other-leaf`, `absent`), or the tree has
            a leaf that a complete list leaves out (`list`).
    """
    wanted = dict.fromkeys((begin.ljust(DIGEST_BYTES, b"\0") for begin in complete), None) | dict(keys)
    walk = _Walk(wanted, shape, hashes, hasher, tuple(complete))
    root, _ = walk.subtree(0, len(wanted), 0)
    walk.finish()
    return root


class _Walk:
    """A depth-first traversal of an opening."""

    def __init__(
        self,
        keys: Mapping[bytes, bytes | None],
        shape: bytes,
        hashes: bytes,
        hasher: TreeHasher,
        complete: tuple[bytes, ...] = (),
    ) -> None:
        self._values = keys
        self._keys = sorted(keys)
        self._shape = shape
        self._hashes = hashes
        self._hasher = hasher
        self._complete = complete
        self._position = 0
        self._used = 0

    def subtree(self, first: int, last: int, depth: int) -> tuple[bytes, bool]:
        """Return the root of the subtree that holds the keys from `first` up to `last`.

        The second value is True if the subtree has at most one leaf. The method calls itself only where keys
        diverge, because a path may be 256 nodes long and the caller's stack may already be deep. The
        recursion stays shallow, because a prover cannot construct digests that diverge only late.
        """
        # Of each node passed: the left sibling, None for a right sibling; and whether it must have no leaf.
        siblings: list[tuple[bytes | None, bool]] = []
        while (case := self._next_case()) == NODE:
            split = self._split(first, last, depth)
            whole = self._is_complete(first, depth)
            depth += 1
            if first < split < last:
                node = self._node(self.subtree(first, split, depth), self.subtree(split, last, depth))
                break
            # A left sibling precedes the subtree in `hashes`, a right sibling follows it.
            siblings.append((self._take(DIGEST_BYTES) if split == first else None, whole))
        else:
            node = self._end(case, first, last, depth)
        for left, whole in reversed(siblings):
            sibling = self._take(DIGEST_BYTES) if left is None else left
            if whole and sibling != EMPTY:
                raise ProofError("list", "the list leaves out leaves of the tree")
            other = sibling, sibling == EMPTY
            node = self._node(node, other) if left is None else self._node(other, node)
        return node

    def finish(self) -> None:
        """Raise ProofError if a part of the opening was not used."""
        if self._position != len(self._shape) or self._used != len(self._hashes):
            raise ProofError("shape", "the opening is longer than its keys require")

    def _split(self, first: int, last: int, depth: int) -> int:
        """Return the index of the first key from `first` up to `last` that goes right at `depth`."""
        if depth == DEPTH_MAX:
            raise ProofError("shape", f"a path is deeper than {DEPTH_MAX} bits")
        return bisect_left(self._keys, 1, first, last, key=lambda key: bit_of(key, depth))

    def _is_complete(self, first: int, depth: int) -> bool:
        """Return whether the keys hold every leaf below the node at `depth` on the path of key `first`."""
        return any(
            8 * len(begin) <= depth and self._keys[first].startswith(begin) for begin in self._complete
        )

    def _node(self, left: tuple[bytes, bool], right: tuple[bytes, bool]) -> tuple[bytes, bool]:
        # The tree is compact: every node has at least two leaves below it.
        if (left[0] == EMPTY and right[1]) or (right[0] == EMPTY and left[1]):
            raise ProofError("shape", "a node has fewer than two leaves below it")
        return self._hasher.node(left[0], right[0]), False

    def _end(self, case: int, first: int, last: int, depth: int) -> tuple[bytes, bool]:
        """Return the leaf, or the empty root, where the path of the keys from `first` up to `last` ends."""
        keys = self._keys[first:last]
        present = [(key, value) for key in keys if (value := self._values[key]) is not None]
        if case == OWN_LEAF:
            if len(present) != 1:
                raise ProofError("shape", f"a leaf needs exactly one key with a value, not {len(present)}")
            return self._hasher.leaf(*present[0]), True
        if present:
            raise ProofError("absent", f"the tree has no leaf for the key digest {present[0][0].hex()}")
        if case == OTHER_LEAF:
            return self._other_leaf(keys, depth), True
        return EMPTY, True

    def _other_leaf(self, keys: list[bytes], depth: int) -> bytes:
        taken = self._take(2 * DIGEST_BYTES)
        key, value = taken[:DIGEST_BYTES], taken[DIGEST_BYTES:]
        if key in self._values:
            raise ProofError("other-leaf", "the leaf in place of an absent key is the leaf of that key")
        shared = int.from_bytes(key, "big") ^ int.from_bytes(keys[0], "big")
        if shared >> (DEPTH_MAX - depth):
            raise ProofError(
                "other-leaf", f"the leaf in place of an absent key belongs elsewhere: {key.hex()}"
            )
        if any(key.startswith(begin) for begin in self._complete):
            raise ProofError("list", "the list leaves out a leaf of the tree")
        return self._hasher.leaf(key, value)

    def _next_case(self) -> int:
        if self._position == len(self._shape):
            raise ProofError("shape", "the shape is shorter than its keys require")
        case = self._shape[self._position]
        if case > NOTHING:
            raise ProofError("shape", f"{case} is not a valid byte of a shape")
        self._position += 1
        return case

    def _take(self, count: int) -> bytes:
        taken = self._hashes[self._used : self._used + count]
        if len(taken) != count:
            raise ProofError("shape", "the opening has fewer hashes than its keys require")
        self._used += count
        return taken
