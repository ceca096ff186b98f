"""M1 to M8: classes of wrong proofs; each is an endless, seeded stream made from honest proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Final, NamedTuple

from proofs.basis import Basis, Root
from proofs.claims import Claim
from proofs.hashing import EMPTY
from tests.soundness.recoding import recoded
from tests.soundness.wire import Item, at_path, basis_of, claim_of, packed, parts_of, places


@dataclass
class Seed:
    """An honest proof with its parsed array and paths."""

    item: Item
    basis: Basis
    claims: list[Claim]

    @property
    def parts(self) -> list[Any]:
        """The array of the proof, as a copy that may be changed."""
        return parts_of(self.item.data)

    @cached_property
    def places(self) -> list[tuple[int, ...]]:
        """The paths to all items of the proof."""
        return places(self.parts)

    @cached_property
    def paths(self) -> set[tuple[int, ...]]:
        """The same paths as a set."""
        return set(self.places)


class Attempt(NamedTuple):
    """A proof to verify; it may be accepted only if it is `honest`, the honest proof of its claims."""

    data: bytes
    basis: Basis
    claims: list[Claim]
    honest: bytes | None


Seeds = Sequence[Seed]
Attempts = Iterator[Attempt]
EXHAUSTIVE: Final = 30
"""The number of proofs of which every bit is flipped; of the others only some are."""
SHORT_BYTES: Final = 2_000
LONG_SHARE: Final = 0.05
NUMBERS: Final = (
    0,
    1,
    2,
    3,
    23,
    24,
    255,
    256,
    65_535,
    65_536,
    1 << 31,
    1 << 32,
    (1 << 53) + 1,
    (1 << 63) - 1,
    1 << 63,
)
FOREIGN: Final[tuple[Any, ...]] = (
    None,
    b"",
    "",
    [],
    [[]],
    "x",
    True,
    False,
    -1,
    1.0,
    {},
    {1: 2},
    b"\0" * 32,
    b"\0" * 33,
)


def seeds_of(items: Sequence[Item]) -> list[Seed]:
    """Return seeds made from items."""
    return [Seed(item, basis_of(item.basis), [claim_of(claim) for claim in item.claims]) for item in items]


def pick(seeds: Seeds, rng: Random) -> Seed:
    """Return a random seed; long ones are rare because they take time."""
    while True:
        seed = rng.choice(seeds)
        if len(seed.item.data) <= SHORT_BYTES or rng.random() < LONG_SHARE:
            return seed


def of(seed: Seed, data: bytes) -> Attempt:
    """Return the attempt to verify other bytes for the same claims."""
    return Attempt(data, seed.basis, seed.claims, seed.item.data)


def with_other(seed: Seed, path: tuple[int, ...], value: object) -> Attempt:
    """Return the proof with `value` at `path`."""
    parts = seed.parts
    at_path(parts, path[:-1])[path[-1]] = value
    return of(seed, packed(parts))


def m1_bits(seeds: Seeds, rng: Random) -> Attempts:
    """Yield flips of one bit: every bit of a short proof of each kind, and some bits of all proofs."""
    shortest: dict[str, Seed] = {}
    for seed in sorted(seeds, key=lambda seed: len(seed.item.data)):
        shortest.setdefault(seed.item.name, seed)
    for seed in list(shortest.values())[:EXHAUSTIVE]:
        for at in range(8 * len(seed.item.data)):
            yield of(seed, flipped(seed.item.data, at))
            if at % 4 == 0:
                yield _any_bit(seeds, rng)
    while True:
        yield _any_bit(seeds, rng)


def _any_bit(seeds: Seeds, rng: Random) -> Attempt:
    seed = pick(seeds, rng)
    return of(seed, flipped(seed.item.data, rng.randrange(8 * len(seed.item.data))))


def flipped(data: bytes, bit: int) -> bytes:
    """Return the bytes with one bit flipped."""
    at = bit >> 3
    return data[:at] + bytes([data[at] ^ 1 << (bit & 7)]) + data[at + 1 :]


def m2_fields(seeds: Seeds, rng: Random) -> Attempts:
    """Yield proofs with one field replaced by a bound, another field's value, null, or another type."""
    while True:
        seed = pick(seeds, rng)
        parts = seed.parts
        paths = seed.places
        path = rng.choice(paths)
        value = rng.choice([*NUMBERS, *FOREIGN, at_path(parts, rng.choice(paths))])
        if value != at_path(parts, path) or type(value) is not type(at_path(parts, path)):
            yield with_other(seed, path, value)


def m3_lists(seeds: Seeds, rng: Random) -> Attempts:
    """Yield proofs with array items or hashes dropped, doubled, swapped, reversed, or inserted."""
    while True:
        seed = pick(seeds, rng)
        parts = seed.parts
        path = rng.choice(seed.places)
        value = at_path(parts, path)
        if isinstance(value, list):
            made = rearranged(value, [None, b"", EMPTY, 0, *value], rng)
            if made != value:
                yield with_other(seed, path, made)
        elif isinstance(value, bytes) and value:
            joined = other_string(value, _hashes(seed, rng), rng)
            if joined != value:
                yield with_other(seed, path, joined)


