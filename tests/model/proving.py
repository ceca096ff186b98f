"""The stateful machine with proofs: it makes and checks claims at any step."""

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
    AllEdges,
    AllMentioning,
    AllTagged,
    AllTags,
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
from tests.model.claims import DRAWN, Drawn, claim_of, edges_of, everything, holds, mentioning, tagged
from tests.model.machine import EngineMachine
from tests.model.reference import CHECKED, Reference, Subject, identity


class ProvingMachine(EngineMachine):
    """A machine that proves and verifies true claims, and checks that false ones are refused."""

    may_go_beyond = False

    @rule(drawn=st.lists(DRAWN, min_size=1, max_size=6))
    def claimed(self, drawn: list[Drawn]) -> None:
        """Make some claims one by one, then the true ones together, against the reference's root."""
        basis = Root(self.model.store_id, self.model.root(), len(self.model.headers))
        proved = [claim for claim in self.claims(drawn) if self.settled(claim, basis, None)]
        if proved:
            proof = self.engine.prove(proved)
            assert [shown.claim for shown in verify(proof.data, basis, proved)] == proved

    @rule(drawn=st.lists(DRAWN, min_size=1, max_size=6))
    def claimed_at_a_checkpoint(self, drawn: list[Drawn]) -> None:
        """Make claims against the log head; they are refused unless the log ends in a checkpoint."""
        root = log_root_of([leaf_hash(header) for header in self.model.headers])
        head = LogHead(self.model.store_id, len(self.model.headers), root)
        for claim in self.claims(drawn):
            if self.model.kinds[-1] != CHECKED:
                with pytest.raises(RefusedError):
                    self.engine.prove([claim], checkpoint=head)
            elif not (isinstance(claim, kinds.BeginsWithRoot) and claim.root == self.model.root()):
                self.settled(claim, head, head)

    def teardown(self) -> None:
        """Make all claims at the end: the true ones in one proof, the others one by one."""
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
        """Return the drawn claims without repeated numbers and subjects."""
        found: dict[tuple[int, bytes], Claim] = {}
        for one in drawn:
            claim = claim_of(self.model, (self.atom(one.first), self.atom(one.second)), one)
            if claim is not None:
                found[claim.number, claim.subject] = claim
        return list(found.values())

    def settled(self, claim: Claim, basis: Basis, head: LogHead | None) -> bool:
        """Return True if the claim holds; a true claim is proved, a false one must be refused."""
        if not holds(self.model, claim):
            with pytest.raises((RefusedError, NotFoundError)):
                self.engine.prove([claim], checkpoint=head)
            return False
        (shown,) = verify(self.engine.prove([claim], checkpoint=head).data, basis, [claim])
        assert shown.claim == claim
        check_shown(self.model, shown)
        return True


def check_shown(model: Reference, shown: Verified) -> None:
    """Check that the details of a fact are the reference's."""
    match shown:
        case LiveAtom() | TombstonedAtom():
            check_subject(model.atoms[shown.claim.id], shown.value, shown.body)
        case LiveEdge() | TombstonedEdge():
            check_subject(model.edges[shown.claim.subject], shown.value, shown.body)
        case Tagged() | Untagged():
            check_subject(model.atoms[shown.claim.id], shown.value, None)
        case AllTagged() | AllMentioning():
            _check_listed(model, shown)
        case AllEdges():
            edges = edges_of(model, shown.claim)
            assert [(edge.type, edge.other) for edge in shown.edges] == list(edges)
            assert [tuple(edge.value) for edge in shown.edges] == [edge[:7] for edge in edges.values()]
        case AllTags():
            atom_is = model.atoms[shown.claim.id]
            check_subject(atom_is, shown.value, None)
            assert set(shown.tags) == set(map(identity, atom_is.body["tags"]))
        case LoggedEvent():
            assert shown.header.kind == model.kinds[shown.claim.seq]
            assert (shown.body is not None) is shown.claim.opened


def _check_listed(model: Reference, shown: AllTagged | AllMentioning) -> None:
    claim = shown.claim
    expected = tagged(model, claim) if isinstance(claim, kinds.AtomsTagged) else mentioning(model, claim)
    assert [atom.id for atom in shown.atoms] == list(expected)
    for atom in shown.atoms:
        check_subject(expected[atom.id], atom.value, None)


def check_subject(subject: Subject, value: Value, body: AtomBody | EdgeBody | None) -> None:
    """Check that a value, and an opened payload, are those of the atom or edge."""
    assert tuple(value) == tuple(subject[:7])
    if isinstance(body, AtomBody):
        assert (body.content, body.title) == (subject.body["content"], subject.body["title"])
    elif body is not None:
        assert body.data == subject.body["data"]
