"""The named rejects: 48 that any proof of this kind must refuse, and those of this format alone."""

from __future__ import annotations

import re
from functools import cache

import pytest

import tests.soundness.all_rejects  # noqa: F401  fills the register
from proofs.errors import REASONS
from tests.soundness.rejects import REJECTS, home
from tests.soundness.wire import Case, refusal, show


@cache
def cases(name: str) -> list[Case]:
    """The cases of a reject."""
    return list(REJECTS[name]())


@pytest.mark.parametrize("name", REJECTS)
def test_it_is_refused_for_its_reason(name: str) -> None:
    """Each case of the named reject is refused with ProofError, for the reason that the table gives it."""
    for number, case in enumerate(cases(name)):
        assert refusal(case.call, case.given) in case.reasons, f"case {number}: {case.given}"


def test_all_48_are_there() -> None:
    """Every number from 1 to 48 is the number of one reject."""
    numbers = [int(name[1:3]) for name in REJECTS if name.startswith("r")]
    assert sorted(numbers) == list(range(1, 49))


@pytest.mark.parametrize("name", REJECTS)
def test_each_says_what_is_refused(name: str) -> None:
    """A reject has a number, a docstring of a sentence, and a case at least; its reasons are in the table."""
    assert re.fullmatch(r"[rx]\d\d-[a-z0-9-]+", name)
    assert (REJECTS[name].__doc__ or "").rstrip().endswith(".")
    assert cases(name)
    assert {reason for case in cases(name) for reason in case.reasons} <= set(REASONS)


@pytest.mark.parametrize("name", home())
def test_what_they_are_made_from_is_accepted(name: str) -> None:
    """The honest proofs that the rejects change show what they claim."""
    item = home()[name]
    show(item.data, item.basis, item.claims)
