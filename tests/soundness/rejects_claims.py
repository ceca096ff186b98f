"""Named rejects 24 to 31: keys, fields, roots and claims, alone and in proofs of several claims."""

from __future__ import annotations

from functools import partial
from typing import Any

from proofs.hashing import EMPTY, key_digest
from proofs.smt import NODE, NOTHING, OTHER_LEAF, OWN_LEAF
from tests.soundness.rejects import Cases, atom, changed, home, offered, part, put, reject
from tests.soundness.rejects_leaf import HASHES, SHAPE, SMALL, K, V, against_small, with_witness
from tests.soundness.synthetic import Node, opened, root_of, tree_of
from tests.soundness.wire import (
    ATOMS,
    EDGES,
    LABEL_COMMITMENT,
    LINK,
    LOG_ROOT,
    OPENING,
    ROOTS,
    SEGMENTS,
    TAGS,
    WITNESSES,
    Case,
    at_path,
)


@reject
def r24_wrong_width_of_a_key() -> Cases:
    """A claim with a key of a wrong width is refused."""
    for length in (0, 15, 17, 31, 32, 33):
        yield Case("input", "claim", ["NoAtom", b"\1" * length])
        yield Case("input", "claim", ["AtomIs", b"\1" * length, 0, True])
        yield Case("input", "claim", ["HasTag", b"\1" * length, "a"])
        yield Case("input", "claim", ["NoEdge", b"\1" * length, b"\1", b"\2" * 16])
        yield Case("input", "claim", ["NoEdge", b"\1" * 16, b"\1", b"\2" * length])
    yield Case("input", "claim", ["NoAtom", bytes(16)])
    yield Case("input", "claim", ["NoAtom", "1" * 16])
    digest = key_digest("atoms", atom(0))
    yield Case("input", "claim", ["NoAtom", digest])


@reject
def r25_key_that_begins_another() -> Cases:
    """A proof for a code or tag is refused for one that it is a prefix of, and the other way round."""
    src, dst = atom(1), atom(0)
    for code in (b"", b"\0", b"\x80", b"\x06\x06", b"\x80\0", b"\x7f" + bytes(7), b"\x80" * 7, b"\x80" * 9):
        yield Case("input", "claim", ["NoEdge", src, code, dst])
    item = home()["edge@root"]
    _, source, code, target, state, opened_too = item.claims[0]
    two = ["EdgeIs", source, b"\x80" + bytes(6) + code, target, state, opened_too]
    yield offered("tree|shape", item, claims=[two])
    for identity in ("kitche", "kitchen-", "kitchen\u0301", "k"):
        item = home()["tag@root"]
        claim = ["HasTag", item.claims[0][1], identity]
        yield offered("tree|shape|absent|other-leaf", item, claims=[claim])


@reject
def r26_shape_instead_of_a_bitmask() -> Cases:
    """A shape, which serves as the bitmask, is refused with another length, case or order."""
    item = home()["no-atom@root"]
    shape = part(item, ATOMS, SHAPE)
    for other in (shape[:-1], shape + b"\0", shape + b"\3", b"\0" + shape, b"", shape[::-1]):
        yield put("shape|other-leaf", item, other, ATOMS, SHAPE)
    for case in (4, 5, 0x80, 0xFF):
        odd = shape[:-1] + bytes([case])
        yield put("shape", item, odd, ATOMS, SHAPE)
    sparse = tree_of({K[0]: V[0], K[1]: V[1]})
    assert isinstance(sparse, Node)
    for case in (4, 5, 0x80, 0xFF):
        yield Case(
            "shape", "opening", [[[K[2], None]], bytes([NODE, case]), root_of(sparse.left), root_of(sparse)]
        )
    two = home()["atom-closed@root"]
    for last, reason in ((NODE, "shape"), (NOTHING, "absent"), (OTHER_LEAF, "absent")):
        odd = part(two, ATOMS, SHAPE)[:-1] + bytes([last])
        yield put(reason, two, odd, ATOMS, SHAPE)
    own = shape[:-1] + bytes([OWN_LEAF])
    yield put("shape", item, own, ATOMS, SHAPE)


@reject
def r27_both_sides_given() -> Cases:
    """A node on the path of a key takes one hash; a proof with the hashes of both sides is refused."""
    tree = tree_of(SMALL)
    assert isinstance(tree, Node)
    shape, hashes = opened(tree, [K[0]])
    both = root_of(tree.left) + root_of(tree.right)
    yield against_small("shape", {K[0]: V[0]}, shape, both + hashes)
    yield against_small("shape", {K[0]: V[0]}, shape, hashes + both)
    yield against_small("shape", {K[0]: V[0]}, bytes([NODE]), both)


