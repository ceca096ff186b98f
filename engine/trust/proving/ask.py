"""What `Reading.prove` does: claims understood, the moment chosen, the proof made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.base.error_translation import translated
from engine.base.errors import InvalidInputError
from engine.base.validation import instance, several
from engine.ledger.journal import read_log
from engine.store.past import AsOf, size_at
from engine.store.store import Store
from engine.trust.proving import prover
from engine.trust.proving.prover import Proof
from engine.trust.proving.words import claim_of
from proofs.basis import LogHead
from proofs.claims import ALL, BeginsWithRoot, Claim
from proofs.errors import ProofError

if TYPE_CHECKING:
    from engine.reading import Reading


def prove(
    memory: Reading,
    claims: Iterable[Claim | Sequence[str]],
    as_of: AsOf | None,
    checkpoint: str | LogHead | None,
) -> Proof:
    """See `Reading.prove`."""
    head = None if checkpoint is None else _head(checkpoint)
    if head is not None and as_of is not None:
        raise InvalidInputError("a checkpoint says of when it is: give that or as_of")
    if as_of is not None and not _is_head(memory.store, as_of):
        with memory.as_of(as_of) as past:
            return replace(prove(past, claims, None, None), replayed=past.size)
    with translated():
        understood, sizes = _understood(memory.store, several(claims, "claims"))
        if head is None:
            return prover.prove(memory.store, understood, sizes=sizes)
        return prover.prove_to(memory.store, understood, head, sizes=sizes)


def _is_head(store: Store, moment: AsOf) -> bool:
    """Whether nothing has happened since, so that nothing need be replayed."""
    with translated(), store.view() as rows:
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
