"""Tests with Fuel's public sparse Merkle tree scripts, which use SHA-256, on the code for BLAKE3."""

import json
from hashlib import sha256

import pytest

from engine.ledger.paged_tree import PagedTree
from proofs import smt
from tests.ledger.support import SHA256_TREE, Rows, apply, leaves_after
from tests.support.shared_data import needs

NAMES = [
    "Test Delete Non-existent Key",
    "Test Delete Sparse Union",
    "Test Empty Root",
    "Test Interleaved Update Delete",
    "Test Update 1 Delete 1",
    "Test Update 1",
    "Test Update 10 Delete 5",
    "Test Update 10",
    "Test Update 100",
    "Test Update 2 Delete 1",
    "Test Update 2",
    "Test Update 3",
    "Test Update 5",
    "Test Update Overwrite Key",
    "Test Update Sparse Union",
    "Test Update Union",
    "Test Update With Empty Data Performs Delete",
    "Test Update With Empty Data",
    "Test Update With Repeated Inputs",
]
"""The names of all vectors, listed so that a missing or renamed one is noticed."""


def script(name: str) -> tuple[list[dict[bytes, bytes | None]], bytes]:
    """Return the steps of a vector, one change each, and its final root; empty data means a removal."""
    vectors = json.loads(needs("vectors/smt/fuel-sha256/sparse_merkle_tree.json").read_text())["vectors"]
    vector = next(vector for vector in vectors if vector["name"] == name)
    steps: list[dict[bytes, bytes | None]] = []
    for step in vector["steps"]:
        data = step["data"]["value"].encode() if step["action"] == "update" else b""
        steps.append({bytes.fromhex(step["key"]["value"]): sha256(data).digest() if data else None})
    return steps, bytes.fromhex(vector["expected_root"]["value"])


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_gives_the_public_root(name: str) -> None:
    """`smt.root_of` over the final leaves of a script is the root that Fuel publishes."""
    steps, root = script(name)
    assert smt.root_of(leaves_after(steps), SHA256_TREE) == root


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_tree_gives_the_public_root(name: str) -> None:
    """A PagedTree that applies one step per batch ends at the root that Fuel publishes."""
    steps, root = script(name)
    tree, rows = PagedTree("atoms", SHA256_TREE), Rows()
    for step in steps:
        apply(tree, rows, step)
    assert tree.root(rows) == root


def test_every_public_script_is_run() -> None:
    """The list above is the whole vector file."""
    vectors = json.loads(needs("vectors/smt/fuel-sha256/sparse_merkle_tree.json").read_text())["vectors"]
    assert [vector["name"] for vector in vectors] == NAMES
