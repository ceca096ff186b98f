"""The proofs that SPEC.md prints are what the engine makes, and what both verifiers take."""

from __future__ import annotations

from uuid import UUID

import pytest

from proofs.basis import LogHead
from proofs.verifier import verify
from tests.reference.verifier import Basis, check
from tests.spec_page import example_values
from tests.vectors.example import example_memory

EXAMPLE = example_values()
FIRST = UUID(hex=EXAMPLE["id first"])
HEAD = LogHead(b"\x11" * 16, 6, bytes.fromhex(EXAMPLE["root log"]))
OVERALL: Basis = ("root", HEAD.store_id, bytes.fromhex(EXAMPLE["root overall"]), 6)
LOG: Basis = ("log", HEAD.store_id, HEAD.size, HEAD.root)

Plain = tuple[int, bytes, int | None, bool]

PROOFS: dict[str, tuple[list[str], Basis, Plain]] = {
    "atom": (["atom", str(FIRST), "sealed"], OVERALL, (1, FIRST.bytes, 0, False)),
    "no-term": (["no-term", "kettl"], OVERALL, (10, b"kettl", None, False)),
    "term": (["term", "daemon"], OVERALL, (9, b"daemon", None, False)),
    "no-tag": (["no-tag", str(FIRST), "kitchen"], LOG, (6, FIRST.bytes + b"kitchen", None, False)),
}
"""Of each proof on the page: its claim in words, its basis, and its claim as the page defines it."""


@pytest.mark.parametrize("name", PROOFS)
def test_the_proofs_of_the_page_are_made_and_taken(name: str) -> None:
    """The engine proves the page's claims by the page's bytes, and both verifiers accept them."""
    words, basis, claim = PROOFS[name]
    raw = bytes.fromhex(EXAMPLE[f"proof {name}"])
    with example_memory() as memory:
        proof = memory.prove([words], checkpoint=HEAD if basis is LOG else None)
    assert proof.data == raw
    assert verify(raw, proof.basis, proof.claims) == proof.shown
    assert check(raw, basis, [claim])
