"""Claims about one atom or one edge: what their witnesses must say (SPEC, section 20.5)."""

from __future__ import annotations

from typing import Any

from proofs.claims import AtomIs, EdgeIs, HasTag, LacksTag, NoAtom, NoEdge
from proofs.codec import decode_body
from proofs.errors import ProofError
from proofs.events import AtomBody, Body, EdgeBody, EventKind
from proofs.file import MAYBE_RAW, RAW
from proofs.hashing import SALT_BYTES, commitment
from proofs.heads import expect
from proofs.leaves import State, Value, decode_value
from proofs.places import Places
from proofs.sets import CHUNK_BITS, Group, contains, set_row
from proofs.strict_cbor import named, shaped, strict
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


def check_atom(claim: AtomIs, fields: list[Any], places: Places) -> LiveAtom | TombstonedAtom | ErasedAtom:
    """What `fields`, a value and perhaps a payload, show of the atom.

    Raises:
        ProofError: not what was claimed.
    """
    raw, payload = shaped(fields, (RAW, MAYBE_RAW), "the witness of an atom")
    value = _value_in(claim.state, raw)
    places.call("atoms", claim.subject, raw)
    body = opened(payload, value.commitment, EventKind.ATOM_ADDED, wanted=claim.opened)
    if value.state == State.ERASED:
        return ErasedAtom(claim, value)
    kind = LiveAtom if value.state == State.LIVE else TombstonedAtom
    return kind(claim, value, body if isinstance(body, AtomBody) else None)


def check_edge(claim: EdgeIs, fields: list[Any], places: Places) -> LiveEdge | TombstonedEdge | ErasedEdge:
    """What `fields`, a value and perhaps a payload, show of the edge.

    Raises:
        ProofError: not what was claimed.
    """
    raw, payload = shaped(fields, (RAW, MAYBE_RAW), "the witness of an edge")
    value = _value_in(claim.state, raw)
    if value.ordinal:
        raise ProofError("value", "the ordinal of an edge is 0")
    places.call("edges", claim.subject, raw)
    body = opened(payload, value.commitment, EventKind.EDGE_ADDED, wanted=claim.opened)
    if value.state == State.ERASED:
        return ErasedEdge(claim, value)
    kind = LiveEdge if value.state == State.LIVE else TombstonedEdge
    return kind(claim, value, body if isinstance(body, EdgeBody) else None)


def check_no_atom(claim: NoAtom, fields: list[Any], places: Places) -> AbsentAtom:
    """That the tree of atoms has no such key, once `places` are checked.

    Raises:
        ProofError: the witness has fields.
    """
    shaped(fields, (), "the witness of an absent atom")
    places.call("atoms", claim.subject, None)
    return AbsentAtom(claim)


def check_no_edge(claim: NoEdge, fields: list[Any], places: Places) -> AbsentEdge:
    """That the tree of edges has no such key, once `places` are checked.

    Raises:
        ProofError: the witness has fields.
    """
    shaped(fields, (), "the witness of an absent edge")
    places.call("edges", claim.subject, None)
    return AbsentEdge(claim)


def check_has_tag(claim: HasTag, fields: list[Any], places: Places) -> Tagged:
    """What `fields`, a value and a chunk, show of the atom and the tag.

    Raises:
        ProofError: not what was claimed.
    """
    raw, chunk = shaped(fields, (RAW, RAW), "the witness of a tag")
    value = _tag_place(claim, raw, chunk, places)
    if not named("chunk", contains, chunk, value.ordinal & 0xFFFF):
        raise ProofError("tagged", "the atom lacks the tag")
    return Tagged(claim, value)


def check_lacks_tag(claim: LacksTag, fields: list[Any], places: Places) -> Untagged:
    """What `fields`, a value and perhaps a chunk, show of the atom and the tag.

    Raises:
        ProofError: not what was claimed.
    """
    raw, chunk = shaped(fields, (RAW, MAYBE_RAW), "the witness of no tag")
    value = _tag_place(claim, raw, chunk, places)
    if chunk is not None and named("chunk", contains, chunk, value.ordinal & 0xFFFF):
        raise ProofError("tagged", "the atom has the tag")
    return Untagged(claim, value)


def read_value(raw: bytes) -> Value:
    """The value of a leaf.

    Raises:
        ProofError: the bytes are none (`encoding`, `value`).
    """
    strict(raw, "the value of a leaf")
    return named("value", decode_value, raw, "the value of a leaf")


def opened(payload: bytes | None, bound_by: bytes, kind: EventKind, *, wanted: bool) -> Body | None:
    """The body in a payload; None where the claim wants none.

    Raises:
        ProofError: there or not there against the claim, not the payload that the commitment binds, or
            not the body of such an event.
    """
    expect(payload, "the payload", needed=wanted)
    if payload is None:
        return None
    salt, body = payload[:SALT_BYTES], payload[SALT_BYTES:]
    if len(salt) != SALT_BYTES or commitment(salt, body) != bound_by:
        raise ProofError("payload", "it is not what the commitment binds")
    strict(body, "the body of the payload", body=True)
    return named("payload", decode_body, kind, body, "the payload")


def _value_in(state: State, raw: bytes) -> Value:
    value = read_value(raw)
    if value.state != state:
        raise ProofError("state", f"it is {State(value.state).name.lower()}, not {state.name.lower()}")
    return value


def _tag_place(claim: HasTag | LacksTag, raw: bytes, chunk: bytes | None, places: Places) -> Value:
    value = _value_in(State.LIVE, raw)
    places.call("atoms", claim.id, raw)
    places.call("tags", set_row(Group.TAG, claim.identity, value.ordinal >> CHUNK_BITS), chunk)
    return value
