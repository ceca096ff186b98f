"""What `Reading.prove` does: claims understood, the moment chosen, the proof made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.border import instance, several
from engine.door import translated
from engine.errors import InvalidInputError
from engine.past import AsOf
from engine.proving import prover
from engine.proving.prover import Proof
from engine.proving.words import claim_of
from engine.store import Store
from proofs.basis import LogHead
from proofs.claims import ALL, BeginsWithRoot, Claim

if TYPE_CHECKING:
    from engine.reading import Reading


def prove(
    memory: Reading,
    claims: Iterable[Claim | Sequence[str]],
    as_of: AsOf | None,
    checkpoint: LogHead | None,
) -> Proof:
    """See `Reading.prove`."""
    if checkpoint is not None:
        instance(checkpoint, LogHead, "checkpoint")
        if as_of is not None:
            raise InvalidInputError("a checkpoint says of when it is: give that or as_of")
    if as_of is not None:
        with memory.as_of(as_of) as past:
            return replace(prove(past, claims, None, None), replayed=past.size)
    with translated():
        understood, sizes = _understood(memory.store, several(claims, "claims"))
        if checkpoint is None:
            return prover.prove(memory.store, understood, sizes=sizes)
        return prover.prove_to(memory.store, understood, checkpoint, sizes=sizes)


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
