"""Sparse trees of several sizes, and some whose key digests have many leading bits in common."""

from __future__ import annotations

from hashlib import sha256
from random import Random
from typing import Any

from proofs.hashing import EDGES, NAMESPACES, position, value_digest
from proofs.smt import root_of

SIZES = (*range(18), 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 1000)
SHARED = (1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 128, 129, 200, 254, 255)
"""Numbers of leading bits that two key digests have in common."""


def trees() -> dict[str, Any]:
    """Return the contents of `trees.json`."""
    keyed = [of_keys(size, NAMESPACES[at % 4]) for at, size in enumerate(SIZES)]
    return {
        "keys": [*keyed, odd_keys()],
        "digests": [*map(sharing, SHARED), chain(256), chain(9), both_ends()],
    }


def of_keys(size: int, namespace: str) -> dict[str, Any]:
    """Return a tree of keys of 1 to 40 bytes, or keys of edges, and values of 0 to 20."""
    rng = Random(f"tree {size}")
    leaves: dict[bytes, bytes] = {}
    while len(leaves) < size:
        key = rng.randbytes(rng.choice((1, 2, 4, 16, 40) if size < 70 else (2, 4)))
        leaves[edge(key, rng) if namespace == EDGES else key] = rng.randbytes(
            rng.randrange(21 if size < 70 else 3)
        )
    return keyed(namespace, leaves)


def edge(key: bytes, rng: Random) -> bytes:
    """Return the key of one of the few atoms' many edges; its other end begins with `key`."""
    code = rng.choice((b"\1", b"\6", b"\x80" + bytes(7), b"\xff" * 8))
    return bytes([rng.randrange(2)]) + bytes([rng.randrange(4)]) * 16 + code + key[:16].ljust(16, b"\0")


def odd_keys() -> dict[str, Any]:
    """Return a tree of keys that are prefixes of each other, with the empty key and empty values."""
    whole = bytes(range(20))
    return keyed("atoms", {whole[:length]: b"" if length % 2 else whole[length:] for length in range(20)})


def keyed(namespace: str, leaves: dict[bytes, bytes]) -> dict[str, Any]:
    """Return a tree with its keys and values."""
    digests = {position(namespace, key): value_digest(namespace, value) for key, value in leaves.items()}
    rows = [[key.hex(), value.hex(), position(namespace, key).hex()] for key, value in sorted(leaves.items())]
    return {"namespace": namespace, "root": root_of(digests).hex(), "leaves": rows}


def digested(what: str, leaves: dict[bytes, bytes]) -> dict[str, Any]:
    """Return a tree with these key digests and value digests."""
    rows = [[key.hex(), value.hex()] for key, value in sorted(leaves.items())]
    return {"what": what, "root": root_of(leaves).hex(), "leaves": rows}


def value_of(key: bytes) -> bytes:
    """Return a value digest for a key digest."""
    return sha256(b"value " + key).digest()


def sharing(bits: int) -> dict[str, Any]:
    """Return a tree of two key digests that share the first `bits` bits.

    If `bits` is odd, the tree also has a third key digest, which differs from them in the first bit.
    """
    base = sha256(b"shared %d" % bits).digest()
    other = (int.from_bytes(base, "big") ^ 1 << 255 - bits).to_bytes(32, "big")
    third = [bytes([base[0] ^ 0x80]) + base[1:]] if bits % 2 else []
    return digested(
        f"two keys that share {bits} bits" + (", and one that shares none" if third else ""),
        {key: value_of(key) for key in (base, other, *third)},
    )


def chain(length: int) -> dict[str, Any]:
    """Return a tree of the zero digest and of digests with a single 1 bit, each at the next position."""
    first = bytes(32)
    keys = [first, *((1 << 255 - at).to_bytes(32, "big") for at in range(length))]
    return digested(
        f"{length} keys that leave the way of zeros one bit after the other",
        {key: value_of(key) for key in keys},
    )


def both_ends() -> dict[str, Any]:
    """Return a tree of the two smallest and the two largest key digests."""
    most = (1 << 256) - 1
    keys = [number.to_bytes(32, "big") for number in (0, 1, most - 1, most)]
    return digested("the two smallest and the two largest keys", {key: value_of(key) for key in keys})
