"""The reference tree: its definition spelled out, and its refusals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.hashing import EMPTY, leaf_hash, node_hash
from proofs.smt import bit_of, root_of
from tests.ledger.support import BASE, digests, key_digests, sharing, values


def test_no_leaves_make_the_empty_root() -> None:
    """The empty tree has 32 zero bytes for its root."""
    assert root_of({}) == EMPTY == bytes(32)


@given(key_digests, values)
def test_one_leaf_is_the_root(key: bytes, value: bytes) -> None:
    """A tree of one leaf has the hash of that leaf for its root, without any node."""
    assert root_of({key: value}) == leaf_hash(key, value)


@given(st.integers(0, 255), digests, values, values)
def test_two_leaves_stand_where_their_keys_part(shared: int, tail: bytes, value: bytes, other: bytes) -> None:
    """Two leaves that share n bits are one node under n nodes that are empty on the other side."""
    key = sharing(shared, tail)
    leaves = [leaf_hash(BASE, value), leaf_hash(key, other)]
    root = node_hash(*(leaves if not bit_of(BASE, shared) else reversed(leaves)))
    for depth in reversed(range(shared)):
        root = node_hash(EMPTY, root) if bit_of(BASE, depth) else node_hash(root, EMPTY)
    assert root_of({BASE: value, key: other}) == root


def test_bits_go_from_the_most_significant_of_byte_0() -> None:
    """Bit 0 is 0x80 of byte 0, bit 255 is 0x01 of byte 31."""
    key = b"\x80" + bytes(30) + b"\x01"
    assert [depth for depth in range(256) if bit_of(key, depth)] == [0, 255]


@given(st.dictionaries(key_digests, values, max_size=8))
def test_the_order_of_the_mapping_does_not_matter(leaves: dict[bytes, bytes]) -> None:
    """A mapping in another order has the same root."""
    assert root_of(dict(reversed(leaves.items()))) == root_of(leaves)


@given(st.dictionaries(key_digests, values, max_size=6), st.dictionaries(key_digests, values, max_size=6))
def test_other_leaves_have_another_root(one: dict[bytes, bytes], other: dict[bytes, bytes]) -> None:
    """Two trees have the same root exactly if they have the same leaves."""
    assert (root_of(one) == root_of(other)) == (one == other)


@pytest.mark.parametrize(
    "leaf", [(b"", bytes(32)), (bytes(31), bytes(33)), (bytes(32), b""), (bytes(33), bytes(32))]
)
def test_a_digest_of_another_width_is_refused(leaf: tuple[bytes, bytes]) -> None:
    """Keys and values are digests of 32 bytes, never the key or the value itself."""
    with pytest.raises(ValueError, match="32 bytes each"):
        root_of(dict([leaf]))
