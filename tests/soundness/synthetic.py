"""Sparse trees made by hand from key digests, right ones and wrong ones, and openings of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from proofs.hashing import EMPTY, leaf_hash, node_hash
from proofs.opening import NODE, NOTHING, OTHER_LEAF, OWN_LEAF
from proofs.smt import bit_of


class Leaf(NamedTuple):
    """A key digest and a value digest, wherever it stands."""

    key: bytes
    value: bytes


class Node(NamedTuple):
    """Two trees, whatever they are."""

    left: Tree
    right: Tree


Tree: TypeAlias = Leaf | Node | None
"""None is nothing: EMPTY."""


def tree_of(leaves: Mapping[bytes, bytes], depth: int = 0) -> Tree:
    """The tree that SPEC defines."""
    if not leaves:
        return None
    if len(leaves) == 1:
        return Leaf(*next(iter(leaves.items())))
    sides: list[dict[bytes, bytes]] = [{}, {}]
    for key, value in leaves.items():
        sides[bit_of(key, depth)][key] = value
    return Node(tree_of(sides[0], depth + 1), tree_of(sides[1], depth + 1))


def root_of(tree: Tree) -> bytes:
    """What the tree hashes to."""
    match tree:
        case None:
            return EMPTY
        case Leaf():
            return leaf_hash(*tree)
        case Node():
            return node_hash(root_of(tree.left), root_of(tree.right))


def opened(tree: Tree, keys: Iterable[bytes], depth: int = 0) -> tuple[bytes, bytes]:
    """Shape and hashes of the opening of `tree` at key digests: honest, whatever the tree is."""
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


def on_the_way(tree: Tree, key: bytes) -> list[Tree]:
    """What stands on the way of a key digest, from the root on."""
    found = [tree]
    while isinstance(tree, Node):
        tree = tree[bit_of(key, len(found) - 1)]
        found.append(tree)
    return found


def leaves_in(tree: Tree) -> list[Leaf]:
    """All leaves, wherever they stand."""
    match tree:
        case None:
            return []
        case Leaf():
            return [tree]
        case Node():
            return leaves_in(tree.left) + leaves_in(tree.right)
