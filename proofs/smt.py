"""The compact sparse Merkle tree, computed by its definition.

Tests compare all other implementations with this implementation.

A tree maps 32-byte key digests to 32-byte value digests. A key digest is a path of 256 bits, the first being
the most significant bit of byte 0: 0 goes left, 1 goes right. Then

- the root of no leaves is 32 zero bytes,
- the root of one leaf is that leaf, at any depth: H(leaf; key digest ‖ value digest),
- any other root is H(node; root of the left half ‖ root of the right half).

So the root depends only on the set of leaves, and the tree is as deep as needed to separate any two keys.
"""

from __future__ import annotations

from collections.abc import Mapping

from proofs.hashing import DIGEST_BYTES, EMPTY, TREE_HASHER, TreeHasher


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
