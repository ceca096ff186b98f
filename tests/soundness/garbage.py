"""M10: random bytes and random CBOR for all functions that read untrusted bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from time import perf_counter
from typing import Any, Final, NamedTuple

from proofs.codec import decode_body, decode_header
from proofs.errors import ProofError
from proofs.events import EventKind
from proofs.forms import FormError
from proofs.leaves import bits_of, contains, decode_summary, decode_value, members_in
from proofs.note import parse_note, parse_signatures
from proofs.proof_file import decode_strict, split_path
from proofs.rows import read_postings, shown_root
from proofs.smt import opening_root
from proofs.verifier import verify
from proofs.vkey import parse_vkey
from tests.reference.cbor import head
from tests.soundness.mutations import Seeds, pick
from tests.soundness.wire import packed

READERS: Final[dict[str, Callable[[bytes], object]]] = {
    "decode_strict": lambda raw: decode_strict(raw, "it"),
    "header": lambda raw: decode_header(raw, 5),
    "value": lambda raw: decode_value(raw, "it"),
    "summary": lambda raw: decode_summary(raw, 256, "it"),
    "chunk": lambda raw: list(members_in(bits_of(raw))),
    "member": lambda raw: contains(raw, len(raw) & 0xFFFF),
    "postings": lambda raw: read_postings(raw, 256, 256),
    "rows": lambda raw: shown_root(9, 3, [bytes(32)], raw),
    "path": lambda raw: split_path(raw, "it"),
    "opening": lambda raw: opening_root({bytes(32): None, b"\x80" * 32: b"\1" * 32}, raw[:9], raw[9:]),
    "note": parse_note,
    "signatures": parse_signatures,
    "vkey": lambda raw: parse_vkey(raw.decode("latin-1")),
} | {f"body {kind.name}": (lambda raw, kind=kind: decode_body(kind, raw, "it")) for kind in EventKind}
"""The readers of bytes, by name; each refuses with ProofError or FormError only."""

TAGS: Final = (0, 1, 2, 3, 4, 5, 24, 25, 28, 29, 30, 35, 36, 37, 64, 256, 258, 260, 261, 1004, 43_000, 55_799)
"""CBOR tags that decoders act on: times, bignums, fractions, shared references, patterns, UUIDs, sets."""


class Slow(NamedTuple):
    """The input that took longest, and its time."""

    seconds: float
    reader: str
    raw: bytes


def garbage(seeds: Seeds, rng: Random) -> Iterator[bytes]:
    """Yield random bytes, random items, items similar to those of a proof, and damaged proofs, endlessly."""
    while True:
        data = pick(seeds, rng).item.data
        at = rng.randrange(len(data))
        yield rng.randbytes(rng.choice([0, 1, 2, 3, 5, 9, 32, 64, 200, 8190, 8192]))
        yield any_item(rng, rng.randrange(1, 6))
        yield packed(["memroot-proof", 3, *(loose(rng, 3) for _ in range(8))])
        yield data[:at] + any_item(rng, 3) + data[at + rng.randrange(40) :]
        yield data[:at] + rng.randbytes(rng.randrange(9)) + data[at + rng.randrange(9) :]


def any_item(rng: Random, depth: int) -> bytes:
    """Return the bytes of a random item, canonical or not, complete or not."""
    kind = rng.randrange(12)
    length = rng.choice([0, 1, 2, 7, 31, 32, 33])
    match kind:
        case 0 | 1 if depth:
            body = [any_item(rng, depth - 1) for _ in range(rng.randrange(5))]
            count = len(body) if rng.random() < 0.8 else rng.choice([0, 1 << 16, 1 << 32, (1 << 64) - 1])
            return head(4, count) + b"".join(body)
        case 2 if depth:
            return head(6, rng.choice(TAGS)) + any_item(rng, depth - 1)
        case 3 if depth:
            return head(5, 1) + any_item(rng, depth - 1) + any_item(rng, depth - 1)
        case 4:
            return head(2, length) + rng.randbytes(length)
        case 5:
            return head(3, length) + rng.choice([b"a" * length, rng.randbytes(length)])
        case 6:
            return head(rng.choice([0, 1]), rng.getrandbits(rng.choice([4, 8, 16, 32, 64])))
        case 7:
            return rng.choice([b"\xf4", b"\xf6", b"\xf7", b"\xf9\x7e\x00", b"\xfb" + bytes(8), b"\xff"])
        case 8:
            return bytes([rng.choice([0x5B, 0x7B, 0x9B, 0xBB])]) + b"\xff" * 8
        case 9:
            return bytes([rng.choice([0x5F, 0x7F, 0x9F, 0xBF])]) + rng.randbytes(2) + b"\xff"
    return head(0, rng.randrange(1 << 20))


def loose(rng: Random, depth: int) -> Any:
    """Return a random value of the types that a proof has."""
    if depth and rng.random() < 0.5:
        return [loose(rng, depth - 1) for _ in range(rng.randrange(7))]
    return rng.choice([None, 0, 1, 5, 1 << 40, b"", "x", bytes(32), rng.randbytes(64), bytes(3)])


def refusal_of(read: Callable[[bytes], object], raw: bytes) -> str | None:
    """Return the reason of the refusal, or None if the bytes are accepted; other exceptions propagate."""
    try:
        read(raw)
    except (ProofError, FormError) as error:
        return type(error).__name__
    return None


def read_all(seeds: Seeds, rng: Random, count: int) -> Slow:
    """Pass `count` inputs to every reader and to the verifier, and return the slowest one.

    Raises:
        AssertionError: the verifier accepted an input.
        Exception: a reader raised an exception that is not a refusal.
    """
    slow = Slow(0.0, "", b"")
    for _, raw in zip(range(count), garbage(seeds, rng), strict=False):
        seed = pick(seeds, rng)
        for name, read in READERS.items():
            begin = perf_counter()
            refusal_of(read, raw)
            slow = max(slow, Slow(perf_counter() - begin, name, raw))
        begin = perf_counter()
        refused = refusal_of(lambda raw, seed=seed: verify(raw, seed.basis, seed.claims), raw)  # type: ignore[misc]
        slow = max(slow, Slow(perf_counter() - begin, "verify", raw))
        assert refused == "ProofError" or raw == seed.item.data, f"accepted: {raw.hex()}"
    return slow
