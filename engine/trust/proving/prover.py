"""Making a proof: what its claims call for, put together and verified before anybody sees it."""

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
"""Claims that are about what headers say."""

NO_SIZES: Mapping[bytes, int] = {}


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof, what it is to be verified against, and what it shows."""

    data: bytes
    """What to hand out: a file, or whatever carries bytes."""
    basis: Basis
    claims: tuple[Claim, ...]
    shown: tuple[Verified, ...]
    """For each claim, in their order."""
    size: int
    """How many events the state that is spoken of covers."""
    replayed: int
    """How many events had to be replayed for it."""


class _Ground(NamedTuple):
    """What all claims of a proof stand on."""

    basis: Basis
    log: LogWitnesses
    link: CheckpointLink | None
    opening: Opening | None


def prove(store: Store, claims: Iterable[Claim], *, sizes: Mapping[bytes, int] = NO_SIZES) -> Proof:
    """A proof of `claims`, of all or of nothing, against the overall root at the head.

    `sizes` says of earlier overall roots how many events they cover; else a checkpoint must hold them.

    Raises:
        InvalidInputError: no claims, or one twice.
        NotFoundError: a claim is about what was never recorded.
        RefusedError: a claim does not hold, or the proof would be too large.
        CorruptionError: what is stored does not make up the root.
    """
    wanted = _ordered(claims)
    with store.view(*store.followers) as rows:
        roots = store.roots(rows)
        opening = opening_of(roots)
        basis = Root(roots.store_id, roots.overall, roots.size)
        log = LogWitnesses(store, rows, roots.size, sizes, {roots.overall: opening})
        return _assemble(wanted, _Ground(basis, log, None, opening), Witnesses(store, rows))


def prove_to(
    store: Store, claims: Iterable[Claim], head: LogHead, *, sizes: Mapping[bytes, int] = NO_SIZES
) -> Proof:
    """A proof of `claims` against the log head that a checkpoint note gives, of whatever age.

    Where the namespaces have changed since, the events up to it are replayed into a scratch store.

    Raises:
        RefusedError: as `prove`; or the store's log is another one, or never had that size; or a state is
            asked for, and the last event of that log is no checkpoint.
        InvalidInputError, NotFoundError, CorruptionError: as `prove`.
    """
    wanted = _ordered(claims)
    with store.view(*store.followers) as rows:
        _check_head(store, rows, head)
        log = LogWitnesses(store, rows, head.size, sizes)
        if log.paths.root(head.size) != head.root:
            log.check_rows(head.size, head.root)
            raise RefusedError(f"the log of this store is another one at {head.size} events")
        if not any(isinstance(claim, kinds.StateClaim) for claim in wanted):
            return _assemble(wanted, _Ground(head, log, None, None), Witnesses(store, rows))
        seq = head.size - 1
        ground = _Ground(head, log, log.link(seq), opening := log.recorded(seq))
        if opening_of(store.roots(rows)).roots == opening.roots:
            return _assemble(wanted, ground, Witnesses(store, rows))
        with past_store(rows, seq) as past, past.view(*past.followers) as past_rows:
            if past.lost is not None and not all(isinstance(claim, _FROM_HEADERS) for claim in wanted):
                raise RefusedError(
                    f"what tags and terms there were at {seq} events cannot be proved any more: "
                    f"event {past.lost} erased some of it",
                    hint="claims of the state of atoms and edges, and of the log, can",
                )
            return _assemble(wanted, ground, Witnesses(past, past_rows), seq)


def _check_head(store: Store, rows: Reader, head: LogHead) -> None:
    if head.store_id != store.identity.store_id:
        raise RefusedError("the checkpoint is another store's")
    size = read_log(rows).size
    if head.size > size:
        raise RefusedError(f"the checkpoint is of {head.size} events, and this store has only {size}")


def _ordered(claims: Iterable[Claim]) -> list[Claim]:
    wanted = list(claims)
    try:
        sort_claims(wanted)
    except ProofError as error:
        raise InvalidInputError(str(error)) from error
    return wanted


def _assemble(claims: list[Claim], ground: _Ground, state: Witnesses, replayed: int = 0) -> Proof:
    found: list[list[Any]] = []
    for claim in sort_claims(claims):
        try:
            fields = ground.log.of(claim) if isinstance(claim, kinds.LogClaim) else state.of(claim)
        except (ClaimNotTrueError, NeverRecorded) as error:
            _check_refusal(error, ground, state)
            raise
        found.append([claim.number, *fields])
    segments = state.index.table() if any(isinstance(claim, kinds.LISTS) for claim in claims) else None
    trees = {
        name: open_tree(state.rows, name, state.keys[name]) if state.keys[name] else None for name in TREES
    }
    basis, log, link, opening = ground
    data = encode(ProofFile(link, opening, segments, trees, found))
    size = log.size if opening is None else opening.size
    return Proof(data, basis, tuple(claims), _verified(data, basis, claims), size, replayed)


def _check_refusal(error: ClaimNotTrueError | NeverRecorded, ground: _Ground, state: Witnesses) -> None:
    """Make sure that what is said to hold instead does: a refusal is an answer, and rows may be damaged.

    Raises:
        CorruptionError: it cannot be proved.
    """
    try:
        _assemble([error.instead], ground, state.anew())
    except (ClaimNotTrueError, NeverRecorded) as contradiction:
        raise CorruptionError(
            f"what is stored contradicts itself: {contradiction}", hint="run `engine verify-root`"
        ) from contradiction


def _verified(data: bytes, basis: Basis, claims: list[Claim]) -> tuple[Verified, ...]:
    """What the proof shows: rows that were changed on the disk are found here, and never served."""
    try:
        return verify(data, basis, claims)
    except ProofError as error:
        if error.reason == "size":
            raise RefusedError(
                f"the proof would be too large: {len(data):,} bytes", hint="prove less at once"
            ) from error
        raise CorruptionError(
            f"what is stored does not make up the root: {error}", hint="run `engine verify-root`"
        ) from error
