"""Honest proofs with something in them changed, against roots that were made to fit the change."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from proofs.basis import Root
from tests.javascript.agreement import Asked
from tests.reference.both import real_claim
from tests.reference.cbor import read, write
from tests.reference.reroot import NoRoots, rerooted
from tests.reference.test_differential import changed, honest


def forged_roots(rng: Random) -> Iterator[Asked]:
    """Give honest proofs with something in them changed, and the overall root that the change leads to."""
    while True:
        data, store_id, claims = rng.choice(honest())
        parts: Any = read(data)
        changed(parts, rng)
        try:
            root = rerooted(parts, store_id, claims)
            data = write(parts)
        except (NoRoots, OverflowError, StopIteration):
            continue
        yield Asked(data, Root.of(store_id.hex(), root.hex()), [real_claim(*claim) for claim in claims])
