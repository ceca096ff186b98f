"""The second verifier (`tests/reference`) agrees about the named rejects and the honest proofs."""

from __future__ import annotations

import pytest

import tests.soundness.all_rejects  # noqa: F401  fills the register
from proofs.basis import Basis
from proofs.claims import Claim
from proofs.errors import ProofError
from tests.reference.both import Answers, ask, reference_basis, reference_claim
from tests.soundness.rejects import REJECTS
from tests.soundness.support import items
from tests.soundness.wire import basis_of, claim_of

pytestmark = pytest.mark.slow


def answers_to(data: bytes, basis: Basis, claims: list[Claim]) -> Answers:
    """Return the answers of both verifiers."""
    return ask(data, reference_basis(basis), [reference_claim(claim) for claim in claims])


@pytest.mark.parametrize("name", REJECTS)
def test_both_refuse_the_named_rejects(name: str) -> None:
    """Both verifiers refuse each named reject that is a whole proof."""
    for case in REJECTS[name]():
        if case.call == "verify" and isinstance(case.given[0], bytes):
            data, basis, claims = case.given
            try:
                asked = basis_of(basis), [claim_of(claim) for claim in claims]
            except ProofError:
                continue  # invalid claims, for which there is no proof
            answers = answers_to(data, *asked)
            assert answers.agree
            assert isinstance(answers.real, str)


@pytest.mark.parametrize("atoms", [0, 1, 3, 24, 257])
def test_both_accept_honest_proofs(atoms: int) -> None:
    """Both verifiers accept each honest proof and show the same."""
    for item in items(atoms).values():
        answers = answers_to(item.data, basis_of(item.basis), [claim_of(claim) for claim in item.claims])
        assert answers.agree
        assert not isinstance(answers.real, str), item.name
