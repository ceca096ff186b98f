"""Named rejects 1 to 6, 12 and 14 to 23: wrong leaves, and leaves for the wrong key, root or store."""

from __future__ import annotations

from functools import partial
from typing import Any

from proofs import hashing
from proofs.hashing import EMPTY, key_digest, leaf_hash, node_hash, value_digest
from proofs.smt import NODE, NOTHING, OTHER_LEAF, OWN_LEAF
from tests.soundness.rejects import Cases, atom, changed, elsewhere, home, later, offered, part, put, reject
from tests.soundness.synthetic import Leaf, Node, leaves_in, on_the_path, opened, root_of, tree_of
from tests.soundness.wire import (
    ATOMS,
    EDGES,
    LOG_ROOT,
    OPENING,
    ROOTS,
    TAGS,
    WITNESSES,
    Case,
    packed,
    parts_of,
)

SHAPE, HASHES = 0, 1
K = [bytes([byte]) + bytes(31) for byte in (0x00, 0x40, 0x80, 0xC0, 0xE0)]
"""Key digests that differ in their first bits."""
V = [bytes([byte]) * 32 for byte in range(1, 6)]
SMALL = dict(zip(K[:4], V, strict=False))
"""The leaves of a complete tree of four, each below two nodes."""


def against_small(reason: str, keys: dict[bytes, bytes | None], shape: bytes, hashes: bytes) -> Case:
    """Return the case of an opening of the tree SMALL."""
    return Case(
        reason, "opening", [[[*pair] for pair in keys.items()], shape, hashes, root_of(tree_of(SMALL))]
    )


@reject
def r01_wrong_key() -> Cases:
    """A proof for one key is refused for another key."""
    for number in range(1, 6):
        claim = ["AtomIs", atom(number), 0, True]
        yield offered("tree|shape", home()["atom@root"], claims=[claim])


@reject
def r02_wrong_value() -> Cases:
    """A proof with another value than the tree's is refused."""
    for name in ("atom-closed@root", "atom-closed@log"):
        raw = bytearray(part(home()[name], WITNESSES, 0, 1))
        raw[-1] ^= 1
        yield put("tree", home()[name], bytes(raw), WITNESSES, 0, 1)
    sixth = part(home()["atom-hidden@root"], WITNESSES, 0, 1)
    yield put("state", home()["atom@root"], sixth, WITNESSES, 0, 1)


@reject
def r03_wrong_root() -> Cases:
    """A proof against another root, a root of zeros, or the log root is refused."""
    for name in ("atom@root", "no-atom@root", "tagged@root", "event@root", "prefix@root"):
        item = home()[name]
        for root in (EMPTY, b"\xff" * 32, part(item, OPENING, LOG_ROOT), part(item, OPENING, ROOTS, 0, 1)):
            yield offered("root", item, basis=[*item.basis[:2], root, None])


def _swapped(parts: list[Any], one: int, other: int) -> None:
    parts[one], parts[other] = parts[other], parts[one]


@reject
def r04_wrong_namespace() -> Cases:
    """An opening is refused in place of the opening of another namespace."""
    yield changed("unneeded|missing", home()["atom@root"], partial(_swapped, one=ATOMS, other=EDGES))
    yield changed("unneeded|missing", home()["no-edge@log"], partial(_swapped, one=ATOMS, other=EDGES))
    yield changed("shape|absent", home()["no-tag@root"], partial(_swapped, one=ATOMS, other=TAGS))
    raw = b"\x80" + bytes(15)
    assert key_digest("atoms", raw) != key_digest("edges", raw)
    tree = tree_of({key_digest("atoms", raw): value_digest("atoms", b"v"), K[0]: V[0]})
    keys = [[key_digest("edges", raw), value_digest("edges", b"v")]]
    yield Case("absent", "opening", [keys, *opened(tree, [keys[0][0]]), root_of(tree)])


@reject
def r05_wrong_store_id() -> Cases:
    """A proof under another store's id is refused wherever a hash covers the id."""
    for name in ("atom@root", "no-atom@log", "tagged@log", "event@root", "prefix-root@log"):
        item = home()[name]
        yield offered("root", item, basis=[item.basis[0], bytes(16), *item.basis[2:]])
        theirs = elsewhere()[name].basis[1]
        yield offered("root", item, basis=[item.basis[0], theirs, *item.basis[2:]])


