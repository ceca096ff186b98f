"""The named forgeries of `tests.soundness`, put to the verifier in JavaScript as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

import tests.soundness.all_rejects  # noqa: F401  fills the register
from proofs.errors import ProofError
from tests.javascript.agreement import Asked, verdicts
from tests.soundness.rejects import REJECTS
from tests.soundness.wire import Case, basis_of, claim_of

pytestmark = pytest.mark.slow

OPEN: Final = {("root", "log-size"), ("form", "inclusion"), ("encoding", "form")}
"""The reason expected and that of JavaScript, where SPEC allows both."""


def forgeries() -> Iterator[tuple[Case, Asked]]:
    """Give each named reject that is a proof, with a basis and claims that a verifier takes."""
    for make in REJECTS.values():
        for case in make():
            if case.call == "verify" and isinstance(case.given[0], bytes):
                data, basis, claims = case.given
                try:
                    yield case, Asked(data, basis_of(basis), [claim_of(claim) for claim in claims])
                except ProofError:
                    continue  # such a basis or claim cannot be made


def test_named_forgeries_are_refused() -> None:
    """Each is refused for its reason, or for another one that SPEC allows."""
    cases = list(forgeries())
    assert len(cases) > 500
    for (case, _), one in zip(cases, verdicts(asked for _, asked in cases), strict=True):
        _, reason = one.reasons
        known = [(expected, reason) for expected in case.reasons]
        assert reason in case.reasons or OPEN.intersection(known), (case.reason, one)
