"""The named forgeries of `tests.soundness`, put to the verifier in JavaScript as well."""

from __future__ import annotations

from collections.abc import Iterator

import tests.soundness.all_rejects  # noqa: F401  fills the register
from proofs.errors import ProofError
from tests.javascript.agreement import Asked, verdicts
from tests.soundness.rejects import REJECTS
from tests.soundness.wire import basis_of, claim_of


def forgeries() -> Iterator[Asked]:
    """Give each named reject that is a proof, with a basis and claims that a verifier takes."""
    for make in REJECTS.values():
        for case in make():
            if case.call == "verify" and isinstance(case.given[0], bytes):
                data, basis, claims = case.given
                try:
                    yield Asked(data, basis_of(basis), [claim_of(claim) for claim in claims])
                except ProofError:
                    continue  # such a basis or claim cannot be made


def test_named_forgeries_are_refused() -> None:
    """Each is refused by both verifiers."""
    found = verdicts(forgeries())
    assert len(found) > 500
    for one in found:
        assert not one.accepted, one
        assert one.agree, one
