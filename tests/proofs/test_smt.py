"""Tests of the reference tree: its definition step by step, and its refusals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.hashing import EMPTY, leaf_hash, node_hash
from proofs.smt import bit_of, root_of
from tests.ledger.support import BASE, digests, key_digests, sharing, values


def test_no_leaves_make_the_empty_root() -> None:
    """The root of the empty tree is 32 zero bytes."""
    assert root_of({}) == EMPTY == bytes(32)


@given(key_digests, values)
def test_one_leaf_is_the_root(key: bytes, value: bytes) -> None:
    """The root of a tree of one leaf is the hash of that leaf."""
    assert root_of({key: value}) == leaf_hash(key, value)


@given(st.integers(0, 255), digests, values, values)
def test_two_leaves_stand_where_their_keys_part(shared: int, tail: bytes, value: bytes, other: bytes) -> None:
    """Two leaves that share n bits form one node below n nodes whose other side is empty."""
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
    """The order of the mapping does not change the root."""
    assert root_of(dict(reversed(leaves.items()))) == root_of(leaves)


@given(st.dictionaries(key_digests, values, max_size=6), st.dictionaries(key_digests, values, max_size=6))
def test_other_leaves_have_another_root(one: dict[bytes, bytes], other: dict[bytes, bytes]) -> None:
    """Two trees have the same root exactly if they have the same leaves."""
    assert (root_of(one) == root_of(other)) == (one == other)


@pytest.mark.parametrize(
    "leaf", [(b"", bytes(32)), (bytes(31), bytes(33)), (bytes(32), b""), (bytes(33), bytes(32))]
)
def test_a_digest_of_another_width_is_refused(leaf: tuple[bytes, bytes]) -> None:
    """Keys and values that are not digests of 32 bytes are refused."""
    with pytest.raises(ValueError, match="32 bytes each"):
        root_of(dict([leaf]))
