"""Tests of every hash of the format: BLAKE3's own vectors, the written layout, and refusals."""

import json
from collections.abc import Callable

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from proofs import hashing
from tests.ledger.support import digests
from tests.support.shared_data import needs

A, B = bytes(range(32)), bytes(range(32, 64))


def plain(role: str, data: bytes) -> bytes:
    """Return the hash of a role, computed with the library alone."""
    return blake3(data, derive_key_context=f"memroot 3 {role}").digest()


@pytest.mark.parametrize("mode", ["hash", "keyed_hash", "derive_key"])
def test_the_blake3_library_gives_the_published_digests(mode: str) -> None:
    """The library returns the published digests of all 35 BLAKE3 test vectors, in each mode."""
    vectors = json.loads(needs("vectors/blake3/test_vectors.json").read_text())
    make: dict[str, Callable[[bytes], blake3]] = {
        "hash": blake3,
        "keyed_hash": lambda data: blake3(data, key=vectors["key"].encode()),
        "derive_key": lambda data: blake3(data, derive_key_context=vectors["context_string"]),
    }
    wrong = []
    for case in vectors["cases"]:
        expected = bytes.fromhex(case[mode])
        data = bytes(at % 251 for at in range(case["input_len"]))
        if make[mode](data).digest(len(expected)) != expected:
            wrong.append(case["input_len"])
    assert (len(vectors["cases"]), wrong) == (35, [])


def test_the_contexts_are_the_ones_the_format_names() -> None:
    """The mapping of roles to contexts is part of the format and does not change."""
    roles = [
        "key",
        "value",
        "leaf",
        "node",
        "commitment",
        "row",
        "row-inner",
        "rows-node",
        "overall",
        "analyzer",
        "source",
        "term",
        "erased",
        "label-key",
        "predicate",
    ]
    assert {role: f"memroot 3 {role}" for role in roles} == hashing.CONTEXTS


def test_every_role_has_a_context_of_its_own() -> None:
    """No two roles share a context string."""
    assert len(set(hashing.CONTEXTS.values())) == len(hashing.CONTEXTS)


