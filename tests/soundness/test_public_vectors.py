"""The verifier agrees with published proofs for trees of the same construction: RFC 6962 and Fuel."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from engine.ledger.paged_tree import PagedTree
from engine.trust.proving.witnesses import open_tree
from proofs.errors import ProofError
from proofs.log import check_consistency, check_inclusion, leaf_hash
from proofs.smt import opening_root
from tests.ledger.support import SHA256_TREE, Rows, apply, leaves_after
from tests.proofs.test_vectors import NAMES, script
from tests.support.shared_data import needs

RFC6962 = "vectors/rfc6962/transparency-dev"
FUEL = "vectors/rfc6962/fuel-binary/binary_merkle_proofs.json"

DECIDED_OTHERWISE = {
    "consistency/additional/sizes-are-equal-one-and-proof-is-empty.json": "roots of 12 bytes: reject 39",
}
"""Vectors that are accepted there and refused here, with the reason."""


def files(kind: str) -> list[Path]:
    """Return the vectors of a kind."""
    return sorted((needs(RFC6962) / kind).rglob("*.json"))


def accepts(check: Callable[..., None], *given: object) -> bool:
    """Return True if a check passes; exceptions other than ProofError propagate."""
    try:
        check(*given)
    except ProofError:
        return False
    return True


def raw(text: str | None) -> bytes:
    """Return the bytes of a field."""
    return base64.b64decode(text or "")


def agrees(kind: str, vector: dict[str, Any]) -> bool:
    """Return True if the verdict is the published one."""
    path = [raw(one) for one in vector["proof"] or []]
    if kind == "inclusion":
        leaf, root = raw(vector["leafHash"]), raw(vector["root"])
        accepted = accepts(check_inclusion, vector["leafIdx"], vector["treeSize"], leaf, path, root)
    else:
        old, new = (vector["size1"], raw(vector["root1"])), (vector["size2"], raw(vector["root2"]))
        accepted = accepts(check_consistency, *old, *new, path)
    return accepted is not vector["wantErr"]


@pytest.mark.parametrize("kind", ["inclusion", "consistency"])
def test_verdicts_on_rfc_6962_are_the_public_ones(kind: str) -> None:
    """Each of the 98 vectors of a kind gets the published verdict, except those listed above."""
    other = [path for path in files(kind) if not agrees(kind, json.loads(path.read_text()))]
    names = {str(path.relative_to(needs(RFC6962))) for path in other}
    assert names == {name for name in DECIDED_OTHERWISE if name.startswith(kind)}
    assert len(files(kind)) == 98


@pytest.mark.parametrize("name", DECIDED_OTHERWISE)
def test_verdicts_that_differ_are_stricter(name: str) -> None:
    """Vectors whose verdict differs are refused here: the verifier is stricter."""
    assert json.loads((needs(RFC6962) / name).read_text())["wantErr"] is False


def test_verdicts_on_fuel_binary_proofs_are_the_public_ones() -> None:
    """The eight Fuel vectors for RFC 6962 trees, four of them invalid, get the published verdicts."""
    vectors = json.loads(needs(FUEL).read_text())["vectors"]
    for vector in vectors:
        path = [bytes.fromhex(one["value"]) for one in vector["proof_set"]]
        root, data = bytes.fromhex(vector["root"]["value"]), bytes.fromhex(vector["data"]["value"])
        given = vector["proof_index"], vector["num_leaves"], leaf_hash(data), path, root
        assert accepts(check_inclusion, *given) is vector["expected_verification"], vector["name"]
    assert len(vectors) == 8


@pytest.mark.parametrize("name", NAMES)
def test_openings_of_fuel_trees_lead_to_the_public_root(name: str) -> None:
    """With SHA-256, every key of a Fuel script's final tree opens to it, and other keys are absent."""
    steps, root = script(name)
    tree, rows = PagedTree("atoms", SHA256_TREE), Rows()
    for step in steps:
        apply(tree, rows, step)
    leaves = leaves_after(steps)
    absent = [sha256(b"absent %d" % number).digest() for number in range(20)]
    removed = [key for step in steps for key in step if key not in leaves]
    questions = [*([key] for key in [*leaves, *absent, *removed]), [*leaves, *absent, *removed]]
    for keys in questions:
        opening = open_tree(rows, "atoms", keys, SHA256_TREE)
        assert opening_root({key: leaves.get(key) for key in keys}, *opening, SHA256_TREE) == root


@pytest.mark.parametrize("name", NAMES)
def test_openings_of_fuel_trees_show_nothing_else(name: str) -> None:
    """No opening of a Fuel tree shows another value of a key, or the absence of an existing key."""
    steps, root = script(name)
    tree, rows = PagedTree("atoms", SHA256_TREE), Rows()
    for step in steps:
        apply(tree, rows, step)
    leaves = leaves_after(steps)
    for key in [*leaves, *(sha256(b"absent %d" % number).digest() for number in range(20))]:
        opening = open_tree(rows, "atoms", [key], SHA256_TREE)
        for said in {None, bytes(32), sha256(b"other").digest(), *leaves.values()} - {leaves.get(key)}:
            assert not accepts(_leads_to, {key: said}, opening.shape, opening.hashes, root)


def _leads_to(keys: dict[bytes, bytes | None], shape: bytes, hashes: bytes, root: bytes) -> None:
    if opening_root(keys, shape, hashes, SHA256_TREE) != root:
        raise ProofError("tree", "another root")
