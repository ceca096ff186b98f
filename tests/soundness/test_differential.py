"""Two verifiers, written apart from each other from one page, give one verdict on every wrong proof."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

import pytest

import tests.soundness.all_rejects  # noqa: F401  fills the register
from proofs.basis import Basis, LogHead
from proofs.claims import AtomIs, Claim, EdgeIs, EventIs
from proofs.errors import ProofError
from proofs.verifier import verify
from tests.reference import claims as reference
from tests.reference.verifier import Refused, check
from tests.soundness.mutations import CLASSES, Attempt
from tests.soundness.rejects import REJECTS
from tests.soundness.support import items
from tests.soundness.test_mutations import seeds
from tests.soundness.wire import basis_of, claim_of

COUNT = 1_000
"""Attempts of each class."""


def plain_basis(basis: Basis) -> reference.Basis:
    """A basis as the other verifier takes it."""
    if isinstance(basis, LogHead):
        return "log", basis.store_id, basis.size, basis.root
    return "root", basis.store_id, basis.root, basis.size


def plain_claim(claim: Claim) -> reference.Claim:
    """A claim as the other verifier takes it."""
    state = int(claim.state) if isinstance(claim, (AtomIs, EdgeIs)) else None
    return claim.number, claim.subject, state, isinstance(claim, (AtomIs, EdgeIs, EventIs)) and claim.opened


def verdicts(data: Any, basis: Basis, claims: list[Claim]) -> tuple[bool, bool]:
    """Whether the one and the other accept."""
    try:
        verify(data, basis, claims)
        one = True
    except ProofError:
        one = False
    try:
        check(data, plain_basis(basis), [plain_claim(claim) for claim in claims])
        other = True
    except Refused:
        other = False
    return one, other


def agree(attempt: Attempt) -> None:
    """State that both give one verdict."""
    one, other = verdicts(attempt.data, attempt.basis, attempt.claims)
    assert one is other, (attempt.claims, attempt.basis, attempt.data.hex())


@pytest.mark.parametrize("name", CLASSES)
def test_both_agree_on_mutations(name: str) -> None:
    """On every class of wrong proofs both verdicts are the same."""
    for attempt in islice(CLASSES[name](seeds(), Random(f"both {name}")), COUNT):
        agree(attempt)


@pytest.mark.soak
@pytest.mark.parametrize("name", CLASSES)
def test_both_agree_on_mutations_in_the_long_run(name: str) -> None:
    """The same, many more times."""
    for attempt in islice(CLASSES[name](seeds(), Random(f"both, long {name}")), 40 * COUNT):
        agree(attempt)


@pytest.mark.parametrize("name", REJECTS)
def test_both_refuse_the_named_rejects(name: str) -> None:
    """Each whole proof of the named rejects that is bytes is refused by both."""
    for case in REJECTS[name]():
        if case.call == "verify" and isinstance(case.given[0], bytes):
            data, basis, claims = case.given
            try:
                asked = basis_of(basis), [claim_of(claim) for claim in claims]
            except ProofError:
                continue
            assert verdicts(data, *asked) == (False, False)


@pytest.mark.parametrize("atoms", [0, 1, 3, 24, 257])
def test_both_accept_honest_proofs(atoms: int) -> None:
    """Whatever is proved honestly, both take."""
    for item in items(atoms).values():
        claims = [claim_of(claim) for claim in item.claims]
        assert verdicts(item.data, basis_of(item.basis), claims) == (True, True), item.name