def _hashes(seed: Seed, rng: Random) -> list[bytes]:
    """Return a root and a piece of another string of the proof."""
    root = seed.basis.root
    parts = seed.parts
    strings = [found for path in seed.places if isinstance(found := at_path(parts, path), bytes)]
    chosen = rng.choice(strings)
    at = 32 * rng.randrange(len(chosen) // 32 + 1)
    return [root, chosen[at : at + 32]]


def other_string(value: bytes, extra: Sequence[bytes], rng: Random) -> bytes:
    """Return a string of bytes with its hashes, or pieces of another width, rearranged."""
    width = 32 if len(value) % 32 == 0 else rng.choice([1, 2, 32])
    pieces = [value[at : at + width] for at in range(0, len(value), width)]
    return b"".join(rearranged(pieces, [EMPTY[:width], rng.randbytes(width), *extra], rng))


def rearranged(given: list[Any], extra: list[Any], rng: Random) -> list[Any]:
    """Return a list with an item dropped, doubled, swapped, or inserted, or all in another order."""
    made = list(given)
    at, other = rng.randrange(len(made) + 1), rng.randrange(len(made) + 1)
    match rng.randrange(6):
        case 0:
            del made[at : at + 1]
        case 1:
            made[other:other] = made[at : at + 1]
        case 2 if max(at, other) < len(made):
            made[at], made[other] = made[other], made[at]
        case 3:
            made.reverse()
        case 4:
            made = made[at:] + made[:at]
        case _:
            made.insert(at, rng.choice(extra))
    return made


def m4_lengths(seeds: Seeds, rng: Random) -> Attempts:
    """Yield proofs cut at every byte, extended by up to 64 bytes, or followed by another proof."""
    for seed in sorted(seeds, key=lambda seed: len(seed.item.data))[:10]:
        for at in range(len(seed.item.data)):
            yield of(seed, seed.item.data[:at])
    while True:
        seed = pick(seeds, rng)
        data, other = seed.item.data, rng.choice(seeds).item.data
        yield of(seed, data[: rng.randrange(len(data))])
        yield of(seed, data + rng.choice([bytes(64), b"\xf6" * 64, rng.randbytes(64)])[: rng.randint(1, 64)])
        yield of(seed, data + other)
        yield of(seed, other + data)


def m5_splices(seeds: Seeds, rng: Random) -> Attempts:
    """Yield proofs whose hashes, from some level on, are replaced by those of another proof."""
    while True:
        one, other = pick(seeds, rng), pick(seeds, rng)
        path = rng.choice(other.places)
        if path not in one.paths:
            continue
        own, foreign = at_path(one.parts, path), at_path(other.parts, path)
        if isinstance(own, bytes) and isinstance(foreign, bytes):
            at = 32 * rng.randrange(min(len(own), len(foreign)) // 32 + 1)
            foreign = rng.choice([own[:at] + foreign[at:], foreign[:at] + own[at:], foreign])
        if own != foreign:
            yield with_other(one, path, foreign)


def m6_replays(seeds: Seeds, rng: Random) -> Attempts:
    """Yield proofs against the bases and claims of other stores, names, ids and sizes."""
    known = {(repr(seed.basis), repr(seed.claims)): seed.item.data for seed in seeds}
    while True:
        one, basis, claims = pick(seeds, rng), rng.choice(seeds).basis, rng.choice(seeds).claims
        alike = [seed for seed in seeds if seed.item.name == one.item.name]
        match rng.randrange(4):
            case 0:
                basis, claims = rng.choice(alike).basis, one.claims
            case 1:
                basis, claims = one.basis, rng.choice(alike).claims
            case 2 if isinstance(one.basis, Root):
                other = rng.choice(seeds).basis
                parts = (one.basis.store_id, other.store_id), (one.basis.root, other.root)
                basis, claims = Root(rng.choice(parts[0]), rng.choice(parts[1]), other.size), one.claims
                if isinstance(basis, Root) and basis.size is None:
                    continue
            case _:
                pass
        key = repr(basis), repr(claims)
        yield Attempt(one.item.data, basis, claims, known.get(key))


def m7_kinds(seeds: Seeds, rng: Random) -> Attempts:
    """Yield the bytes of one proof for a claim of every other kind, against the same basis."""
    by_basis: dict[str, list[Seed]] = {}
    for seed in seeds:
        by_basis.setdefault(repr(seed.basis), []).append(seed)
    while True:
        one = pick(seeds, rng)
        other = rng.choice(by_basis[repr(one.basis)])
        if len(one.claims) == len(other.claims) == 1 and rng.random() < 0.5:
            parts = one.parts
            parts[-1][0][0] = other.claims[0].number
            yield of(other, packed(parts))
        yield of(other, one.item.data)


def m8_codings(seeds: Seeds, rng: Random) -> Attempts:
    """Yield proofs with an item in another encoding: long numbers, indefinite lengths, tags and others."""
    while True:
        seed = pick(seeds, rng)
        yield of(seed, recoded(seed.parts, rng))


CLASSES: Final[dict[str, Callable[[Seeds, Random], Attempts]]] = {
    "M1": m1_bits,
    "M2": m2_fields,
    "M3": m3_lists,
    "M4": m4_lengths,
    "M5": m5_splices,
    "M6": m6_replays,
    "M7": m7_kinds,
    "M8": m8_codings,
}
