"""Of wrong proofs, both verifiers say the same: that in Python and that in JavaScript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from random import Random
from typing import Final

import pytest

from tests.javascript import odd_questions
from tests.javascript.agreement import verdicts
from tests.javascript.node import ask, question_of
from tests.soundness.questions import ENDLESS, LISTED, WITH_ACCEPTED, named_forgeries
from tests.soundness.wire import Asked
from tests.support.soak import seed, times

pytestmark = pytest.mark.slow

BATCH: Final = 20_000
"""How many questions one Node process is given at most."""
OTHER_REASON: Final = 0.05
"""The greatest share of refusals, if more than two, with two reasons: of two faults, either may be named."""
BASIS: Final = {"kind": "root", "store": "01" * 16, "size": None, "root": "00" * 32}
CLAIM: Final = {"number": 2, "subject": "01" * 16, "state": None, "opened": False}
OPEN: Final = {("root", "log-size"), ("form", "inclusion"), ("encoding", "form")}
"""The reason expected and that of JavaScript, where SPEC allows both."""


def agreed(questions: Iterable[Asked]) -> Counter[bool]:
    """Return how many proofs both verifiers refuse, and how many both accept.

    Raises:
        AssertionError: they disagree on a proof, or too often on the reason of a refusal.
    """
    counts, same = Counter[bool](), 0
    left = iter(questions)
    while batch := list(islice(left, BATCH)):
        for one in verdicts(batch):
            assert one.agree, (one.asked.data.hex(), one)
            counts[one.accepted] += 1
            same += not one.accepted and one.reasons[0] == one.reasons[1]
    assert counts[False] - same <= max(2, OTHER_REASON * counts[False])
    return counts


@pytest.mark.parametrize("name", ENDLESS)
def test_verifiers_agree_on_proofs_changed_at_random(name: str) -> None:
    """Of each kind of changed proofs some hundreds or more."""
    counts = agreed(islice(ENDLESS[name](Random(f"javascript {name}")), times(3_000)))
    assert counts.total() == times(3_000)
    assert name not in WITH_ACCEPTED or min(counts[False], counts[True]) > times(100)


@pytest.mark.parametrize("name", [name for name in LISTED if name != "named rejects"])
def test_verifiers_agree_on_chosen_proofs(name: str) -> None:
    """Honest proofs, and events whose fields have all types and bounds."""
    counts = agreed(LISTED[name]())
    assert counts[False] or name == "honest proofs"
    assert bool(counts[True]) is (name in WITH_ACCEPTED)


def test_named_forgeries_are_refused_for_their_reasons() -> None:
    """Each is refused for its reason, or for another one that SPEC allows."""
    cases = list(named_forgeries())
    assert len(cases) > 500
    for (case, _), one in zip(cases, verdicts(asked for _, asked in cases), strict=True):
        _, reason = one.reasons
        known = [(expected, reason) for expected in case.reasons]
        assert one.agree
        assert reason in case.reasons or OPEN.intersection(known), (case.reason, one)


def test_verifiers_agree_on_what_a_claim_is() -> None:
    """Subjects, states and payloads of claims are refused as `input` by both, or by neither."""
    claims = list(odd_questions.claim_questions())
    answers = ask(question_of(b"", BASIS, [claim]) for claim in claims)
    for claim, answer in zip(claims, answers, strict=True):
        assert (answer["reason"] != "input") == odd_questions.is_claim(claim), claim


def test_verifiers_agree_on_what_a_basis_is() -> None:
    """Bases of a wrong width or size are refused as `input` by both, and no others."""
    bases = list(odd_questions.basis_questions())
    answers = ask(question_of(b"", basis, [CLAIM]) for basis in bases)
    for basis, answer in zip(bases, answers, strict=True):
        assert (answer["reason"] != "input") == odd_questions.is_basis(basis), basis


@pytest.mark.soak
@pytest.mark.parametrize("number", range(2, 7))
@pytest.mark.parametrize("name", ENDLESS)
def test_verifiers_agree_on_many_changed_proofs(name: str, number: int) -> None:
    """The same, some ten thousands of each kind."""
    assert agreed(islice(ENDLESS[name](Random(f"{name} {seed(number)}")), 20_000)).total() == 20_000
