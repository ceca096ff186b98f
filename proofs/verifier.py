"""Verification of proofs. Only this module returns verified facts (SPEC, section 20.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from proofs import claims as kinds
from proofs.basis import Basis, Heads, LogHead, Lookups, Root, check_label_key, heads_of
from proofs.claims import Claim
from proofs.errors import ProofError
from proofs.events import EventKind
from proofs.labels import unsalted
from proofs.leaves import (
    CHUNK_BITS,
    Direction,
    Group,
    State,
    Value,
    contains,
    decode_tags,
    edge_leaf,
    tags_row,
)
from proofs.list_claims import (
    Index,
    check_edges,
    check_mentioning,
    check_none_mentioning,
    check_none_tagged,
    check_tagged,
    read_index,
)
from proofs.log_claims import check_event, check_prefix, check_prefix_root, check_recorded, check_seen
from proofs.proof_file import (
    MAYBE_RAW,
    RAW,
    ProofFile,
    check_presence,
    checked_fields,
    decode,
    decode_strict,
    open_payload,
    read_value,
    sort_claims,
    with_reason,
)
from proofs.verified import (
    AbsentAtom,
    AbsentEdge,
    AllTags,
    ErasedAtom,
    ErasedEdge,
    LiveAtom,
    LiveEdge,
    Tagged,
    TombstonedAtom,
    TombstonedEdge,
    Untagged,
    Verified,
)


class Verification(NamedTuple):
    """The result of a verification."""

    facts: tuple[Verified, ...]
    """One fact for each claim, in the order of the claims."""
    size: int
    """The number of events that the facts cover: the events that the overall root covers or, if all claims
    are about the log, all events of the log.
    """


def verify(proof: bytes, basis: Basis, claims: Sequence[Claim]) -> tuple[Verified, ...]:
    """Return the fact that `proof` shows for each of `claims`, in their order, given that `basis` is trusted.

    Raises:
        ProofError: the proof does not show the claims; see `examine`.
    """
    return examine(proof, basis, claims).facts


def examine(proof: bytes, basis: Basis, claims: Sequence[Claim]) -> Verification:
    """Verify like `verify`, and also return the number of events that the facts cover.

    A proof is refused as a whole if one claim does not hold. `proof` may be arbitrary bytes; time and memory
    are linear in their length. The function accesses no file, network or clock.

    Args:
        proof: The bytes of the proof, at most 16 MiB. The proof of a single claim that is not a list and
            opens no payload has at most 64 KiB.
        basis: An overall root or the head of a log, with the id of its store, from a source that you trust.
        claims: Exactly the claims that the proof was made for.

    Raises:
        ProofError: the proof does not show the claims, or an argument is invalid; `reason` is a key of
            `proofs.errors.REASONS`.
    """
    if not isinstance(basis, (Root, LogHead)):
        raise ProofError("input", "the basis must be a Root or a LogHead")
    requested = _checked_claims(claims)
    ordered = sort_claims(requested)
    parts = decode(proof, ordered)
    heads = heads_of(basis, parts)
    index = _index(parts, heads, needed_for=ordered)
    check_label_key(parts, needed=any(isinstance(claim, kinds.LABELLED) for claim in ordered))
    lookups = Lookups(parts.label_key)
    facts: dict[Claim, Verified] = {}
    for claim, (_, *fields) in zip(ordered, parts.witnesses, strict=True):
        if isinstance(claim, kinds.LogClaim):
            facts[claim] = _log_claim(claim, fields, heads)
        elif isinstance(claim, kinds.LISTS):
            facts[claim] = _list_claim(claim, fields, lookups, index)
        else:
            facts[claim] = _leaf_claim(claim, fields, lookups)
    lookups.check(parts, heads.opening)
    about_state = any(isinstance(claim, kinds.StateClaim) for claim in requested)
    size = heads.opening.size if about_state else heads.log.size
    return Verification(tuple(facts[claim] for claim in requested), size)


def _checked_claims(claims: object) -> list[Claim]:
    if not isinstance(claims, Iterable):
        raise ProofError("input", "claims must be a list of claims from proofs.claims")
    requested = list(claims)
    if not all(type(claim) in kinds.ALL.values() for claim in requested):
        raise ProofError(
            "input", "each claim must be one from proofs.claims; proofs.parse_claim makes one from words"
        )
    return requested


def _index(parts: ProofFile, heads: Heads, *, needed_for: Sequence[Claim]) -> Index | None:
    wanted = any(isinstance(claim, kinds.LISTS) for claim in needed_for)
    check_presence(parts.segments, "the table of segments", needed=wanted)
    return None if parts.segments is None else read_index(parts.segments, heads.opening.roots["index"])


def _log_claim(claim: kinds.LogClaim, fields: list[Any], heads: Heads) -> Verified:
    match claim:
        case kinds.EventIs():
            return check_event(claim, fields, heads)
        case kinds.LogBegins():
            return check_prefix(claim, fields, heads)
        case kinds.RootRecorded():
            return check_recorded(claim, fields, heads)
        case kinds.BeginsWithRoot():
            return check_prefix_root(claim, fields, heads)
        case kinds.HeadSeen():
            return check_seen(claim, fields, heads)


def _leaf_claim(claim: Claim, fields: list[Any], lookups: Lookups) -> Verified:
    match claim:
        case kinds.AtomIs() | kinds.EdgeIs():
            return _recorded(claim, fields, lookups)
        case kinds.NoAtom() | kinds.NoEdge():
            return _absent(claim, fields, lookups)
        case kinds.HasTag() | kinds.LacksTag():
            return _member_of(claim, fields, lookups)
        case kinds.EdgesOf():
            return check_edges(claim, fields, lookups)
        case kinds.TagsOf():
            return _tags_of(claim, fields, lookups)
    raise ProofError("input", "the claim is not about an atom or an edge")


_FACTS: Final[dict[tuple[type[Claim], State], Callable[..., Verified]]] = {
    (kinds.AtomIs, State.LIVE): LiveAtom,
    (kinds.AtomIs, State.TOMBSTONED): TombstonedAtom,
    (kinds.AtomIs, State.ERASED): ErasedAtom,
    (kinds.EdgeIs, State.LIVE): LiveEdge,
    (kinds.EdgeIs, State.TOMBSTONED): TombstonedEdge,
    (kinds.EdgeIs, State.ERASED): ErasedEdge,
}
"""The fact that a claim with this state shows."""


def _recorded(claim: kinds.AtomIs | kinds.EdgeIs, fields: list[Any], lookups: Lookups) -> Verified:
    """Check the witness of an atom or edge: `fields` holds a value, and a payload or None."""
    raw, payload = checked_fields(fields, (RAW, MAYBE_RAW), "the witness of an atom or edge")
    value = _value_in(claim.state, raw)
    atom = isinstance(claim, kinds.AtomIs)
    if value.ordinal and not atom:
        raise ProofError("value", "the ordinal of an edge must be 0")
    lookups.require(*_leaf_of(claim), raw)
    kind = EventKind.ATOM_ADDED if atom else EventKind.EDGE_ADDED
    body = open_payload(payload, value.commitment, kind, wanted=claim.opened)
    fact = _FACTS[type(claim), claim.state]
    return fact(claim, value) if claim.state is State.ERASED else fact(claim, value, body)


def _leaf_of(claim: kinds.AtomIs | kinds.NoAtom | kinds.EdgeIs | kinds.NoEdge) -> tuple[str, bytes]:
    """Return the namespace and the key of the leaf that a claim is about."""
    if isinstance(claim, (kinds.AtomIs, kinds.NoAtom)):
        return "atoms", claim.id
    return "edges", edge_leaf(Direction.FROM, claim.src, claim.code, claim.dst)


def _absent(claim: kinds.NoAtom | kinds.NoEdge, fields: list[Any], lookups: Lookups) -> Verified:
    """Require in `lookups` that the tree must not contain the key of the claim."""
    checked_fields(fields, (), "the witness of an absent atom or edge")
    lookups.require(*_leaf_of(claim), None)
    return AbsentAtom(claim) if isinstance(claim, kinds.NoAtom) else AbsentEdge(claim)


def _member_of(claim: kinds.HasTag | kinds.LacksTag, fields: list[Any], lookups: Lookups) -> Verified:
    """Check the witness of an atom and a set: `fields` holds a value, a live chunk and a chunk of the set.

    A chunk is None if the set has no such chunk.
    """
    raw, live, chunk = checked_fields(fields, (RAW, MAYBE_RAW, MAYBE_RAW), "the witness of a member")
    value = _kept_atom(claim, raw, live, lookups)
    has = _is_member(value.ordinal, claim.group, claim.value, chunk, lookups)
    if has is not isinstance(claim, kinds.HasTag):
        raise ProofError("tagged", f"the atom {'is' if has else 'is not'} in the set")
    return Tagged(claim, value) if isinstance(claim, kinds.HasTag) else Untagged(claim, value)


def _tags_of(claim: kinds.TagsOf, fields: list[Any], lookups: Lookups) -> AllTags:
    """Check the witness of an atom's tags: `fields` holds a value, a live chunk, and the tags or None."""
    raw, live, committed = checked_fields(fields, (RAW, MAYBE_RAW, MAYBE_RAW), "the witness of tags")
    value = _kept_atom(claim, raw, live, lookups)
    lookups.require("tags", tags_row(value.ordinal), committed)
    if committed is None:
        return AllTags(claim, value, ())
    row = unsalted(committed)
    decode_strict(row, "the tags")
    tags = with_reason("chunk", decode_tags, row)
    return AllTags(claim, value, tags)


