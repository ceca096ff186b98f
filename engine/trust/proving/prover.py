"""Assembling a proof from the witnesses of its claims, and verifying it before it is returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from backends.base import Reader
from engine.base.errors import CorruptionError, InvalidInputError, RefusedError
from engine.ledger.journal import read_log
from engine.store.past import past_store
from engine.store.store import Store
from engine.trust.proving.log_witnesses import LogWitnesses, opening_of
from engine.trust.proving.openings import open_tree
from engine.trust.proving.witnesses import ClaimNotTrueError, NeverRecorded, Witnesses
from proofs import claims as kinds
from proofs.basis import Basis, LogHead, Root
from proofs.claims import Claim
from proofs.errors import ProofError
from proofs.file import TREES, CheckpointLink, Opening, ProofFile, encode, sort_claims
from proofs.verified import Verified
from proofs.verifier import verify

_FROM_HEADERS = (kinds.AtomIs, kinds.NoAtom, kinds.EdgeIs, kinds.NoEdge, kinds.LogClaim)
"""The classes of claims that can be proved from the headers of events alone."""

NO_SIZES: Mapping[bytes, int] = {}


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof, the basis to verify it against, and the facts that it shows."""

    data: bytes
    """The proof in the form in which it is written to a file."""
    basis: Basis
    claims: tuple[Claim, ...]
    shown: tuple[Verified, ...]
    """The facts that the proof shows: one for each claim, in the order of the claims."""
    size: int
    """The number of events in the journal in the state that the proof is about."""
    replayed: int
    """The number of events that were replayed to make the proof; 0 if no replay was needed."""


class _Foundation(NamedTuple):
    """The basis of a proof, and the parts of the proof that all claims share."""

    basis: Basis
    log: LogWitnesses
    link: CheckpointLink | None
    opening: Opening | None


def prove(store: Store, claims: Iterable[Claim], *, sizes: Mapping[bytes, int] = NO_SIZES) -> Proof:
    """Return one proof of all `claims` against the present overall root.

    `sizes` maps each earlier overall root in a claim to the number of events that the root covers. An earlier
    root that is not in `sizes` must be recorded in a checkpoint.

    Raises:
        InvalidInputError: There are no claims, or a claim occurs twice.
        NotFoundError: A claim is about something that was never recorded.
        RefusedError: A claim does not hold, or the proof would be too large.
        CorruptionError: The root cannot be computed from the stored rows.
    """
    wanted = _ordered(claims)
    with store.view(*store.followers) as rows:
        roots = store.roots(rows)
        opening = opening_of(roots)
        basis = Root(roots.store_id, roots.overall, roots.size)
        log = LogWitnesses(store, rows, roots.size, sizes, {roots.overall: opening})
        return _assemble(wanted, _Foundation(basis, log, None, opening), Witnesses(store, rows))


def prove_to(
    store: Store, claims: Iterable[Claim], head: LogHead, *, sizes: Mapping[bytes, int] = NO_SIZES
) -> Proof:
    """Return a proof of `claims` against the log head in a checkpoint note of any age.

    If atoms, edges, tags or index have changed since the checkpoint, the events up to the checkpoint are
    replayed into a temporary store.

    Raises:
        RefusedError: As for `prove`. Also, the log head is of a different log or covers more events than the
            store has; or a claim is about the state of the memory, and the last event that the log head
            covers is not a checkpoint.
        InvalidInputError: As for `prove`.
        NotFoundError: As for `prove`.
        CorruptionError: As for `prove`.
    """
    wanted = _ordered(claims)
    with store.view(*store.followers) as rows:
        _check_head(store, rows, head)
        log = LogWitnesses(store, rows, head.size, sizes)
        if log.paths.root(head.size) != head.root:
            log.check_rows(head.size, head.root)
            raise RefusedError(
                f"at {head.size} events, this store's log and the checkpoint have different roots"
            )
        if not any(isinstance(claim, kinds.StateClaim) for claim in wanted):
            return _assemble(wanted, _Foundation(head, log, None, None), Witnesses(store, rows))
        seq = head.size - 1
        ground = _Foundation(head, log, log.link(seq), opening := log.recorded(seq))
        if opening_of(store.roots(rows)).roots == opening.roots:
            return _assemble(wanted, ground, Witnesses(store, rows))
        with past_store(rows, seq) as past, past.view(*past.followers) as past_rows:
            if past.erased_since is not None and not all(
                isinstance(claim, _FROM_HEADERS) for claim in wanted
            ):
                raise RefusedError(
                    f"claims about tags and terms at {seq} events cannot be proved any more: "
                    f"event {past.erased_since} erased content that they depend on",
                    hint="claims about the state of atoms and edges, and about the log, can be proved",
                )
            return _assemble(wanted, ground, Witnesses(past, past_rows), seq)


def _check_head(store: Store, rows: Reader, head: LogHead) -> None:
    if head.store_id != store.identity.store_id:
        raise RefusedError("the checkpoint belongs to a different store")
    size = read_log(rows).size
    if head.size > size:
        raise RefusedError(f"the checkpoint covers {head.size} events, but this store has only {size}")


def _ordered(claims: Iterable[Claim]) -> list[Claim]:
    wanted = list(claims)
    try:
        sort_claims(wanted)
    except ProofError as error:
        raise InvalidInputError(str(error)) from error
    return wanted


def _assemble(claims: list[Claim], ground: _Foundation, state: Witnesses, replayed: int = 0) -> Proof:
    witnesses: list[list[Any]] = []
    for claim in sort_claims(claims):
        try:
            fields = ground.log.of(claim) if isinstance(claim, kinds.LogClaim) else state.of(claim)
        except (ClaimNotTrueError, NeverRecorded) as error:
            _check_refusal(error, ground, state)
            raise
        witnesses.append([claim.number, *fields])
    segments = state.index.table() if any(isinstance(claim, kinds.LISTS) for claim in claims) else None
    trees = {
        name: open_tree(state.rows, name, state.keys[name]) if state.keys[name] else None for name in TREES
    }
    basis, log, link, opening = ground
    data = encode(ProofFile(link, opening, segments, trees, witnesses))
    size = log.size if opening is None else opening.size
    return Proof(data, basis, tuple(claims), _verified(data, basis, claims), size, replayed)


def _check_refusal(error: ClaimNotTrueError | NeverRecorded, ground: _Foundation, state: Witnesses) -> None:
    """Check that `error.instead`, which the error suggests in place of a false claim, can be proved.

    Raises:
        CorruptionError: The suggested claim cannot be proved, so stored rows are damaged.
    """
    try:
        _assemble([error.instead], ground, state.fresh())
    except (ClaimNotTrueError, NeverRecorded) as contradiction:
        raise CorruptionError(
            f"stored rows contradict each other: {contradiction}", hint="run `engine verify-root`"
        ) from contradiction


def _verified(data: bytes, basis: Basis, claims: list[Claim]) -> tuple[Verified, ...]:
    """Verify the proof and return the facts that it shows. Verification fails if stored rows were changed."""
    try:
        return verify(data, basis, claims)
    except ProofError as error:
        if error.reason == "size":
            raise RefusedError(
                f"the proof would be too large: {len(data):,} bytes", hint="prove fewer claims in one proof"
            ) from error
        raise CorruptionError(
            f"the root cannot be computed from the stored rows: {error}", hint="run `engine verify-root`"
        ) from error
