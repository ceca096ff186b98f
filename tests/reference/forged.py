"""Changed proofs with recomputed overall roots, as if the store's writer had committed to the changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tests.reference.cbor import Malformed, read, write
from tests.reference.claims import Claim
from tests.reference.reroot import NoRoots, rerooted
from tests.soundness.mutations import NUMBERS, flipped, other_string, rearranged
from tests.soundness.wire import at_path, places

Honest = Sequence[tuple[bytes, bytes, list[Claim]]]
"""Correct proofs against overall roots: (proof, store id, claims)."""


def forged_roots(rng: Random, honest: Honest) -> Iterator[tuple[bytes, bytes, bytes, list[Claim]]]:
    """Yield any number of changed proofs: (proof, store id, recomputed overall root, claims)."""
    while True:
        data, store_id, claims = rng.choice(honest)
        parts: Any = read(data)
        changed(parts, rng)
        try:
            root = rerooted(parts, store_id, claims)
            data = write(parts)
        except (NoRoots, OverflowError, StopIteration):
            continue
        yield data, store_id, root, claims


def odd_bytes(rng: Random, old: bytes) -> bytes:
    """Return the bytes with pieces rearranged, or with one bit flipped."""
    if not old or rng.random() < 0.5:
        return other_string(old, [], rng)
    return flipped(old, rng.randrange(8 * len(old)))


def odd_fields(rng: Random, old: bytes) -> bytes:
    """Return the bytes with one field of their CBOR array changed; without an array, use `odd_bytes`."""
    salt = b"" if old[:1] >= b"\x80" else old[:32]
    try:
        fields: Any = read(old[len(salt) :])
    except Malformed:
        return odd_bytes(rng, old)
    if not isinstance(fields, list) or not fields:
        return odd_bytes(rng, old)
    at = rng.randrange(len(fields))
    fields[at] = rng.choice([*NUMBERS, None, b"", bytes(32), "x", [], *fields])
    return salt + write(fields)


def changed(parts: Any, rng: Random) -> None:
    """Change one or two items in the openings of trees, the segments or the witnesses."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        paths = [path for path in places(parts) if path[0] >= 3 and len(path) > 1]
        *way, last = rng.choice(paths)
        place = at_path(parts, tuple(way))
        old = place[last]
        if isinstance(old, bytes):
            place[last] = rng.choice([odd_bytes, odd_bytes, odd_fields])(rng, old)
        elif isinstance(old, int):
            place[last] = rng.choice([old + 1, abs(old - 1), *NUMBERS])
        elif isinstance(old, list) and old:
            place[last] = rearranged(old, old, rng)
        else:
            place[last] = rng.choice([None, b"", b"\0", b"\1\0", [], 0])
