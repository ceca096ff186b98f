"""Two verifiers, two provers and two computations of the roots agree on all inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine.engine import Engine
from engine.ledger.journal import read_log, read_raw
from engine.store.past import past_store
from engine.text.analyzer import STOP_WORDS, index_terms
from engine.trust.proving.prove import prove_present, prove_to
from proofs.basis import LogHead
from tests.reference import claims as c
from tests.reference.both import ask, real_claim, reference_basis, reference_claim
from tests.reference.build import build, log_leaves
from tests.reference.cbor import read, write
from tests.reference.claims import Basis, Claim
from tests.reference.reroot import rerooted
from tests.reference.truths import of_log, of_state
from tests.reference.world import World, mth, world
from tests.soundness.questions import ENDLESS, LISTED, WITH_ACCEPTED
from tests.soundness.support import items
from tests.soundness.wire import Asked, basis_of, claim_of
from tests.spec.spec_naive import Rows, all_roots
from tests.support.engines import salt_of, ticking
from tests.support.soak import seed as fresh
from tests.support.soak import times
from tests.support.workloads import commands

pytestmark = pytest.mark.slow

STOP = frozenset(STOP_WORDS)


def agreed(questions: Iterable[Asked]) -> Counter[bool]:
    """Return how many proofs both verifiers refuse, and how many both accept.

    Raises:
        AssertionError: only one verifier accepts a proof, or the verifiers show different facts.
    """
    counts = Counter[bool]()
    for data, basis, claims in questions:
        answers = ask(data, reference_basis(basis), [reference_claim(claim) for claim in claims])
        assert answers.agree, f"{answers}\n{data.hex()}\n{basis}\n{claims}"
        counts[not isinstance(answers.real, str)] += 1
    return counts


@pytest.mark.parametrize("name", ENDLESS)
def test_verifiers_agree_on_proofs_changed_at_random(name: str) -> None:
    """Both verifiers agree on several hundred changed proofs of each kind."""
    counts = agreed(islice(ENDLESS[name](Random(f"differential {name}")), times(3_000)))
    assert counts[False] > times(500)
    assert name not in WITH_ACCEPTED or counts[True] > times(100)


@pytest.mark.parametrize("name", LISTED)
def test_verifiers_agree_on_chosen_proofs(name: str) -> None:
    """Both verifiers agree on honest proofs, on named rejects, and on all forms of events."""
    counts = agreed(LISTED[name]())
    assert counts[False] or name == "honest proofs"
    assert bool(counts[True]) is (name in WITH_ACCEPTED)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("name", ENDLESS)
def test_verifiers_agree_on_many_changed_proofs(name: str, seed: int) -> None:
    """Both verifiers agree on several ten thousand changed proofs of each kind."""
    assert agreed(islice(ENDLESS[name](Random(f"{name} {fresh(seed)}")), 20_000))[False]


def test_an_edge_with_an_ordinal_is_refused() -> None:
    """A value of an edge with an ordinal is refused, even if the root commits to it."""
    item = items(3)["edge@root"]
    claims = [reference_claim(claim_of(claim)) for claim in item.claims]
    store_id = basis_of(item.basis).store_id
    parts: Any = read(item.data)
    value: Any = read(parts[9][0][1])
    parts[9][0][1] = write([value[0], 1, *value[2:]])
    basis: Basis = ("root", store_id, rerooted(parts, store_id, claims), None)
    assert ask(write(parts), basis, claims) == ("value", "value")


def engine_of(count: int, seed: int) -> Engine:
    """Return an engine after commands of all kinds, a checkpoint and one more command."""
    engine = Engine(MemoryBackend(), clock=ticking(), salts=salt_of)
    engine.apply(commands(count, seed))
    engine.checkpoint()
    engine.add("behind the checkpoint")
    return engine


def rows_of(engine: Engine) -> Rows:
    """Return the journal of an engine."""
    rows = engine.store.backend
    return [(event.header, event.payload) for event in read_raw(rows, 0, read_log(rows).size, 1 << 40)]


def some(claims: list[Claim], rng: Random) -> list[Claim]:
    """Return one or two claims of each number, in random order."""
    found: list[Claim] = []
    for number in range(1, 15):
        own = sorted((one for one in claims if one[0] == number), key=lambda one: one[:2])
        found += rng.sample(own, min(len(own), 2))
    rng.shuffle(found)
    return found


@settings(max_examples=12, deadline=None)
@given(st.integers(3, 40), st.integers(0, 1 << 32))
def test_provers_make_the_same_bytes(count: int, seed: int) -> None:
    """The engine and the naive builder make the same proofs of one or more claims, against both bases."""
    engine, rng = engine_of(count, seed), Random(seed)
    rows = rows_of(engine)
    worlds: dict[int, World] = {
        size: world(rows[:size], index_terms, STOP) for size in (len(rows) - 2, len(rows))
    }
    sizes = {one.roots["overall"]: size for size, one in worlds.items()}
    head = LogHead(engine.store.identity.store_id, len(rows) - 1, mth(log_leaves(rows[:-1])))
    for log, at in ((rows, worlds[len(rows)]), (rows[:-1], worlds[len(rows) - 2])):
        asked = some(of_state(at) + of_log(worlds, log), rng)
        known_edges = at.values["edges"]
        asked = [one for one in asked if one[0] != c.NO_EDGE or one[1] not in known_edges]
        for claims in [*([one] for one in asked), asked]:
            real = [real_claim(*one) for one in claims]
            store = engine.store
            proof = (
                prove_present(store, real, sizes=sizes)
                if log is rows
                else prove_to(store, real, head, sizes=sizes)
            )
            assert proof.data == build(log, reference_basis(proof.basis), claims, worlds)


@settings(max_examples=12, deadline=None)
@given(st.integers(3, 25), st.integers(0, 1 << 32))
def test_roots_are_the_same_at_every_seq(count: int, seed: int) -> None:
    """The engine's roots after each event are the roots that the rules of SPEC give."""
    engine = engine_of(count, seed)
    rows = rows_of(engine)
    for size in range(1, len(rows) + 1):
        with past_store(engine.store.backend, size) as store, store.view(*store.followers) as at:
            shown = store.roots(at).as_checkpoint()
        found = all_roots(rows[:size], index_terms, STOP)
        expected = {"log": shown.log_root, "overall": shown.root, **shown.namespaces}
        assert {name: root.hex() for name, root in found.items()} == expected
