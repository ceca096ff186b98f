"""The bytes of a page follow the format, and other bytes are rejected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import CorruptionError
from engine.ledger.paged_tree import PagedTree
from engine.ledger.pages import child_path, decode_page, encode_page, nibble_of
from proofs import smt
from proofs.hashing import EMPTY, leaf_hash, node_hash
from tests.ledger.support import BASE, Rows, apply, histories, key_digests, leaves_after, sharing

TREE = PagedTree("atoms")
PREFIX = b"t/atoms/"
V, W, X = b"\x01" * 32, b"\x02" * 32, b"\x03" * 32


def key_at(nibbles: str) -> bytes:
    """Return the key digest that begins with these nibbles, followed by zeros."""
    return bytes.fromhex(nibbles.ljust(64, "0"))


def page(occupied: int, leaves: int, *slots: bytes) -> bytes:
    """Return the bytes of a page that is built by hand."""
    return occupied.to_bytes(2, "big") + leaves.to_bytes(2, "big") + b"".join(slots)


def test_a_tree_is_stored_as_the_format_says() -> None:
    """Leaves 0…, a3b…, a3c… and f… are stored in a root page and in pages for a and a3."""
    zero, b, c, f = key_at("0"), key_at("a3b"), key_at("a3c"), key_at("f")
    rows = Rows()
    root = apply(TREE, rows, {zero: V, b: W, c: X, f: V})
    # The nibbles b = 1011 and c = 1100 differ from their second bit on; the nibble above them is 3 = 0011.
    at_a3 = node_hash(EMPTY, node_hash(leaf_hash(b, W), leaf_hash(c, X)))
    at_a = node_hash(node_hash(node_hash(EMPTY, node_hash(EMPTY, at_a3)), EMPTY), EMPTY)
    assert rows.rows == {
        PREFIX + b"\x00": page(0b1000010000000001, 0b1000000000000001, zero + V, at_a, f + V),
        PREFIX + b"\x01\xa0": page(0b0000000000001000, 0, at_a3),
        PREFIX + b"\x02\xa3": page(0b0001100000000000, 0b0001100000000000, b + W, c + X),
    }
    assert root == smt.root_of({zero: V, b: W, c: X, f: V})


def test_a_tree_of_one_leaf_is_one_page() -> None:
    """A tree with a single leaf has only the root page."""
    rows = Rows()
    apply(TREE, rows, {key_at("7"): V})
    assert rows.rows == {PREFIX + b"\x00": page(0x80, 0x80, key_at("7") + V)}


MALFORMED = {
    "no bytes": ("", b""),
    "three bytes": ("", bytes(3)),
    "no slots": ("", page(0, 0)),
    "slot without bytes": ("", page(1, 0)),
    "bytes without slot": ("", page(0, 0, V)),
    "leaf cut": ("", page(1, 1, (key_at("0") + V)[:-1])),
    "one byte more": ("", page(1, 1, key_at("0") + V + b"x")),
    "leaf bit outside occupied": ("", page(0x2, 0x1, key_at("0") + V)),
    "leaf bit outside occupied, right length": ("", page(0x3, 0x4, V, W, X)),
    "leaf in another slot": ("", page(0x2, 0x2, key_at("0") + V)),
    "leaves swapped": ("", page(0x3, 0x3, key_at("1") + V, key_at("0") + V)),
    "leaf of another path, even": ("a3", page(0x3, 0x3, key_at("b30") + V, key_at("a31") + V)),
    "leaf of another nibble, even": ("a3", page(0x3, 0x3, key_at("a30") + V, key_at("a32") + V)),
    "leaf of another path, odd": ("a", page(0x3, 0x3, key_at("b0") + V, key_at("a1") + V)),
    "leaf of another nibble, odd": ("a", page(0x3, 0x3, key_at("a0") + V, key_at("a2") + V)),
    "leaf of another first byte, odd": ("a35", page(0x3, 0x3, key_at("a250") + V, key_at("a351") + V)),
    "empty subtree root": ("", page(0x3, 0, V, EMPTY)),
    "sixteen subtree roots, one empty": ("", page(0xFFFF, 0, *[V] * 15, EMPTY)),
    "one leaf below the root page": ("a", page(0x1, 0x1, key_at("a0") + V)),
    "subtree below the last nibble": ("0" * 63, page(0x3, 0x1, key_at("0") + V, W)),
    "full of subtrees at the last nibble": ("0" * 63, page(0xFFFF, 0, *[V] * 16)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_bytes_are_refused_and_the_page_is_named(name: str) -> None:
    """Malformed bytes raise CorruptionError with the key of the page in hex."""
    nibbles, stored = MALFORMED[name]
    path = bytes.fromhex(nibbles + "0" * (len(nibbles) % 2))
    page_key = PREFIX + bytes([len(nibbles)]) + path
    with pytest.raises(CorruptionError, match=f"{page_key.hex()} is malformed"):
        decode_page(page_key, len(nibbles), path, stored)


@pytest.mark.parametrize("nibbles", ["", "a", "a3", "a3f", "0" * 62])
def test_sixteen_subtrees_are_read_at_every_depth_that_can_have_them(nibbles: str) -> None:
    """A page of 16 subtree roots is decoded at every depth that can have subtrees."""
    slots = [bytes([at + 1]) * 32 for at in range(16)]
    path = bytes.fromhex(nibbles + "0" * (len(nibbles) % 2))
    assert decode_page(b"k", len(nibbles), path, page(0xFFFF, 0, *slots)) == slots


def test_eight_leaves_and_sixteen_subtrees_differ_in_their_bitmaps() -> None:
    """8 leaves and 16 subtrees both take 512 bytes, and the bitmaps distinguish them."""
    leaves = [key_at(f"{at:x}") + V if at % 2 else b"" for at in range(16)]
    subtrees = [W] * 16
    heads = [encode_page(slots, b"".join(slots))[:4] for slots in (leaves, subtrees)]
    assert heads == [b"\xaa\xaa\xaa\xaa", b"\xff\xff\x00\x00"]


@given(st.integers(0, 63), key_digests)
def test_a_path_is_the_first_nibbles_of_the_keys_below_it(depth: int, key: bytes) -> None:
    """A path is the first nibbles of the key digest, padded with a zero nibble at odd depths."""
    path = b""
    for level in range(depth):
        path = child_path(path, level, nibble_of(key, level))
    assert path.hex() == key.hex()[:depth] + "0" * (depth % 2)


def read_all(rows: Rows) -> dict[bytes, bytes]:
    """Return the leaves of all pages of a tree, decoded at the path in the key of each page."""
    leaves: dict[bytes, bytes] = {}
    for page_key, stored in rows.rows.items():
        depth, path = page_key[len(PREFIX)], page_key[len(PREFIX) + 1 :]
        for slot in decode_page(page_key, depth, path, stored):
            if len(slot) == 64:
                leaves[slot[:32]] = slot[32:]
    return leaves


def recompute(rows: Rows) -> tuple[bytes, bool]:
    """Return the root over the leaves in `rows`, and True if a tree of these leaves has exactly `rows`."""
    again = Rows()
    root = apply(TREE, again, read_all(rows))
    return root, again.rows == rows.rows


@given(histories())
def test_the_pages_hold_exactly_the_leaves(history: list[dict[bytes, bytes | None]]) -> None:
    """All pages together have exactly the leaves, and a tree of these leaves has the same rows."""
    rows = Rows()
    for changes in history:
        apply(TREE, rows, changes)
    assert read_all(rows) == leaves_after(history)
    assert recompute(rows) == (TREE.root(rows), True)


SMALL: dict[bytes, bytes | None] = {
    BASE: V,
    sharing(1, V): W,
    sharing(5, W): X,
    sharing(6, X): V,
    sharing(11, V): W,
}


def outcomes(flip: int) -> dict[str, int]:
    """Count how a change of each byte of each page of a small tree, xor `flip`, is detected."""
    clean = Rows()
    root = apply(TREE, clean, SMALL)
    found = {"refused": 0, "other root": 0, "other page": 0, "not found out": 0}
    for page_key, stored in clean.rows.items():
        for at in range(len(stored)):
            changed = stored[:at] + bytes([stored[at] ^ flip]) + stored[at + 1 :]
            try:
                other, consistent = recompute(Rows({**clean.rows, page_key: changed}))
            except CorruptionError:
                found["refused"] += 1
            else:
                name = "other root" if other != root else "not found out" if consistent else "other page"
                found[name] += 1
    return found


@pytest.mark.parametrize("flip", [1, 2, 4, 8, 16, 32, 64, 128, 255, 3, 24])
def test_every_changed_byte_is_detected(flip: int) -> None:
    """A changed byte is rejected by decoding, or the leaves give another root or other pages."""
    found = outcomes(flip)
    assert found["not found out"] == 0
    assert min(found["refused"], found["other root"], found["other page"]) > 0


def test_a_changed_subtree_root_in_the_root_page_changes_the_root() -> None:
    """A changed subtree root in the root page changes the root without any recomputation."""
    rows = Rows()
    root = apply(TREE, rows, SMALL)
    stored = rows.rows[PREFIX + b"\x00"]
    rows.rows[PREFIX + b"\x00"] = stored[:-1] + bytes([stored[-1] ^ 1])
    assert TREE.root(rows) != root
