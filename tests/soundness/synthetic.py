"""Valid and invalid sparse trees that are made by hand from key digests, and openings of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from proofs.hashing import EMPTY, leaf_hash, node_hash
from proofs.smt import NODE, NOTHING, OTHER_LEAF, OWN_LEAF, bit_of


class Leaf(NamedTuple):
    """A key digest and a value digest, at any place."""

    key: bytes
    value: bytes


class Node(NamedTuple):
    """Two subtrees, valid or not."""

    left: Tree
    right: Tree


Tree: TypeAlias = Leaf | Node | None
"""A leaf, a node, or None for EMPTY."""


def tree_of(leaves: Mapping[bytes, bytes], depth: int = 0) -> Tree:
    """Return the tree that SPEC defines."""
    if not leaves:
        return None
    if len(leaves) == 1:
        return Leaf(*next(iter(leaves.items())))
    sides: list[dict[bytes, bytes]] = [{}, {}]
    for key, value in leaves.items():
        sides[bit_of(key, depth)][key] = value
    return Node(tree_of(sides[0], depth + 1), tree_of(sides[1], depth + 1))


def root_of(tree: Tree) -> bytes:
    """Return the hash of the tree."""
    match tree:
        case None:
            return EMPTY
        case Leaf():
            return leaf_hash(*tree)
        case Node():
            return node_hash(root_of(tree.left), root_of(tree.right))


def opened(tree: Tree, keys: Iterable[bytes], depth: int = 0) -> tuple[bytes, bytes]:
    """Return shape and hashes of the honest opening of any tree at key digests."""
    wanted = set(keys)
    match tree:
        case None:
            return bytes([NOTHING]), b""
        case Leaf() if tree.key in wanted:
            return bytes([OWN_LEAF]), b""
        case Leaf():
            return bytes([OTHER_LEAF]), tree.key + tree.value
        case Node():
            shape, hashes = bytes([NODE]), b""
            for side, below in enumerate(tree):
                if some := {key for key in wanted if bit_of(key, depth) == side}:
                    more = opened(below, some, depth + 1)
                    shape, hashes = shape + more[0], hashes + more[1]
                else:
                    hashes += root_of(below)
            return shape, hashes


def on_the_path(tree: Tree, key: bytes) -> list[Tree]:
    """Return the subtrees on the path of a key digest, from the root down."""
    found = [tree]
    while isinstance(tree, Node):
        tree = tree[bit_of(key, len(found) - 1)]
        found.append(tree)
    return found


def leaves_in(tree: Tree) -> list[Leaf]:
    """Return all leaves of the tree."""
    match tree:
        case None:
            return []
        case Leaf():
            return [tree]
        case Node():
            return leaves_in(tree.left) + leaves_in(tree.right)
