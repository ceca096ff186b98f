"""Checks of claims about one atom or one edge, and of the opened trees against them (SPEC, section 20.5)."""

from __future__ import annotations

from typing import Any

from proofs.basis import check_presence
from proofs.claims import AtomIs, EdgeIs, HasTag, LacksTag, NoAtom, NoEdge
from proofs.codec import decode_body
from proofs.errors import ProofError
from proofs.events import AtomBody, Body, EdgeBody, EventKind
from proofs.hashing import SALT_BYTES, commitment, key_digest, value_digest
from proofs.leaves import CHUNK_BITS, Group, State, Value, contains, decode_value, set_row
from proofs.proof_file import (
    MAYBE_RAW,
    RAW,
    TREES,
    Opening,
    ProofFile,
    checked_fields,
    decode_strict,
    with_reason,
)
from proofs.smt import opening_root
from proofs.verified import (
    AbsentAtom,
    AbsentEdge,
    ErasedAtom,
    ErasedEdge,
    LiveAtom,
    LiveEdge,
    Tagged,
    TombstonedAtom,
    TombstonedEdge,
    Untagged,
)


class Lookups:
    """The values that witnesses give for keys. The values are unverified until `check` has returned."""

    def __init__(self) -> None:
        self._values: dict[str, dict[bytes, bytes | None]] = {namespace: {} for namespace in TREES}

    def require(self, namespace: str, key: bytes, value: bytes | None) -> None:
        """Require that `key` has `value` or, if `value` is None, that the tree does not contain `key`.

        Raises:
            ProofError: two witnesses give different values for `key` (`contradiction`).
        """
        if self._values[namespace].setdefault(key, value) != value:
            raise ProofError(
                "contradiction", f"two witnesses give different values for one key of {namespace}"
            )

    def check(self, proof: ProofFile, opening: Opening | None) -> None:
        """Check all requirements against the trees whose roots are in `opening`.

        Raises:
            ProofError: a requirement does not hold (`tree`, `shape`, `other-leaf`, `absent`), a tree is
                missing (`missing`), or the proof opens a tree that no claim needs (`unneeded`).
        """
        for namespace, values in self._values.items():
            tree = proof.trees[namespace]
            check_presence(tree, f"the opening of the tree of {namespace}", needed=bool(values))
            if tree is None or opening is None:
                continue
            digests = {
                key_digest(namespace, key): None if value is None else value_digest(namespace, value)
                for key, value in values.items()
            }
            if opening_root(digests, *tree) != opening.roots[namespace]:
                raise ProofError("tree", f"the opening does not hash to the root of {namespace}")


def check_atom(claim: AtomIs, fields: list[Any], lookups: Lookups) -> LiveAtom | TombstonedAtom | ErasedAtom:
    """Check the witness of an atom: `fields` holds a value, and a payload or None.

    Raises:
        ProofError: the witness does not show the claim.
    """
    raw, payload = checked_fields(fields, (RAW, MAYBE_RAW), "the witness of an atom")
    value = _value_in(claim.state, raw)
    lookups.require("atoms", claim.subject, raw)
    body = open_payload(payload, value.commitment, EventKind.ATOM_ADDED, wanted=claim.opened)
    if value.state == State.ERASED:
        return ErasedAtom(claim, value)
    kind = LiveAtom if value.state == State.LIVE else TombstonedAtom
    return kind(claim, value, body if isinstance(body, AtomBody) else None)


def check_edge(claim: EdgeIs, fields: list[Any], lookups: Lookups) -> LiveEdge | TombstonedEdge | ErasedEdge:
    """Check the witness of an edge: `fields` holds a value, and a payload or None.

    Raises:
        ProofError: the witness does not show the claim.
    """
    raw, payload = checked_fields(fields, (RAW, MAYBE_RAW), "the witness of an edge")
    value = _value_in(claim.state, raw)
    if value.ordinal:
        raise ProofError("value", "the ordinal of an edge must be 0")
    lookups.require("edges", claim.subject, raw)
    body = open_payload(payload, value.commitment, EventKind.EDGE_ADDED, wanted=claim.opened)
    if value.state == State.ERASED:
        return ErasedEdge(claim, value)
    kind = LiveEdge if value.state == State.LIVE else TombstonedEdge
    return kind(claim, value, body if isinstance(body, EdgeBody) else None)


