"""From claims, as objects or in words, to a proof: of now, of a moment, or against a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.base.errors import InvalidInputError
from engine.base.validation import instance, several
from engine.ledger.journal import read_log
from engine.store.past import AsOf, past_store, size_at
from engine.store.store import Store
from engine.trust.proving import prover
from engine.trust.proving.prover import Proof
from engine.trust.proving.words import claim_of
from proofs.basis import LogHead
from proofs.claims import ALL, BeginsWithRoot, Claim
from proofs.errors import ProofError


def prove(
    store: Store,
    claims: Iterable[Claim | Sequence[str]],
    as_of: AsOf | None = None,
    checkpoint: str | LogHead | None = None,
) -> Proof:
    """A proof of all of `claims`, objects or words, at the head, at a moment, or against a checkpoint.

    Raises:
        RefusedError: a claim does not hold, or the checkpoint is not of this store's log.
        NotFoundError: a claim is about what was never recorded.
    """
    head = None if checkpoint is None else _head(checkpoint)
    if head is not None and as_of is not None:
        raise InvalidInputError("a checkpoint says of when it is: give that or as_of")
    if as_of is not None and not _is_head(store, as_of):
        with store.backend.snapshot() as rows, past_store(rows, size_at(rows, as_of)) as past:
            return replace(prove(past, claims), replayed=read_log(past.backend).size)
    understood, sizes = _understood(store, several(claims, "claims"))
    if head is None:
        return prover.prove(store, understood, sizes=sizes)
    return prover.prove_to(store, understood, head, sizes=sizes)


def _is_head(store: Store, moment: AsOf) -> bool:
    """Whether nothing has happened since, so that nothing need be replayed."""
    with store.view() as rows:
        return size_at(rows, moment) == read_log(rows).size


def _head(checkpoint: str | LogHead) -> LogHead:
    if not isinstance(checkpoint, str):
        instance(checkpoint, LogHead, "checkpoint")
        return checkpoint
    try:
        return LogHead.of(checkpoint)
    except ProofError as error:
        raise InvalidInputError(f"the checkpoint is no note of a store: {error}") from error


def _understood(store: Store, claims: Iterable[object]) -> tuple[list[Claim], dict[bytes, int]]:
    """The claims, and how many events the earlier roots among them cover, where their words say so."""
    found: list[Claim] = []
    sizes: dict[bytes, int] = {}
    with store.view() as rows:
        for given in claims:
            if type(given) in ALL.values():
                found.append(given)  # type: ignore[arg-type]  # one of the classes of Claim
                continue
            words = [str(word) for word in several(given, "the words of a claim")]
            claim, size = claim_of(rows, words)
            found.append(claim)
            if size is not None and isinstance(claim, BeginsWithRoot):
                sizes[claim.root] = size
    return found, sizes
