"""Runs two verifiers on one proof: the project's verifier, and the verifier written from SPEC alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from proofs import claims as kinds
from proofs.basis import Basis as RealBasis
from proofs.basis import LogHead, Root
from proofs.claims import Claim as RealClaim
from proofs.errors import ProofError
from proofs.leaves import Direction, Group, State
from proofs.verified import (
    AllEdges,
    AllMentioning,
    AllTagged,
    AllTags,
    LiveAtom,
    LiveEdge,
    LoggedEvent,
    LogPrefix,
    RecordedRoot,
    SeenHead,
    Tagged,
    TombstonedAtom,
    TombstonedEdge,
    Untagged,
)
from proofs.verified import Verified as Fact
from proofs.verifier import verify
from tests.reference.claims import STATES, Basis, Claim
from tests.reference.refused import Refused
from tests.reference.state import Shown
from tests.reference.verifier import check


class Answers(NamedTuple):
    """The answers of both verifiers: the facts shown, or the reason of the refusal."""

    real: tuple[Fact, ...] | str
    reference: list[Shown] | str

    @property
    def agree(self) -> bool:
        """Return True if both verifiers refuse the proof, or if both accept it and show the same facts."""
        if isinstance(self.real, str) or isinstance(self.reference, str):
            return isinstance(self.real, str) and isinstance(self.reference, str)
        return all(same(fact, shown) for fact, shown in zip(self.real, self.reference, strict=True))


def ask(data: bytes, basis: Basis, claims: Sequence[Claim]) -> Answers:
    """Return the answers of both verifiers; exceptions other than refusals propagate."""
    real: tuple[Fact, ...] | str
    reference: list[Shown] | str
    try:
        real = verify(data, real_basis(basis), [real_claim(*claim) for claim in claims])
    except ProofError as error:
        real = error.reason
    try:
        reference = check(data, basis, claims)
    except Refused as error:
        reference = error.reason
    return Answers(real, reference)


def real_basis(basis: Basis) -> RealBasis:
    """Convert a basis to the form that the project's verifier takes.

    Raises:
        ProofError: the basis is invalid (`input`).
    """
    _, store_id, one, other = basis
    if isinstance(one, bytes):
        return Root(store_id, one, other)  # type: ignore[arg-type]  # a root has a size, or None
    return LogHead(store_id, one, other)  # type: ignore[arg-type]  # a log head has a root


def reference_basis(basis: RealBasis) -> Basis:
    """Convert a basis to the form that the reference verifier takes."""
    if isinstance(basis, Root):
        return "root", basis.store_id, basis.root, basis.size
    return "log", basis.store_id, basis.size, basis.root


def real_claim(number: int, subject: bytes, state: int | None, opened: bool) -> RealClaim:
    """Return the claim with this number and subject, in the form that the project's verifier takes.

    Raises:
        ProofError: there is no such claim (`input`).
    """
    if number not in kinds.ALL or (opened and number not in (1, 3, 11)):
        raise ProofError("input", f"no claim {number} like this")
    kind: type[RealClaim] = kinds.ALL[number]
    given = _fields(number, subject)
    if number in STATES:
        given["state"] = State(state) if state in set(State) and not isinstance(state, bool) else state
    elif state is not None:
        raise ProofError("input", f"claim {number} has no state")
    if number in (1, 3, 11):
        given["opened"] = opened
    return kind(**given)  # type: ignore[arg-type]  # their constructors look at every field


def _fields(number: int, subject: bytes) -> dict[str, object]:
    """Split the subject of a claim into its parts."""
    if number in (3, 4):
        return {"src": subject[:16], "code": subject[16:-16], "dst": subject[-16:]}
    if number in (5, 6):
        return {"id": subject[:16], **_set(subject[16:])}
    if number in (7, 8, 9, 10):
        first, last = int.from_bytes(subject[:4], "big"), int.from_bytes(subject[4:8], "big")
        rest = _set(subject[8:]) if number in (7, 8) else {"term": _text(subject[8:])}
        return {"first": first, "last": last, **rest}
    widths = {11: 8, 12: 40, 17: 56}
    if len(subject) != widths.get(number, len(subject)):
        raise ProofError("input", "a subject of another width")
    if number in (11, 12):
        size = int.from_bytes(subject[:8], "big")
        return {"seq": size} if number == 11 else {"size": size, "root": subject[8:]}
    if number == 15:
        direction = Direction(subject[0]) if subject[:1] in (b"\0", b"\1") else None
        return {"direction": direction, "id": subject[1:17], "code": subject[17:] or None}
    if number == 17:
        size = int.from_bytes(subject[16:24], "big")
        return {"store_id": subject[:16], "size": size, "root": subject[24:]}
    return {"root": subject} if number in (13, 14) else {"id": subject}


def _set(named: bytes) -> dict[str, object]:
    """Split a group and a value of it."""
    group = named[0] if named else 0
    return {"group": Group(group) if group in set(Group) else None, "value": _text(named[1:])}


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ProofError("input", "a subject that is not UTF-8") from error


def reference_claim(claim: RealClaim) -> Claim:
    """Convert a claim to the form that the reference verifier takes."""
    given: Any = claim
    state = int(given.state) if claim.number in STATES else None
    opened = isinstance(claim, (kinds.AtomIs, kinds.EdgeIs, kinds.EventIs)) and claim.opened
    return claim.number, claim.subject, state, opened


def same(fact: Fact, shown: Shown) -> bool:
    """Return True if both facts have the same state, ordinal, body, list, header or size."""
    match fact:
        case LiveAtom() | TombstonedAtom() | LiveEdge() | TombstonedEdge():
            body = None if fact.body is None else listed(fact.body)
            value = [shown[name] for name in fact.value._fields]
            return value == list(fact.value) and shown["body"] == body
        case Tagged() | Untagged():
            return bool(shown["ordinal"] == fact.value.ordinal)
        case AllTagged() | AllMentioning():
            return bool(shown["ids"] == [atom.id for atom in fact.atoms])
        case AllTags():
            return bool(shown["ordinal"] == fact.value.ordinal and shown["tags"] == list(fact.tags))
        case AllEdges():
            return bool(shown["edges"] == [[one.type, one.other, one.value.state] for one in fact.edges])
        case LoggedEvent():
            seen = [fact.header.seq, fact.header.time, fact.header.kind, fact.header.commitment]
            body = None if fact.body is None else listed(fact.body)
            origin = [] if fact.header.origin is None else [list(fact.header.origin)]
            same = seen == [shown[name] for name in ("seq", "time", "kind", "commitment")]
            return same and (shown["body"], shown["origin"]) == (body, origin)
        case RecordedRoot() | SeenHead():
            return bool(shown["seq"] == fact.header.seq)
        case LogPrefix():
            return bool(shown["size"] == fact.size)
    return True


FURTHER = {"request": 0, "pipeline": 1, "meta": 2, "aliases": 3, "folder": 4}
"""The number of each further field."""


def listed(body: tuple[object, ...]) -> list[object]:
    """Return a body as a list of its fields: tuples as lists, further fields as a map at the end."""
    if hasattr(body, "request"):
        first = type(body)._fields.index("request")  # type: ignore[attr-defined]  # a body
        named = zip(type(body)._fields[first:], body[first:], strict=True)  # type: ignore[attr-defined]  # a body
        further = {FURTHER[name]: listed(one) if isinstance(one, tuple) else one for name, one in named}
        found = {at: one for at, one in further.items() if one is not None}
        return [*listed(tuple(body[:first])), *([found] if found else [])]
    return [listed(one) if isinstance(one, tuple) else one for one in body]
