"""Proofs before and after an erasure."""

from __future__ import annotations

from uuid import UUID

import pytest

from engine.base.errors import RefusedError
from engine.engine import Engine
from proofs.basis import LogHead, Root
from proofs.claims import (
    AtomIs,
    AtomsMentioning,
    AtomsTagged,
    Claim,
    EdgeIs,
    EventIs,
    HasTag,
    LacksTag,
    LogBegins,
    NoneMentioning,
    NoneTagged,
)
from proofs.leaves import State
from proofs.verified import ErasedAtom, ErasedEdge
from proofs.verifier import verify
from tests.erase.support import small
from tests.support.workloads import id_of

ONE, TWO, THREE = (UUID(id_of(number)).bytes for number in (1, 2, 3))
REFERENCES, PART_OF = b"\x06", b"\x05"


@pytest.fixture(name="engine")
def _engine() -> Engine:
    """Return the small history without erasures."""
    return small()


def proved(engine: Engine, *claims: Claim, checkpoint: LogHead | None = None) -> tuple[object, ...]:
    """Verify a proof of these claims without the store, and return what it shows."""
    proof = engine.prove(claims, checkpoint=checkpoint)
    return verify(proof.data, proof.basis, list(claims))


def test_proofs_of_before_stand(engine: Engine) -> None:
    """A proof with disclosed content from before the erasure still verifies against its root."""
    claims: list[Claim] = [
        AtomIs(ONE, State.LIVE, opened=True),
        HasTag(ONE, "secret"),
        AtomsMentioning("passport"),
        EdgeIs(ONE, REFERENCES, TWO, State.LIVE, opened=True),
    ]
    proof = engine.prove(claims)
    engine.erase(id_of(1), "asked for")
    shown = verify(proof.data, proof.basis, claims)
    assert "passport" in shown[0].body.content  # type: ignore[union-attr]


def test_an_erased_atom_is_proved_to_be(engine: Engine) -> None:
    """The state and numbers of an erased atom and of its edges can be proved against the root."""
    engine.erase(id_of(1), "asked for")
    atom, edge, other = proved(
        engine,
        AtomIs(ONE, State.ERASED, opened=False),
        EdgeIs(ONE, REFERENCES, TWO, State.ERASED, opened=False),
        EdgeIs(THREE, PART_OF, ONE, State.ERASED, opened=False),
    )
    assert isinstance(atom, ErasedAtom)
    assert isinstance(edge, ErasedEdge)
    assert isinstance(other, ErasedEdge)
    assert atom.value.last_seq == engine.size - 1


def test_after_it_nobody_has_its_words_and_tags(engine: Engine) -> None:
    """It can be proved that no live atom has its terms or unique tags, and lists of live atoms exclude it."""
    engine.erase(id_of(1), "asked for")
    shown = proved(
        engine,
        NoneMentioning("passport"),
        NoneMentioning("quillfeath"),
        NoneTagged("secret"),
        AtomsTagged("paper"),
        AtomsMentioning("kettl"),
    )
    assert [[atom.id for atom in found.atoms] for found in shown[-2:]] == [[TWO], [TWO]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "claim",
    [
        AtomIs(ONE, State.LIVE, opened=False),
        AtomIs(ONE, State.TOMBSTONED, opened=False),
        HasTag(ONE, "secret"),
        LacksTag(ONE, "secret"),
        AtomsMentioning("passport"),
        AtomsTagged("secret"),
        EdgeIs(ONE, REFERENCES, TWO, State.LIVE, opened=False),
        EventIs(1, opened=True),
    ],
    ids=lambda claim: type(claim).__name__,
)
def test_what_does_not_hold_is_refused(engine: Engine, claim: Claim) -> None:
    """Claims about the presence, tags or content of an erased atom are refused with a reason."""
    engine.erase(id_of(1), "asked for")
    with pytest.raises(RefusedError):
        engine.prove([claim])


def test_its_events_are_in_the_log_still(engine: Engine) -> None:
    """All events of an erased atom can be proved sealed, and the erasing event can be disclosed."""
    engine.erase(id_of(1), "asked for")
    items = engine.history(id_of(1))
    shown = proved(
        engine, *(EventIs(item.seq, opened=False) for item in items[:-1]), EventIs(items[-1].seq, opened=True)
    )
    assert [found.header.commitment.hex() for found in shown] == [item.event_id for item in items]  # type: ignore[attr-defined]
    assert shown[-1].body.reason == "asked for"  # type: ignore[attr-defined]


def test_the_log_continues_the_one_of_before(engine: Engine) -> None:
    """A log head noted before the erasure is a prefix of the log after it."""
    root = engine.root()
    engine.erase(id_of(1), "asked for")
    proved(engine, LogBegins(root.size, bytes.fromhex(root.log_root)))


def test_against_a_checkpoint_of_before(engine: Engine) -> None:
    """States at an earlier checkpoint can be proved from headers; contents, tags and terms cannot."""
    note = engine.checkpoint_note()
    engine.erase(id_of(1), "asked for")
    head = LogHead.of(note.note)
    live, edge = proved(
        engine,
        AtomIs(ONE, State.LIVE, opened=False),
        EdgeIs(ONE, REFERENCES, TWO, State.LIVE, opened=False),
        checkpoint=head,
    )
    assert live.value.version == 2  # type: ignore[attr-defined]
    assert edge is not None
    proved(engine, AtomIs(TWO, State.LIVE, opened=True), checkpoint=head)
    for claim in (AtomIs(ONE, State.LIVE, opened=True), HasTag(TWO, "paper"), NoneMentioning("zebra")):
        with pytest.raises(RefusedError, match="erased"):
            engine.prove([claim], checkpoint=head)
    later = LogHead.of(engine.checkpoint_note().note)
    engine.add("later")
    proved(engine, HasTag(TWO, "paper"), NoneMentioning("passport"), checkpoint=later)


def test_against_a_past_root(engine: Engine) -> None:
    """`as_of` refuses to prove claims about a time whose root cannot be recomputed."""
    root = engine.root()
    engine.erase(id_of(1), "asked for")
    with pytest.raises(RefusedError, match="cannot be recomputed"):
        engine.prove([AtomIs(TWO, State.LIVE, opened=False)], as_of=root.size - 1)


def test_nobody_can_prove_an_erased_atom_live(engine: Engine) -> None:
    """A proof of the live atom is refused against the root after the erasure."""
    claims = [AtomIs(ONE, State.LIVE, opened=True)]
    old = engine.prove(claims)
    engine.erase(id_of(1), "asked for")
    root = engine.root()
    basis = Root(engine.store.identity.store_id, bytes.fromhex(root.root), root.size)
    from proofs.errors import ProofError

    with pytest.raises(ProofError):
        verify(old.data, basis, claims)
