"""Of wrong proofs, both verifiers say the same: that in Python and that in JavaScript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from random import Random
from typing import Final

import pytest

from proofs.basis import Root
from tests.javascript import forged_events, odd_questions
from tests.javascript.agreement import Asked, verdicts
from tests.javascript.forged_links import links
from tests.javascript.node import ask, question_of
from tests.reference.both import real_claim
from tests.reference.forged import forged_roots
from tests.soundness.mutations import CLASSES, Seed, seeds_of
from tests.soundness.support import items
from tests.support.soak import seed, times

pytestmark = pytest.mark.slow

STORES: Final = ((0, 0), (3, 0), (24, 0), (24, 1), (257, 0))
"""Atoms and number of each store whose proofs are changed."""
BATCH: Final = 20_000
"""How many questions one Node process is given at most."""
SAME_REASON: Final = 0.95
"""The least share of refusals with the same reason: of two faults in one proof, either may be named."""
ODD: Final[dict[str, Callable[[], Iterator[Asked]]]] = {
    "bodies": forged_events.odd_bodies,
    "further fields": forged_events.odd_further_fields,
    "meta": forged_events.odd_metas,
    "large bodies": forged_events.large_bodies,
    "headers": forged_events.odd_headers,
}
BASIS: Final = {"kind": "root", "store": "01" * 16, "size": None, "root": "00" * 32}
CLAIM: Final = {"number": 2, "subject": "01" * 16, "state": None, "opened": False}


@cache
def seeds() -> list[Seed]:
    """Return honest proofs of every claim, against both bases."""
    return seeds_of([item for store in STORES for item in items(*store).values()])


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
    assert same >= SAME_REASON * counts[False]
    return counts


def changed_proofs(name: str, number: int) -> Iterator[Asked]:
    """Give proofs of a class of `tests.soundness`, changed at random."""
    for attempt in CLASSES[name](seeds(), Random(f"javascript {name} {number}")):
        yield Asked(attempt.data, attempt.basis, attempt.claims)


def forged_proofs(rng: Random) -> Iterator[Asked]:
    """Yield changed proofs, each with an overall root that is recomputed to match."""
    for data, store_id, root, claims in forged_roots(rng):
        yield Asked(data, Root.of(store_id.hex(), root.hex()), [real_claim(*claim) for claim in claims])


@pytest.mark.parametrize("name", CLASSES)
def test_verifiers_agree_on_changed_proofs(name: str) -> None:
    """Of each class of changed proofs some hundreds or more."""
    count = times(3_000)
    assert agreed(islice(changed_proofs(name, 1), count)).total() == count


def test_verifiers_agree_where_the_root_fits() -> None:
    """Where all hashes were made to fit what was changed, some proofs are accepted, by both."""
    counts = agreed(islice(forged_proofs(Random(1)), times(4_000)))
    assert min(counts[False], counts[True]) > times(500)


@pytest.mark.parametrize("name", ODD)
def test_verifiers_agree_on_the_forms_of_events(name: str) -> None:
    """Fields of events have the same types and bounds for both verifiers."""
    counts = agreed(ODD[name]())
    assert counts[False]
    assert counts[True]


def test_verifiers_agree_on_links_to_the_last_event() -> None:
    """A link is accepted if it is the last event and a checkpoint of the opening; all others are refused."""
    found = verdicts(links())
    assert [one for one in found if not one.agree] == []
    assert sum(one.accepted for one in found) == 2


def test_verifiers_agree_on_events_changed_at_random() -> None:
    """Events with several odd fields, in another form, or with changed bytes."""
    counts = agreed(islice(forged_events.random_events(Random(1)), times(3_000)))
    assert min(counts[False], counts[True]) > times(300)


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
@pytest.mark.parametrize("name", CLASSES)
def test_verifiers_agree_on_many_changed_proofs(name: str, number: int) -> None:
    """The same, some ten thousands of each class."""
    assert agreed(islice(changed_proofs(name, seed(number)), 20_000)).total() == 20_000


@pytest.mark.soak
@pytest.mark.parametrize("number", range(2, 12))
def test_verifiers_agree_on_many_forgeries(number: int) -> None:
    """Some ten thousands of proofs with a root that fits, and of changed events."""
    agreed(islice(forged_proofs(Random(seed(number))), 20_000))
    agreed(islice(forged_events.random_events(Random(seed(number))), 20_000))