LAYOUTS: dict[str, tuple[Callable[[], bytes], str, bytes]] = {
    "key": (lambda: hashing.key_digest("atoms", b"id"), "key", b"\x05atomsid"),
    "value": (lambda: hashing.value_digest("tags", b"v"), "value", b"\x04tagsv"),
    "leaf": (lambda: hashing.leaf_hash(A, B), "leaf", A + B),
    "node": (lambda: hashing.node_hash(A, B), "node", A + B),
    "tree leaf": (lambda: hashing.TREE_HASHER.leaf(A, B), "leaf", A + B),
    "tree node": (lambda: hashing.TREE_HASHER.node(A, B), "node", A + B),
    "commitment": (lambda: hashing.commitment(A, b"body"), "commitment", A + b"body"),
    "row": (lambda: hashing.row_hash(b"term", A), "row", b"\x00\x04term" + A),
    "inner row": (
        lambda: hashing.inner_row_hash(b"\x00\x00\x01\x02\x07p"),
        "row-inner",
        b"\x00\x00\x01\x02\x07p",
    ),
    "rows node": (lambda: hashing.rows_node(A, B), "rows-node", A + B),
    "label key": (lambda: hashing.label_commitment(A), "label-key", A),
    "analyzer": (lambda: hashing.analyzer_fingerprint(b"probes"), "analyzer", b"probes"),
    "overall": (
        lambda: hashing.overall_root(b"s" * 16, 7, B, 258, A, [("a", B), ("bc", A)]),
        "overall",
        b"\x00\x00\x00\x03"
        + b"s" * 16
        + b"\0\0\0\x07"
        + B
        + b"\0\0\0\0\0\0\x01\x02"
        + A
        + b"\x00\x02\x01a"
        + B
        + b"\x02bc"
        + A,
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_hash_takes_in_exactly_the_bytes_that_the_format_says(name: str) -> None:
    """A hash equals BLAKE3 derive_key over the fields written out by hand."""
    made, role, data = LAYOUTS[name]
    assert made() == plain(role, data)


@given(st.binary(max_size=80))
def test_numbers_are_the_first_eight_bytes_of_a_hash(data: bytes) -> None:
    """The number of a source or term is the first eight bytes of its role's hash, little-endian."""
    assert hashing.source_number(data) == int.from_bytes(plain("source", data)[:8], "little")
    assert hashing.term_number(data) == int.from_bytes(plain("term", data)[:8], "little")


@given(st.binary(min_size=32, max_size=32), st.text(max_size=40))
def test_the_code_of_a_predicate_is_a_keyed_hash_of_its_name(id_key: bytes, name: str) -> None:
    """The code is the first eight bytes of a hash under a key of the id key; its top bit is set."""
    code = blake3(name.encode(), key=plain("predicate", id_key)).digest(8)
    assert hashing.predicate_code(id_key, name) == bytes([code[0] | 0x80]) + code[1:]


@given(
    st.text("abc", min_size=1, max_size=4),
    st.binary(max_size=4),
    st.text("abc", min_size=1, max_size=4),
    st.binary(max_size=4),
)
def test_a_key_digest_tells_namespace_and_key_apart(name: str, key: bytes, name2: str, key2: bytes) -> None:
    """Two digests are equal only for the same namespace and the same key."""
    equal = hashing.key_digest(name, key) == hashing.key_digest(name2, key2)
    assert equal == ((name, key) == (name2, key2))


@given(digests, digests)
def test_no_two_roles_agree_on_the_same_bytes(left: bytes, right: bytes) -> None:
    """Leaf, node, node of rows and commitment of the same 64 bytes have four different digests."""
    made = {
        hashing.leaf_hash(left, right),
        hashing.node_hash(left, right),
        hashing.rows_node(left, right),
        hashing.commitment(left, right),
        hashing.analyzer_fingerprint(left + right),
    }
    assert len(made) == 5


REFUSED: dict[str, Callable[[], bytes]] = {
    "short leaf key": lambda: hashing.leaf_hash(A[1:], B),
    "long leaf value": lambda: hashing.leaf_hash(A, B + b"x"),
    "leaf of 31 and 33 bytes": lambda: hashing.leaf_hash(A[1:], B + b"x"),
    "node without a left side": lambda: hashing.node_hash(b"", B),
    "node of 33 and 31 bytes": lambda: hashing.node_hash(A + b"x", B[1:]),
    "short rows node": lambda: hashing.rows_node(A, B[1:]),
    "salt of 31 bytes": lambda: hashing.commitment(A[1:], b""),
    "salt of 33 bytes": lambda: hashing.commitment(A + b"x", b""),
    "empty namespace": lambda: hashing.key_digest("", b""),
    "namespace of 256 bytes": lambda: hashing.value_digest("é" * 128, b""),
    "empty term": lambda: hashing.row_hash(b"", A),
    "term of 65,536 bytes": lambda: hashing.row_hash(bytes(65_536), A),
    "inner of 31 bytes": lambda: hashing.row_hash(b"t", A[1:]),
    "store id of 15 bytes": lambda: hashing.overall_root(bytes(15), 1, B, 0, A, []),
    "rules over 32 bits": lambda: hashing.overall_root(bytes(16), 1 << 32, B, 0, A, []),
    "label commitment of 31 bytes": lambda: hashing.overall_root(bytes(16), 1, B[1:], 0, A, []),
    "negative log size": lambda: hashing.overall_root(bytes(16), 1, B, -1, A, []),
    "log size over 64 bits": lambda: hashing.overall_root(bytes(16), 1, B, 1 << 64, A, []),
    "log root of 31 bytes": lambda: hashing.overall_root(bytes(16), 1, B, 0, A[1:], []),
    "namespace twice": lambda: hashing.overall_root(bytes(16), 1, B, 0, A, [("a", A), ("a", B)]),
    "namespaces descending": lambda: hashing.overall_root(bytes(16), 1, B, 0, A, [("b", A), ("a", B)]),
    "nameless namespace": lambda: hashing.overall_root(bytes(16), 1, B, 0, A, [("", A)]),
    "namespace root of 33 bytes": lambda: hashing.overall_root(bytes(16), 1, B, 0, A, [("a", A + b"x")]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_field_of_wrong_width_or_order_is_refused(name: str) -> None:
    """Fields of a wrong width or order, which could be parsed in another way, are refused."""
    with pytest.raises(ValueError, match=r"bytes|must be"):
        REFUSED[name]()


def test_namespaces_go_by_their_bytes_and_not_by_length() -> None:
    """`aa` comes before `b`: the order is that of the bytes, as in every key."""
    assert hashing.overall_root(bytes(16), 1, B, 0, A, [("aa", A), ("b", B)])


OVERALL = (b"s" * 16, 1, A, 9, A, [("atoms", A), ("edges", B)])
OTHER_STORES = {
    "store id": (b"t" * 16, 1, A, 9, A, [("atoms", A), ("edges", B)]),
    "rules": (b"s" * 16, 2, A, 9, A, [("atoms", A), ("edges", B)]),
    "label commitment": (b"s" * 16, 1, B, 9, A, [("atoms", A), ("edges", B)]),
    "log size": (b"s" * 16, 1, A, 8, A, [("atoms", A), ("edges", B)]),
    "log root": (b"s" * 16, 1, A, 9, B, [("atoms", A), ("edges", B)]),
    "roots swapped": (b"s" * 16, 1, A, 9, A, [("atoms", B), ("edges", A)]),
    "namespace gone": (b"s" * 16, 1, A, 9, A, [("atoms", A)]),
    "namespace renamed": (b"s" * 16, 1, A, 9, A, [("atoms", A), ("edgez", B)]),
}


@pytest.mark.parametrize("name", OTHER_STORES)
def test_the_overall_root_depends_on_every_field(name: str) -> None:
    """Changing any one field changes the overall root."""
    assert hashing.overall_root(*OTHER_STORES[name]) != hashing.overall_root(*OVERALL)


def test_the_namespaces_of_the_engine_are_in_the_order_of_the_overall_root() -> None:
    """`NAMESPACES` is in the order that `overall_root` requires."""
    pairs = [(name, A) for name in hashing.NAMESPACES]
    assert len(hashing.overall_root(bytes(16), 1, B, 0, A, pairs)) == 32