@reject
def r06_older_root() -> Cases:
    """A proof against an older root or log is refused against a newer one, and the other way round."""
    for name in ("atom@root", "no-atom@root", "tagged@root", "no-term@root"):
        yield offered("root", home()[name], basis=later()[name].basis)
        yield offered("root", later()[name], basis=home()[name].basis)
    for name in ("atom@log", "tagged@log"):
        yield offered("inclusion", home()[name], basis=later()[name].basis)
    item = home()["atom@root"]
    yield offered("log-size", item, basis=[*item.basis[:3], item.basis[3] - 1])
    yield offered("log-size", item, basis=[*item.basis[:3], 0])


@reject
def r12_deeper_than_256() -> Cases:
    """A path of 257 siblings is refused."""
    yield Case("shape", "opening", [[[K[0], V[0]]], bytes(257) + b"\1", b"\7" * 32 * 257, EMPTY])
    shape, hashes = bytes([NODE]) * 257 + bytes([NOTHING]), b"\7" * 32 * 257
    yield put("shape", home()["no-atom@root"], [shape, hashes], ATOMS)


@reject
def r14_leaf_for_the_root() -> Cases:
    """An opening without a node is refused if the tree has more than one leaf."""
    for name in ("atom@root", "atom@log", "tag@root"):
        yield put("tree", home()[name], [b"\1", b""], ATOMS)
    for name in ("no-atom@root", "no-atom@log"):
        yield put("tree", home()[name], [b"\3", b""], ATOMS)
    yield put("tree", home()["no-atom@root"], [b"\2", b"\5" * 64], ATOMS)
    yield against_small("tree", {K[0]: V[0]}, bytes([OWN_LEAF]), b"")
    yield against_small("tree", {K[4]: None}, bytes([NOTHING]), b"")


@reject
def r15_node_offered_as_leaf() -> Cases:
    """The two halves of an inner node are refused as the key and value of a leaf."""
    tree = tree_of(SMALL)
    assert isinstance(tree, Node)
    left, right = root_of(tree.left), root_of(tree.right)
    yield against_small("tree", {left: right}, bytes([OWN_LEAF]), b"")
    yield against_small("tree", {K[4]: None}, bytes([OTHER_LEAF]), left + right)
    assert leaf_hash(left, right) != node_hash(left, right)


@reject
def r16_leaf_offered_as_node() -> Cases:
    """Key and value of a leaf are refused as the halves of a node."""
    yield Case("tree", "opening", [[[b"\x80" + bytes(31), None]], b"\0\3", K[1], leaf_hash(K[1], EMPTY)])
    key = b"\x00" + b"\x11" * 31
    root = leaf_hash(key, V[0])
    yield Case("tree", "opening", [[[K[0], None]], b"\0\2", K[1] + V[1] + V[0], root])


@reject
def r17_other_leaf_of_the_same_key() -> Cases:
    """A claim of absence is refused if the leaf shown in the key's place is its own."""
    shape, hashes = opened(tree_of(SMALL), [K[4]])
    for key in K[:4]:
        way = opened(tree_of(SMALL), [key])
        yield against_small("other-leaf", {key: None}, way[0][:-1] + bytes([OTHER_LEAF]), spliced(key))
    yield against_small("other-leaf", {K[3]: None, K[4]: None}, shape, hashes)
    tree = tree_of({K[0]: V[0]})
    yield Case("other-leaf", "opening", [[[K[0], None]], b"\2", K[0] + V[0], root_of(tree)])


def spliced(key: bytes) -> bytes:
    """Return the hashes of the opening of SMALL at `key`, with its own leaf among them."""
    top = tree_of(SMALL)
    assert isinstance(top, Node)
    side, low = key[0] >> 7, key[0] >> 6 & 1
    near, far = top[side], root_of(top[1 - side])
    assert isinstance(near, Node)
    beside, own = root_of(near[1 - low]), key + SMALL[key]
    inner = beside + own if low else own + beside
    return far + inner if side else inner + far


