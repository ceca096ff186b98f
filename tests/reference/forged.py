"""Changed proofs with recomputed overall roots, as if the store's writer had committed to the changes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from tests.reference.cases import ONE_EACH, large_case, small_case
from tests.reference.cbor import Malformed, read, write
from tests.reference.claims import Claim
from tests.reference.reroot import NoRoots, rerooted


def forged_roots(rng: Random) -> Iterator[tuple[bytes, bytes, bytes, list[Claim]]]:
    """Yield any number of changed proofs: (proof, store id, recomputed overall root, claims)."""
    while True:
        data, store_id, claims = rng.choice(honest())
        parts: Any = read(data)
        changed(parts, rng)
        try:
            root = rerooted(parts, store_id, claims)
            data = write(parts)
        except (NoRoots, OverflowError, StopIteration):
            continue
        yield data, store_id, root, claims


@cache
def honest() -> list[tuple[bytes, bytes, list[Claim]]]:
    """Return correct proofs against overall roots: (proof, store id, claims).

    They are proofs about the small journal and about a journal whose index has a segment.
    """
    large, rng = large_case(), Random("honest")
    every = sorted(large.truths("root"), key=lambda claim: claim[:2])
    asked = [(small_case(), claims) for claims in ONE_EACH.values()]
    for number in sorted({claim[0] for claim in every}):
        asked += [(large, [rng.choice([one for one in every if one[0] == number])]) for _ in range(2)]
    return [(case.proof("root", claims), case.basis("root")[1], claims) for case, claims in asked]


def odd_bytes(rng: Random, old: bytes) -> bytes:
    """Return the bytes with a part removed, inserted, repeated or changed."""
    at, stop = sorted((rng.randrange(len(old) + 1), rng.randrange(len(old) + 1)))
    return rng.choice(
        [
            old[:at] + old[stop:],
            old[:at] + rng.randbytes(rng.choice((1, 2, 8))) + old[at:],
            old[:at] + bytes([old[at] ^ 1 << rng.randrange(8)]) + old[at + 1 :] if at < len(old) else b"",
            old[:at] + old[at:stop] * 2 + old[stop:],
        ]
    )


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
    fields[at] = rng.choice(
        [0, 1, 2, 3, 255, 1 << 32, (1 << 53) + 1, 1 << 63, None, b"", bytes(32), "x", [], *fields]
    )
    return salt + write(fields)


def places(item: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Return the paths to all items of nested arrays; the outermost array itself is left out."""
    inner = (
        [place for at, one in enumerate(item) for place in places(one, (*path, at))]
        if isinstance(item, list)
        else []
    )
    return inner + ([path] if path else [])


def changed(parts: Any, rng: Random) -> None:
    """Change one or two items in the openings of trees, the segments or the witnesses."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        paths = [path for path in places(parts) if path[0] >= 3 and len(path) > 1]
        *way, last = rng.choice(paths)
        place = parts
        for at in way:
            place = place[at]
        old = place[last]
        if isinstance(old, bytes):
            place[last] = rng.choice([odd_bytes, odd_bytes, odd_fields])(rng, old)
        elif isinstance(old, int):
            place[last] = rng.choice([old + 1, abs(old - 1), 0, 256, 65_536, 1 << 32, (1 << 63) - 1, 1 << 63])
        elif isinstance(old, list) and old:
            rearranged(old, rng)
        else:
            place[last] = rng.choice([None, b"", b"\0", b"\1\0", [], 0])


def rearranged(items: list[Any], rng: Random) -> None:
    """Change an array: remove the last item, repeat an item, reverse the items, or remove all items."""
    match rng.randrange(4):
        case 0:
            items.pop()
        case 1:
            items.append(rng.choice(items))
        case 2:
            items.reverse()
        case _:
            items.clear()