def _kept_atom(
    claim: kinds.HasTag | kinds.LacksTag | kinds.TagsOf, raw: bytes, live: bytes | None, lookups: Lookups
) -> Value:
    """Return the value of an atom in the claimed state, about which the set of live ordinals agrees."""
    value = _value_in(claim.state, raw)
    lookups.require("atoms", claim.id, raw)
    if _is_member(value.ordinal, Group.LIVE, "", live, lookups) is not (claim.state is State.LIVE):
        raise ProofError("state", "the live atoms and the value of the atom disagree about its state")
    return value


def _is_member(ordinal: int, group: Group, name: str, committed: bytes | None, lookups: Lookups) -> bool:
    """Return whether an ordinal is in a set. `committed` is the chunk for this ordinal, or None."""
    chunk = lookups.require_chunk(group, name, ordinal >> CHUNK_BITS, committed)
    return chunk is not None and with_reason("chunk", contains, chunk, ordinal & 0xFFFF)


def _value_in(state: State, raw: bytes) -> Value:
    value = read_value(raw)
    if value.state != state:
        raise ProofError("state", f"the state is {State(value.state).name.lower()}, not {state.name.lower()}")
    return value


def _list_claim(claim: Claim, fields: list[Any], lookups: Lookups, index: Index | None) -> Verified:
    if index is None:
        raise ProofError("missing", "the table of segments is missing")
    match claim:
        case kinds.AtomsTagged():
            return check_tagged(claim, fields, lookups, index)
        case kinds.NoneTagged():
            return check_none_tagged(claim, fields, lookups, index)
        case kinds.AtomsMentioning():
            return check_mentioning(claim, fields, lookups, index)
        case kinds.NoneMentioning():
            return check_none_mentioning(claim, fields, lookups, index)
    raise ProofError("input", "the claim is not about all atoms")
