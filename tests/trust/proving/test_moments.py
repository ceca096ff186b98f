"""Proofs of the past, against checkpoints of any age, with earlier roots, and of large contents."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engine.base.errors import EngineError, InvalidInputError, NotFoundError, RefusedError
from engine.commands import Add, Tombstone
from engine.engine import Engine
from engine.trust.proving.prove import Proof
from proofs import limits
from proofs.basis import LogHead, Root
from proofs.claims import (
    AtomIs,
    AtomsTagged,
    BeginsWithRoot,
    Claim,
    EventIs,
    HasTag,
    LogBegins,
    NoAtom,
    NoneMentioning,
    RootRecorded,
)
from proofs.errors import ProofError
from proofs.leaves import State
from proofs.verified import LiveAtom, LogPrefix, TombstonedAtom
from proofs.verifier import verify
from tests.support.engines import BEGIN, engine_on
from tests.support.workloads import commands, id_of
from tests.trust.proving.support import log_head, raw_id

ATOM = AtomIs(raw_id(0))
SEALED = EventIs(0, opened=False)
HIDDEN = AtomIs(raw_id(0), State.TOMBSTONED)


def changed() -> tuple[Engine, LogHead, list[str]]:
    """Return a store, the log head of a checkpoint in it, and its overall root at every size from 1 on.

    After the checkpoint the first atom was tombstoned and another one was added.
    """
    engine = engine_on()
    roots: list[str] = [engine.root().root]
    for number in range(3):
        engine.add(f"atom {number}", id=id_of(number), tags=["red"])
        roots.append(engine.root().root)
    engine.checkpoint()
    roots.append(engine.root().root)
    head = log_head(engine)
    for command in (Tombstone(id_of(0)), Add("later", id=id_of(3))):
        engine.apply([command])
        roots.append(engine.root().root)
    return engine, head, roots


ENGINE, HEAD, ROOTS = changed()


def proved(claim: Claim, *, engine: Engine = ENGINE, head: LogHead | None = None) -> Proof:
    """Return a proof of one claim, after verifying it."""
    proof = engine.prove([claim], checkpoint=head)
    verify(proof.data, head or proof.basis, [claim])
    return proof


def test_as_of_proves_what_was_so_then() -> None:
    """As of an event, the proof is against the root of that size and no other."""
    for seq, root in enumerate(ROOTS):
        claim: Claim = NoAtom(raw_id(0)) if seq == 0 else HIDDEN if seq >= 5 else ATOM
        proof = ENGINE.prove([claim], as_of=seq)
        assert (proof.basis, proof.size) == (Root(HEAD.store_id, bytes.fromhex(root), seq + 1), seq + 1)
        assert proof.replayed == (seq + 1 if seq + 1 < len(ROOTS) else 0)
        verify(proof.data, proof.basis, [claim])
        for other in set(ROOTS) - {root}:
            with pytest.raises(ProofError, match="root"):
                verify(proof.data, Root(HEAD.store_id, bytes.fromhex(other)), [claim])


def test_as_of_the_end_is_as_of_now() -> None:
    """As of the last event, the bytes are those of a proof without a moment."""
    assert ENGINE.prove([HIDDEN], as_of=len(ROOTS) - 1).data == ENGINE.prove([HIDDEN]).data


def test_as_of_a_time() -> None:
    """A moment may be a time; before the first event nothing can be proved."""
    begin = datetime.fromtimestamp(BEGIN / 1e6, UTC)
    assert ENGINE.prove([NoAtom(raw_id(1))], as_of=begin + timedelta(seconds=1.5)).size == 2
    with pytest.raises(NotFoundError):
        ENGINE.prove([NoAtom(raw_id(1))], as_of=begin - timedelta(seconds=1))


@pytest.mark.parametrize("as_of", [len(ROOTS), -1])
def test_as_of_no_event_is_refused(as_of: int) -> None:
    """A moment after the last event, or before the first, is refused."""
    with pytest.raises(EngineError):
        ENGINE.prove([HIDDEN], as_of=as_of)


def test_a_checkpoint_at_the_head_replays_nothing() -> None:
    """If the last event is the checkpoint, nothing is replayed, and the state is the one before it."""
    engine = engine_on()
    engine.add("atom 0", id=id_of(0))
    engine.checkpoint()
    proof = proved(ATOM, engine=engine, head=log_head(engine))
    assert (proof.replayed, proof.size) == (0, 2)


def test_a_checkpoint_before_events_that_change_no_tree_replays_nothing() -> None:
    """If only a predicate and checkpoints followed, a proof against an older checkpoint replays nothing."""
    engine = engine_on()
    engine.add("atom 0", id=id_of(0))
    engine.checkpoint()
    head = log_head(engine)
    engine.register_type("listens_on")
    engine.checkpoint()
    assert proved(ATOM, engine=engine, head=head).replayed == 0


def test_a_checkpoint_before_a_change_shows_what_was_so_then() -> None:
    """After a change, events up to the checkpoint are replayed, and the changed atom is as it was."""
    proof = ENGINE.prove([ATOM], checkpoint=HEAD)
    (shown,) = verify(proof.data, HEAD, [ATOM])
    assert isinstance(shown, LiveAtom)
    assert proof.replayed == proof.size == HEAD.size - 1
    with pytest.raises(RefusedError, match="live, not tombstoned"):
        ENGINE.prove([HIDDEN], checkpoint=HEAD)
    (now,) = ENGINE.prove([HIDDEN]).shown
    assert isinstance(now, TombstonedAtom)


def test_a_checkpoint_far_back() -> None:
    """A proof against a checkpoint has the same bytes hundreds of events later."""
    engine = engine_on()
    engine.apply(commands(40, seed=21))
    engine.checkpoint()
    head = log_head(engine)
    claims: list[Claim] = [
        AtomsTagged("red"),
        NoneMentioning("unheard"),
        EventIs(7),
        LogBegins(1, _root(engine, 1)),
    ]
    then = engine.prove(claims, checkpoint=head)
    engine.apply(commands(900, seed=21)[40:])
    engine.checkpoint()
    later = engine.prove(claims, checkpoint=head)
    assert then.data == later.data
    assert (then.replayed, later.replayed) == (0, head.size - 1)
    assert verify(later.data, head, claims) == then.shown


def _root(engine: Engine, size: int) -> bytes:
    return log_head(engine, size).root


def test_a_log_head_without_a_checkpoint_shows_nothing() -> None:
    """If the last event is not a checkpoint, the store of the log is not known, so no claim can be proved."""
    head = log_head(ENGINE)
    for claim in (HIDDEN, SEALED, LogBegins(HEAD.size, HEAD.root), RootRecorded(bytes.fromhex(ROOTS[3]))):
        with pytest.raises(RefusedError, match="not a checkpoint"):
            ENGINE.prove([claim], checkpoint=head)


WRONG = {
    "of another store": replace(HEAD, store_id=bytes(16)),
    "of another log": replace(HEAD, root=bytes(32)),
    "newer than the store": replace(HEAD, size=len(ROOTS) + 1),
    "of another size": replace(HEAD, size=HEAD.size - 1),
}


@pytest.mark.parametrize("head", WRONG.values(), ids=list(WRONG))
@pytest.mark.parametrize("claim", [ATOM, SEALED])
def test_a_checkpoint_of_something_else_is_refused(claim: Claim, head: LogHead) -> None:
    """A note of another store, of another log, or newer than the store is refused."""
    with pytest.raises(RefusedError):
        ENGINE.prove([claim], checkpoint=head)


def test_a_checkpoint_and_a_moment_exclude_each_other() -> None:
    """A checkpoint together with a moment is refused before anything is read."""
    with pytest.raises(InvalidInputError):
        ENGINE.prove([ATOM], checkpoint=HEAD, as_of=1)


@pytest.mark.parametrize("size", range(1, len(ROOTS) + 1))
def test_an_earlier_root_is_shown_by_its_size(size: int) -> None:
    """`prefix-root ROOT SIZE` proves that the log begins with the log of any earlier root."""
    proof = ENGINE.prove([["prefix-root", ROOTS[size - 1], str(size)]])
    (shown,) = verify(proof.data, proof.basis, [BeginsWithRoot(bytes.fromhex(ROOTS[size - 1]))])
    assert isinstance(shown, LogPrefix)
    assert (shown.size, shown.into) == (size, len(ROOTS))


def test_an_earlier_root_in_a_checkpoint_needs_no_size() -> None:
    """The root in a checkpoint, and the present one, need no size; other earlier roots do."""
    found = [bool(_found(["prefix-root", root])) for root in ROOTS]
    assert found == [False, False, False, True, False, False, True]


def _found(words: list[str]) -> Proof | None:
    try:
        return ENGINE.prove([words])
    except NotFoundError:
        return None


@pytest.mark.parametrize("size", ["1", "3", str(len(ROOTS))])
def test_an_earlier_root_of_another_size_is_refused(size: str) -> None:
    """An earlier root with the wrong size is refused."""
    with pytest.raises(RefusedError):
        ENGINE.prove([["prefix-root", ROOTS[1], size]])


@pytest.mark.parametrize("size", ["0", str(len(ROOTS) + 1), "x", "-1", "01", str(1 << 80)])
def test_a_size_that_the_log_never_had_is_refused(size: str) -> None:
    """A size that is 0, beyond the log or not a number is refused."""
    with pytest.raises(InvalidInputError):
        ENGINE.prove([["prefix-root", ROOTS[1], size]])


def test_a_large_content_opened_and_sealed() -> None:
    """The largest content has an opened proof of more than 64 KiB with all of it, and a small sealed one."""
    engine, text = engine_on(), "è" * (limits.CONTENT_BYTES_MAX // 2)
    engine.add(text, id=id_of(0))
    for claim in (ATOM, EventIs(1)):
        proof = proved(claim, engine=engine)
        assert len(proof.data) > limits.CONTENT_BYTES_MAX > limits.PROOF_BYTES_MAX
        assert getattr(proof.shown[0], "body").content == text  # noqa: B009  two types of facts have it
    for sealed in (AtomIs(raw_id(0), opened=False), EventIs(1, opened=False)):
        assert len(proved(sealed, engine=engine).data) < 1000


def test_a_proof_that_would_be_too_large_is_refused() -> None:
    """Seventeen of the largest contents in one proof (over 16 MiB) are refused, and each alone is not."""
    engine = engine_on()
    claims = [AtomIs(raw_id(number)) for number in range(17)]
    for number in range(17):
        engine.add(f"{number:02}" * (limits.CONTENT_BYTES_MAX // 2), id=id_of(number))
    with pytest.raises(RefusedError, match="too large: 17,"):
        engine.prove(claims)
    assert len(engine.prove(claims[:15]).data) < limits.BUNDLE_BYTES_MAX


@pytest.mark.parametrize("claims", [[], [ATOM, ATOM], [HasTag(raw_id(1), "red"), ["tag", id_of(1), "#RED"]]])
def test_no_claims_or_one_twice_are_refused(claims: list[object]) -> None:
    """No claims, or the same claim twice in any words, are refused."""
    with pytest.raises(InvalidInputError):
        ENGINE.prove(claims)  # type: ignore[arg-type]  # what a caller might pass


@pytest.mark.parametrize("claims", [None, 5, "atom", [5], [None], ["atom"], [b"x"], [[]], [[1, 2]], ATOM])
def test_what_is_no_list_of_claims_is_refused(claims: object) -> None:
    """Anything but claims or their words is an InvalidInputError."""
    with pytest.raises(InvalidInputError):
        ENGINE.prove(claims)  # type: ignore[arg-type]