@reject
def r28_unknown_fields() -> Cases:
    """A field too many or too few in any array of a proof is refused."""
    paths = [(), (LINK,), (OPENING,), (OPENING, ROOTS, 0), (SEGMENTS,), (SEGMENTS, 1, 0), (ATOMS,), (EDGES,)]
    paths += [(TAGS,), (WITNESSES, 0)]
    item = home()["several@log"]
    extras: list[Any] = [None, b"", 0, "x", []]
    for path in paths:
        for extra in extras:
            yield changed("form", item, partial(_grow, path=path, extra=extra))
        yield changed("form", item, partial(_shrink, path=path))
    yield changed("kind", item, lambda parts: parts[WITNESSES].append([2]))


def _grow(parts: list[Any], path: tuple[int, ...], extra: object) -> None:
    at_path(parts, path).append(extra)


def _shrink(parts: list[Any], path: tuple[int, ...]) -> None:
    at_path(parts, path).pop()


@reject
def r29_missing_or_empty_roots() -> Cases:
    """A missing or empty root is refused, in the basis and in the proof."""
    item = home()["atom@root"]
    for root in (b"", b"\0", bytes(31), bytes(33), None, "x"):
        yield Case("input", "basis", ["Root", item.basis[1], root, None])
        yield Case("input", "basis", ["LogHead", item.basis[1], 1, root])
    for store_id in (b"", bytes(15), bytes(17), None):
        yield Case("input", "basis", ["Root", store_id, item.basis[2], None])
    for path in ((LABEL_COMMITMENT,), (LOG_ROOT,), *((ROOTS, at, 1) for at in range(4))):
        for value in (None, b"", bytes(31), bytes(33), 0):
            yield put("form", item, value, OPENING, *path)
        yield put("root", item, EMPTY, OPENING, *path)
    yield changed("form", item, lambda parts: parts[OPENING][ROOTS].pop())
    yield changed("form", item, lambda parts: parts[OPENING][ROOTS].reverse())
    yield put("form", item, None, OPENING)
    empty = [b"\3", b""]
    yield put("tree", home()["no-atom@root"], empty, ATOMS)


@reject
def r30_many_at_once() -> Cases:
    """In a proof of several claims, a surplus, repeated, misplaced or contradictory witness is refused."""
    item = home()["several@root"]
    yield changed("kind", item, lambda parts: parts[WITNESSES].reverse())
    yield changed("kind", item, lambda parts: parts[WITNESSES].pop())
    yield changed("kind", item, lambda parts: parts[WITNESSES].pop(0))
    yield changed("kind", item, lambda parts: parts[WITNESSES].append(parts[WITNESSES][-1]))
    yield changed("kind", item, lambda parts: parts[WITNESSES].clear())
    yield offered("input", item, claims=[])
    yield offered("input", item, claims=item.claims + item.claims[:1])
    yield offered("kind", item, claims=item.claims[1:])
    one = home()["atom@root"]
    doubled = [["AtomIs", one.claims[0][1], 0, True], ["AtomIs", one.claims[0][1], 1, False]]
    yield offered("input", one, claims=doubled)
    for at in (ATOMS, EDGES, TAGS):
        for side in (SHAPE, HASHES):
            yield put("shape", item, part(item, at, side) + b"\3", at, side)
    both = {K[0]: V[0], K[4]: None}
    shape, hashes = opened(tree_of(SMALL), both)
    yield against_small("shape", {K[0]: V[0]}, shape, hashes)
    yield against_small("absent", {K[0]: V[0], K[1]: V[1], K[4]: None}, shape, hashes)
    tag = next(at for at, one in enumerate(part(item, WITNESSES)) if one[0] == 6)
    older = bytearray(part(item, WITNESSES, tag, 1))
    older[-1] ^= 1
    yield put("contradiction", item, bytes(older), WITNESSES, tag, 1)


@reject
def r31_tombstoned_shown_as_live() -> Cases:
    """A tombstoned atom with its former value is refused as live."""
    item = home()["atom-hidden@root"]
    claim = item.claims[0]
    live = ["AtomIs", claim[1], 0, True]
    yield offered("state", item, claims=[live])
    raw = bytearray(part(item, WITNESSES, 0, 1))
    assert raw[1] == 1
    raw[1] = 0
    data = with_witness(item.data, [1, bytes(raw), part(item, WITNESSES, 0, 2)])
    yield offered("tree", item, data, claims=[live])
    gone = home()["edge-gone@root"]
    yield offered("state", gone, claims=[[*gone.claims[0][:4], 0, False]])
    shown = home()["atom@root"]
    yield offered("state", shown, claims=[["AtomIs", shown.claims[0][1], 1, True]])
    yield offered("state", shown, claims=[["AtomIs", shown.claims[0][1], 2, False]])
    yield Case("input", "claim", ["AtomIs", claim[1], 2, True])
    for state in ("live", None, True, 3):
        yield Case("input", "claim", ["AtomIs", claim[1], state, False])
    for also in (None, 1, "yes"):
        yield Case("input", "claim", ["AtomIs", claim[1], 0, also])
        yield Case("input", "claim", ["EventIs", 1, also])
