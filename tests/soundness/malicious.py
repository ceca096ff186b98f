"""M9: writers that build wrong trees, and provers that open them dishonestly.

No root may allow two contradictory claims about one key: presence and absence, or two values. Each round
makes a valid or invalid tree, opens it for one key in many dishonest ways, and collects the claims that were
accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Final, NamedTuple

from proofs.errors import ProofError
from proofs.hashing import EMPTY
from proofs.smt import NODE, NOTHING, OTHER_LEAF, OWN_LEAF, bit_of, opening_root
from tests.soundness.synthetic import Leaf, Node, Tree, leaves_in, on_the_path, opened, root_of, tree_of

PREFIXES: Final = (0, 1, 2, 3, 4, 7, 8, 63, 127, 128, 200, 254, 255)
"""Numbers of leading bits that keys of a round may have in common."""

Said = bytes | None
"""A claim about a key: its value digest, or None for its absence."""


class Round(NamedTuple):
    """A tree, and the claims about one key that were accepted against its root."""

    tree: Tree
    key: bytes
    right: bool
    """True if SPEC allows the tree."""
    tried: int
    accepted: set[Said]


def rounds(rng: Random, *, right: bool | None = None) -> Iterator[Round]:
    """Yield rounds endlessly; with `right`, only with valid trees or only with invalid ones."""
    while True:
        base = rng.randbytes(32)
        keys = [base, *(sharing(base, rng.choice(PREFIXES), rng) for _ in range(rng.randrange(6)))]
        leaves = {key: rng.randbytes(32) for key in keys}
        honest = tree_of(leaves)
        tree = honest
        for _ in range(0 if right else rng.randrange(0 if right is None else 1, 4)):
            tree = corrupted(tree, leaves, rng)
        key = rng.choice([*keys, sharing(base, rng.choice(PREFIXES), rng)])
        yield attacked(tree, key, root_of(tree) == root_of(honest), rng)


def sharing(base: bytes, bits: int, rng: Random) -> bytes:
    """Return a key digest that has exactly `bits` (0 to 255) leading bits in common with `base`."""
    rest = 255 - bits
    high = int.from_bytes(base, "big") >> rest ^ 1
    return (high << rest | rng.getrandbits(rest)).to_bytes(32, "big")


def corrupted(tree: Tree, leaves: Mapping[bytes, bytes], rng: Random) -> Tree:
    """Return the tree with a random change that SPEC does not allow."""
    if isinstance(tree, Node) and rng.random() < 0.7:
        sides = list(tree)
        at = rng.randrange(2)
        sides[at] = corrupted(sides[at], leaves, rng)
        return Node(*sides)
    own = Leaf(*rng.choice(list(leaves.items())))
    twin = Leaf(own.key, rng.randbytes(32))
    wrong: list[Tree] = [own, twin, None, Node(None, None), Node(own, None), Node(None, twin)]
    wrong += [Node(own, twin), Node(tree, own), Node(twin, tree), Node(tree, None), Node(None, tree)]
    if isinstance(tree, Node):
        wrong += [
            Node(tree.right, tree.left),
            tree.left,
            tree.right,
            Leaf(root_of(tree.left), root_of(tree.right)),
        ]
    if isinstance(tree, Leaf):
        wrong += [Leaf(tree.value, tree.key), Leaf(tree.key, EMPTY), Leaf(EMPTY, tree.value)]
    return rng.choice(wrong)


def attacked(tree: Tree, key: bytes, right: bool, rng: Random) -> Round:
    """Return the claims about `key` that dishonest openings show against the root of `tree`."""
    root, accepted, tried = root_of(tree), set[Said](), 0
    said: list[Said] = [None, rng.randbytes(32), EMPTY]
    said += [leaf.value for leaf in leaves_in(tree)]
    for one in said:
        for shape, hashes in lies(tree, key, rng):
            tried += 1
            if opens({key: one}, shape, hashes, root):
                accepted.add(one)
    return Round(tree, key, right, tried, accepted)


def opens(keys: Mapping[bytes, Said], shape: bytes, hashes: bytes, root: bytes) -> bool:
    """Return True if the opening is accepted; exceptions other than ProofError propagate."""
    try:
        return opening_root(keys, shape, hashes) == root
    except ProofError:
        return False


def lies(tree: Tree, key: bytes, rng: Random) -> Iterator[tuple[bytes, bytes]]:
    """Yield openings of a tree at one key: the honest one, and ones that end elsewhere or as another case."""
    yield opened(tree, [key])
    way = on_the_path(tree, key)
    beside = [
        root_of(node[1 - bit_of(key, depth)]) for depth, node in enumerate(way) if isinstance(node, Node)
    ]
    leaves = leaves_in(tree)
    for depth in sorted({0, len(beside), rng.randrange(len(beside) + 1)}):
        above, end = beside[:depth], way[depth]
        yield along(key, above, NOTHING)
        yield along(key, above, OWN_LEAF)
        for leaf in rng.sample(leaves, min(2, len(leaves))):
            yield along(key, above, OTHER_LEAF, leaf.key + leaf.value)
        if isinstance(end, Node):
            yield along(key, above, OTHER_LEAF, root_of(end.left) + root_of(end.right))
        for sibling in (EMPTY, root_of(end), *(root_of(leaf) for leaf in leaves[:1])):
            if depth < 256:
                yield along(key, [*above, sibling], OWN_LEAF)
                yield along(key, [*above, sibling], NOTHING)


def along(key: bytes, beside: list[bytes], case: int, end: bytes = b"") -> tuple[bytes, bytes]:
    """Return the opening whose path to `key` has these siblings, from the root down, and ends in `case`."""
    before = [sibling for depth, sibling in enumerate(beside) if bit_of(key, depth)]
    after = [sibling for depth, sibling in enumerate(beside) if not bit_of(key, depth)]
    return bytes([NODE]) * len(beside) + bytes([case]), b"".join([*before, end, *reversed(after)])