def check_no_atom(claim: NoAtom, fields: list[Any], lookups: Lookups) -> AbsentAtom:
    """Register in `lookups` that the tree of atoms must not contain the claim's key.

    Raises:
        ProofError: the witness has fields.
    """
    checked_fields(fields, (), "the witness of an absent atom")
    lookups.require("atoms", claim.subject, None)
    return AbsentAtom(claim)


def check_no_edge(claim: NoEdge, fields: list[Any], lookups: Lookups) -> AbsentEdge:
    """Register in `lookups` that the tree of edges must not contain the claim's key.

    Raises:
        ProofError: the witness has fields.
    """
    checked_fields(fields, (), "the witness of an absent edge")
    lookups.require("edges", claim.subject, None)
    return AbsentEdge(claim)


def check_has_tag(claim: HasTag, fields: list[Any], lookups: Lookups) -> Tagged:
    """Check the witness of an atom's tag: `fields` holds a value and a chunk.

    Raises:
        ProofError: the witness does not show the claim.
    """
    raw, chunk = checked_fields(fields, (RAW, RAW), "the witness of a tag")
    value = _tag_witness(claim, raw, chunk, lookups)
    if not with_reason("chunk", contains, chunk, value.ordinal & 0xFFFF):
        raise ProofError("tagged", "the atom does not have the tag")
    return Tagged(claim, value)


def check_lacks_tag(claim: LacksTag, fields: list[Any], lookups: Lookups) -> Untagged:
    """Check the witness that an atom lacks a tag: `fields` holds a value, and a chunk or None.

    Raises:
        ProofError: the witness does not show the claim.
    """
    raw, chunk = checked_fields(fields, (RAW, MAYBE_RAW), "the witness of an absent tag")
    value = _tag_witness(claim, raw, chunk, lookups)
    if chunk is not None and with_reason("chunk", contains, chunk, value.ordinal & 0xFFFF):
        raise ProofError("tagged", "the atom has the tag")
    return Untagged(claim, value)


def read_value(raw: bytes) -> Value:
    """Decode the value of a leaf.

    Raises:
        ProofError: the bytes are not the canonical encoding of a value (`encoding`, `value`).
    """
    decode_strict(raw, "the value of a leaf")
    return with_reason("value", decode_value, raw, "the value of a leaf")


def open_payload(payload: bytes | None, bound_by: bytes, kind: EventKind, *, wanted: bool) -> Body | None:
    """Return the body in a payload, or None if the claim does not open it.

    Raises:
        ProofError: the payload is missing (`missing`) or not needed (`unneeded`); it does not match the
            commitment or is not the body of an event of the right kind (`payload`, `encoding`).
    """
    check_presence(payload, "the payload", needed=wanted)
    if payload is None:
        return None
    salt, body = payload[:SALT_BYTES], payload[SALT_BYTES:]
    if len(salt) != SALT_BYTES or commitment(salt, body) != bound_by:
        raise ProofError("payload", "the payload does not match its commitment")
    decode_strict(body, "the body of the payload", body=True)
    return with_reason("payload", decode_body, kind, body, "the payload")


def _value_in(state: State, raw: bytes) -> Value:
    value = read_value(raw)
    if value.state != state:
        raise ProofError("state", f"the state is {State(value.state).name.lower()}, not {state.name.lower()}")
    return value


def _tag_witness(claim: HasTag | LacksTag, raw: bytes, chunk: bytes | None, lookups: Lookups) -> Value:
    value = _value_in(State.LIVE, raw)
    lookups.require("atoms", claim.id, raw)
    lookups.require("tags", set_row(Group.TAG, claim.identity, value.ordinal >> CHUNK_BITS), chunk)
    return value
