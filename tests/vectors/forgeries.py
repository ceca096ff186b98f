"""Invalid proofs against recomputed roots: every hash matches, but the proof breaks a different rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from random import Random
from typing import Any

from tests.reference.cbor import Malformed, read, write
from tests.reference.claims import Basis
from tests.reference.reroot import NoRoots, rerooted
from tests.vectors import mutations
from tests.vectors.items import Edit, difference, edited, spans
from tests.vectors.valid import Valid

Forged = tuple[str, list[Edit], Basis]
MUTATORS = (mutations.trees, mutations.hashes, mutations.witnesses, mutations.values, mutations.rows)


def forgeries(one: Valid, rng: Random) -> Iterator[Forged]:
    """Yield changes of a proof, each with the overall root of the changed proof as the basis."""
    found = spans(one.data)
    mutations_of_one = chain.from_iterable(mutate(one.data, found, rng) for mutate in MUTATORS)
    for change, edits in mutations_of_one:
        try:
            parts: Any = read(edited(one.data, edits))
            data, basis = forged(one, parts)
        except (Malformed, NoRoots):
            continue
        yield f"{change}; with a matching root", difference(one.data, data), basis
    for name, change_parts in BY_HAND.items():
        parts = read(one.data)
        try:
            change_parts(parts)
            data, basis = forged(one, parts)
        except (NoRoots, IndexError, TypeError):
            continue
        if data != one.data:
            yield f"{name}; with a matching root", difference(one.data, data), basis


def forged(one: Valid, parts: Any) -> tuple[bytes, Basis]:
    """Return a proof and its basis with all roots recomputed."""
    root = rerooted(parts, one.basis[1], one.claims)
    return write(parts), ("root", one.basis[1], root, None)


def leaf_too_deep(parts: Any) -> None:
    """Move the last leaf one level down, below a node whose other side is EMPTY."""
    for at in (5, 6, 7):
        if parts[at] is not None and parts[at][0][-1:] in (b"\1", b"\2"):
            shape, hashes = parts[at]
            parts[at] = [shape[:-1] + b"\0" + shape[-1:], hashes + bytes(32)]


def two_empty_sides(parts: Any) -> None:
    """Replace an empty subtree by a node of two empty subtrees."""
    for at in (5, 6, 7):
        if parts[at] is not None and parts[at][0][-1:] == b"\3":
            shape, hashes = parts[at]
            parts[at] = [shape[:-1] + b"\0\3", hashes + bytes(32)]


def witness(at: int, change: Callable[[bytes], bytes]) -> Callable[[Any], None]:
    """Return a function that changes one byte string in the first witness."""

    def apply(parts: Any) -> None:
        parts[8][0][at] = change(parts[8][0][at])

    return apply


BY_HAND: dict[str, Callable[[Any], None]] = {
    "a leaf one level too deep": leaf_too_deep,
    "two empty sides in place of an empty subtree": two_empty_sides,
    "a chunk of bits with too few members": witness(2, lambda chunk: bytes(chunk[:1]) * 8192),
    "a chunk with its members reversed": witness(2, lambda chunk: chunk[2:] + chunk[:2]),
    "a chunk with a member twice": witness(2, lambda chunk: chunk[:2] + chunk),
}
"""Name → change of the parts of a proof. A change that does not apply to a proof is skipped."""