@reject
def r18_other_leaf_from_elsewhere() -> Cases:
    """A leaf that leaves the key's path above its place is refused as its neighbour."""
    tree = tree_of({K[0]: V[0], K[2]: V[2], K[3]: V[3]})
    key = b"\xc0" + b"\1" * 31
    way = on_the_path(tree, key)
    assert way[-1] == Leaf(K[3], V[3])
    for far in (K[0], K[1], K[2]):
        wrong = Node(Leaf(K[0], V[0]), Node(Leaf(K[2], V[2]), Leaf(far, V[3])))
        yield Case("other-leaf", "opening", [[[key, None]], *opened(wrong, [key]), root_of(wrong)])


@reject
def r19_other_leaf_malformed() -> Cases:
    """Another leaf that is shorter or longer than two digests is refused."""
    lone = {K[0]: V[0]}
    for length, reason in ((0, "shape"), (32, "shape"), (63, "shape"), (65, "shape"), (96, "shape")):
        leaf = (K[0] + V[0] + bytes(32))[:length]
        yield Case(reason, "opening", [[[K[4], None]], b"\2", leaf, root_of(tree_of(lone))])


@reject
def r20_nothing_where_a_leaf_is() -> Cases:
    """A key of the tree is refused as absent, by EMPTY or by a shorter path."""
    for key in K[:4]:
        shape, hashes = opened(tree_of(SMALL), [key])
        yield against_small("tree", {key: None}, shape[:-1] + bytes([NOTHING]), hashes)
    item = home()["atom@root"]
    yield Case("shape", "verify", [with_witness(item.data, [2]), item.basis, [["NoAtom", item.claims[0][1]]]])


def with_witness(data: bytes, witness: list[object]) -> bytes:
    """Return the case of a proof with another witness."""
    parts = parts_of(data)
    parts[WITNESSES] = [witness]
    return packed(parts)


@reject
def r21_member_of_the_empty_constant() -> Cases:
    """EMPTY as a value or leaf is refused as a proof of presence for an absent key."""
    yield against_small("absent", {K[4]: EMPTY}, *opened(tree_of(SMALL), [K[4]]))
    yield Case("absent", "opening", [[[K[4], EMPTY]], b"\3", b"", EMPTY])
    yield Case("tree", "opening", [[[K[4], EMPTY]], b"\1", b"", EMPTY])


@reject
def r22_empty_value() -> Cases:
    """An empty byte string is refused as a value, as a chunk, and as the absence of a chunk."""
    for name in ("atom@root", "atom@log", "tag@root", "edge@root"):
        yield put("encoding", home()[name], b"", WITNESSES, 0, 1)
    for name in ("tag@root", "no-tag@root", "no-tag-chunk@log", "tags@root"):
        yield put("chunk", home()[name], b"", WITNESSES, 0, 2)
    for name in ("tag@root", "no-tag-chunk@log"):
        yield put("chunk", home()[name], b"", WITNESSES, 0, 3)
    for name in ("tagged@root", "tagged@log"):
        for at in (0, 1):
            yield put("chunk", home()[name], b"", WITNESSES, 0, 1, 0, at)
    yield put("chunk", home()["term@root"], b"", WITNESSES, 0, 2, 0)
    absent = hashing.value_digest("tags", b"")
    yield against_small("absent", {K[4]: absent}, *opened(tree_of(SMALL), [K[4]]))


@reject
def r23_node_with_one_child() -> Cases:
    """A leaf below a node whose other side is EMPTY is refused, even if the root commits to it."""
    lone = Leaf(K[0], V[0])
    for wrong, key in (
        (Node(lone, None), K[0]),
        (Node(Node(lone, None), Leaf(K[2], V[2])), K[0]),
        (Node(Leaf(K[0], V[0]), None), K[1]),
        (Node(None, Leaf(K[3], V[3])), K[3]),
        (Node(None, None), K[0]),
        (Node(None, None), K[3]),
    ):
        found = next((leaf.value for leaf in leaves_in(wrong) if leaf.key == key), None)
        yield Case("shape", "opening", [[[key, found]], *opened(wrong, [key]), root_of(wrong)])
    pair = Node(Leaf(K[0], V[0]), None)
    both = [[K[0], V[0]], [K[4], None]]
    yield Case("shape", "opening", [both, *opened(pair, [K[0], K[4]]), root_of(pair)])
