"""The named rejects: 48 that any verifier of such proofs must refuse, and those of this format."""

from __future__ import annotations

import re
from functools import cache

import pytest

import tests.soundness.all_rejects  # noqa: F401  fills the register
from proofs.errors import REASONS
from tests.soundness.rejects import REJECTS, home
from tests.soundness.wire import Case, refusal, show

pytestmark = pytest.mark.slow


@cache
def cases(name: str) -> list[Case]:
    """Return the cases of a reject."""
    return list(REJECTS[name]())


@pytest.mark.parametrize("name", REJECTS)
def test_cases_are_refused_with_their_reasons(name: str) -> None:
    """Each case of a named reject is refused with ProofError, with the reason in its table entry."""
    for number, case in enumerate(cases(name)):
        assert refusal(case.call, case.given) in case.reasons, f"case {number}: {case.given}"


def test_all_48_numbers_are_registered() -> None:
    """Every number from 1 to 48 belongs to exactly one reject."""
    numbers = [int(name[1:3]) for name in REJECTS if name.startswith("r")]
    assert sorted(numbers) == list(range(1, 49))


@pytest.mark.parametrize("name", REJECTS)
def test_each_reject_is_complete(name: str) -> None:
    """A reject has a number, a docstring of one sentence, at least one case, and known reasons."""
    assert re.fullmatch(r"[rx]\d\d-[a-z0-9-]+", name)
    assert (REJECTS[name].__doc__ or "").rstrip().endswith(".")
    assert cases(name)
    assert {reason for case in cases(name) for reason in case.reasons} <= set(REASONS)


@pytest.mark.parametrize("name", home())
def test_the_honest_proofs_are_accepted(name: str) -> None:
    """The verifier accepts the honest proofs from which the rejects are made."""
    item = home()[name]
    show(item.data, item.basis, item.claims)
