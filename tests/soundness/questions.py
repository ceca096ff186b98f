"""Wrong proofs of all sorts, to be put to every verifier: all have to say the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Final

import tests.soundness.all_rejects  # noqa: F401  fills the register
from proofs.basis import Root
from proofs.errors import ProofError
from tests.reference.both import real_claim, reference_claim
from tests.reference.forged import Honest, forged_roots
from tests.soundness import forged_events
from tests.soundness.forged_links import links
from tests.soundness.mutations import CLASSES, Seed, seeds_of
from tests.soundness.rejects import REJECTS
from tests.soundness.support import items
from tests.soundness.wire import Asked, Case, basis_of, claim_of

Questions = Iterator[Asked]

STORES: Final = ((0, 0), (3, 0), (24, 0), (24, 1), (257, 0))
"""Atoms and number of each store whose proofs are changed."""


@cache
def seeds() -> list[Seed]:
    """Return honest proofs of every claim, against both bases."""
    return seeds_of([item for store in STORES for item in items(*store).values()])


def changed_proofs(name: str, rng: Random) -> Questions:
    """Yield proofs of a class of changes, endlessly."""
    for attempt in CLASSES[name](seeds(), rng):
        yield Asked(attempt.data, attempt.basis, attempt.claims)


@cache
def against_roots() -> Honest:
    """Return the honest proofs against overall roots."""
    return [
        (seed.item.data, seed.basis.store_id, [reference_claim(claim) for claim in seed.claims])
        for seed in seeds()
        if isinstance(seed.basis, Root)
    ]


def forged_proofs(rng: Random) -> Questions:
    """Yield changed proofs, each with an overall root that is recomputed to match, endlessly."""
    for data, store_id, root, claims in forged_roots(rng, against_roots()):
        yield Asked(data, Root(store_id, root), [real_claim(*claim) for claim in claims])


def named_forgeries() -> Iterator[tuple[Case, Asked]]:
    """Yield each named reject that is a proof, with a basis and claims that a verifier takes."""
    for make in REJECTS.values():
        for case in make():
            if case.call == "verify" and isinstance(case.given[0], bytes):
                data, basis, claims = case.given
                try:
                    yield case, Asked(data, basis_of(basis), [claim_of(claim) for claim in claims])
                except ProofError:
                    continue  # such a basis or claim cannot be made


ENDLESS: Final[dict[str, Callable[[Random], Questions]]] = {
    **{name: lambda rng, name=name: changed_proofs(name, rng) for name in CLASSES},  # type: ignore[misc]
    "roots that fit": forged_proofs,
    "events changed at random": forged_events.random_events,
}
"""Proofs that are changed at random."""

LISTED: Final[dict[str, Callable[[], Questions]]] = {
    "honest proofs": lambda: (Asked(seed.item.data, seed.basis, seed.claims) for seed in seeds()),
    "named rejects": lambda: (asked for _, asked in named_forgeries()),
    "bodies": forged_events.odd_bodies,
    "further fields": forged_events.odd_further_fields,
    "meta": forged_events.odd_metas,
    "large bodies": forged_events.large_bodies,
    "headers": forged_events.odd_headers,
    "links to the last event": links,
}
"""Proofs that are made one by one."""

WITH_ACCEPTED: Final = {"roots that fit", "events changed at random", *LISTED} - {"named rejects"}
"""The names of questions some of which are accepted, because only hashes could show what was changed."""
