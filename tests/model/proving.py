"""The stateful machine, of which anything may be claimed at any time."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from engine.base.errors import NotFoundError, RefusedError
from proofs import claims as kinds
from proofs.basis import Basis, LogHead, Root
from proofs.claims import Claim
from proofs.events import AtomBody, EdgeBody
from proofs.leaves import Value
from proofs.log import leaf_hash
from proofs.log import root_of as log_root_of
from proofs.verified import (
    AllMentioning,
    AllTagged,
    LiveAtom,
    LiveEdge,
    LoggedEvent,
    Tagged,
    TombstonedAtom,
    TombstonedEdge,
    Untagged,
    Verified,
)
from proofs.verifier import verify
from tests.model.claims import DRAWN, Drawn, claim_of, everything, holds, mentioning, tagged
from tests.model.machine import EngineMachine
from tests.model.reference import CHECKED, Reference, Subject


class ProvingMachine(EngineMachine):
    """What is so by the reference is proved and verified, and what is not is refused."""

    @rule(drawn=st.lists(DRAWN, min_size=1, max_size=6))
    def claimed(self, drawn: list[Drawn]) -> None:
        """Some claims one by one, and together those that hold, against the root that the reference has."""
        basis = Root(self.model.store_id, self.model.root(), len(self.model.headers))
        proved = [claim for claim in self.claims(drawn) if self.settled(claim, basis, None)]
        if proved:
            proof = self.engine.prove(proved)
            assert [shown.claim for shown in verify(proof.data, basis, proved)] == proved

    @rule(drawn=st.lists(DRAWN, min_size=1, max_size=6))
    def claimed_at_a_checkpoint(self, drawn: list[Drawn]) -> None:
        """As above, against the head of the log; of state only if it ends in a checkpoint."""
        root = log_root_of([leaf_hash(header) for header in self.model.headers])
        head = LogHead(self.model.store_id, len(self.model.headers), root)
        for claim in self.claims(drawn):
            if isinstance(claim, kinds.StateClaim) and self.model.kinds[-1] != CHECKED:
                with pytest.raises(RefusedError):
                    self.engine.prove([claim], checkpoint=head)
            elif not (isinstance(claim, kinds.BeginsWithRoot) and claim.root == self.model.root()):
                self.settled(claim, head, head)

    def teardown(self) -> None:
        """In the end, everything that can be claimed: what holds in one proof, and the rest one by one."""
        basis = Root(self.model.store_id, self.model.root(), len(self.model.headers))
        true: dict[tuple[int, bytes], Claim] = {}
        for claim in everything(self.model):
            if holds(self.model, claim):
                true[claim.number, claim.subject] = claim
            else:
                self.settled(claim, basis, None)
        proved = list(true.values())
        for shown in verify(self.engine.prove(proved).data, basis, proved):
            check_shown(self.model, shown)
        super().teardown()

    def claims(self, drawn: list[Drawn]) -> list[Claim]:
        """The claims that were drawn, no two of one number and subject."""
        found: dict[tuple[int, bytes], Claim] = {}
        for one in drawn:
            claim = claim_of(self.model, (self.atom(one.first), self.atom(one.second)), one)
            if claim is not None:
                found[claim.number, claim.subject] = claim
        return list(found.values())

    def settled(self, claim: Claim, basis: Basis, head: LogHead | None) -> bool:
        """Whether it holds: it is proved if it does, and refused if it does not."""
        if not holds(self.model, claim):
            with pytest.raises((RefusedError, NotFoundError)):
                self.engine.prove([claim], checkpoint=head)
            return False
        (shown,) = verify(self.engine.prove([claim], checkpoint=head).data, basis, [claim])
        assert shown.claim == claim
        check_shown(self.model, shown)
        return True


def check_shown(model: Reference, shown: Verified) -> None:
    """Make sure that the details of a fact are the reference's, too."""
    match shown:
        case LiveAtom() | TombstonedAtom():
            check_subject(model.atoms[shown.claim.id], shown.value, shown.body)
        case LiveEdge() | TombstonedEdge():
            check_subject(model.edges[shown.claim.subject], shown.value, shown.body)
        case Tagged() | Untagged():
            check_subject(model.atoms[shown.claim.id], shown.value, None)
        case AllTagged() | AllMentioning():
            claim = shown.claim
            if isinstance(claim, kinds.AtomsTagged):
                expected = tagged(model, claim.identity)
            else:
                expected = mentioning(model, claim.term)
            assert [atom.id for atom in shown.atoms] == list(expected)
            for atom in shown.atoms:
                check_subject(expected[atom.id], atom.value, None)
        case LoggedEvent():
            assert shown.header.kind == model.kinds[shown.claim.seq]
            assert (shown.body is not None) is shown.claim.opened


def check_subject(subject: Subject, value: Value, body: AtomBody | EdgeBody | None) -> None:
    """Make sure that a value, and a payload if it is opened, are those of an atom or edge."""
    assert tuple(value) == tuple(subject[:7])
    if isinstance(body, AtomBody):
        assert (body.content, body.title) == (subject.body["content"], subject.body["title"])
    elif body is not None:
        assert body.data == subject.body["data"]
