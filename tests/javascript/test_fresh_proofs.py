"""The verifier in JavaScript accepts what the engine proves, and shows what the verifier in Python shows."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.commands import Add
from proofs.basis import Root
from tests.javascript.agreement import verdicts
from tests.reference.both import real_basis
from tests.reference.claims import Claim
from tests.soundness.wire import Asked
from tests.support.workloads import commands, id_of
from tests.trust.proving.support import every_claim, filled, log_head
from tests.vectors.stores import Made, engine_of, made, ticks
from tests.vectors.valid import claims_of, prove_one

pytestmark = pytest.mark.slow

EACH = 2
"""How many claims of each number and state are proved of a history, opened and sealed."""


def agreed(questions: list[Asked]) -> None:
    """State that both verifiers accept each proof and show the same."""
    for one in verdicts(questions):
        assert one.accepted, one
        assert one.agree, one


def test_every_claim_about_a_store_with_segments_is_accepted() -> None:
    """Proofs of all claims, of each alone and of all together, against the root and a log head."""
    with filled() as engine:
        claims = every_claim(engine)
        head, root = log_head(engine), Root(engine.store.identity.store_id, bytes.fromhex(engine.root().root))
        groups = [[claim] for claim in claims] + [claims[::-1]]
        proved = [
            Asked(engine.prove(group, checkpoint=None if basis is root else head).data, basis, group)
            for basis in (root, head)
            for group in groups
        ]
    assert {claim.number for claim in claims} == set(range(1, 18))
    agreed(proved)


def history(count: int, seed: int) -> Made:
    """Return a store after commands of all kinds, with further fields of an atom, and an erased atom."""
    name = f"javascript {count} {seed}"
    engine = engine_of(name, ticks())
    engine.apply(commands(count, seed))
    rich = Add(
        "Grüße aus Köln",
        id=id_of(10_000),
        tags=["Straße"],
        meta={"a": 1, "bb": -0.125, "c": True, "d": "", "e": -(2**53) + 1},
        aliases=["Gruss", "Κόλν"],
        folder="briefe",
    )
    engine.apply([rich], request=f"request {seed}", pipeline="tests 1")
    engine.erase(id_of(0), "asked for", probe=False)
    engine.checkpoint()
    engine.add("behind the checkpoint")
    return made(name, engine)


def some(claims: list[Claim], rng: Random) -> list[Claim]:
    """Return some claims of each number and state; those with a payload both opened and sealed."""
    groups: dict[tuple[int, int | None, bool], list[Claim]] = {}
    for number, subject, state, opened in sorted(claims, key=lambda claim: claim[:2]):
        groups.setdefault((number, state, opened), []).append((number, subject, state, opened))
    return [claim for group in groups.values() for claim in rng.sample(group, min(EACH, len(group)))]


@settings(max_examples=4)
@given(st.integers(3, 40), st.integers(0, 1 << 32))
@example(3, 0)
def test_claims_about_any_history_are_accepted(count: int, seed: int) -> None:
    """After any history, claims of all numbers and states are accepted, against the root and a log head."""
    store = history(count, seed)
    proved = []
    for kind in ("root", "log"):
        claims = some(claims_of(store, kind), Random(seed))
        for group in [*([claim] for claim in claims), claims]:
            one = prove_one(store, kind, group)
            proved.append(Asked(one.data, real_basis(one.basis), one.real_claims))
    agreed(proved)
