"""SPEC 20.7: computes the root of a tree from an opening and its keys. A key may have no value."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.hashes import EMPTY, bit, digest, in_namespace, place
from tests.reference.refused import Refused, need

Take = Callable[[int], bytes]
NODE, OWN, OTHER, NONE = range(4)


def taker(data: bytes, reason: str) -> tuple[Take, Callable[[], bool]]:
    """Return two functions: one reads bytes and refuses to read beyond the end, one tests for the end."""
    at = 0

    def take(count: int) -> bytes:
        nonlocal at
        need(at + count <= len(data), reason)
        at += count
        return data[at - count : at]

    return take, lambda: at == len(data)


def opened_root(
    namespace: str, calls: dict[bytes, bytes | None], shape: bytes, hashes: bytes, complete: list[bytes]
) -> bytes:
    """Return the root of the opened tree of a namespace. A key with the value None is absent in the tree.

    Every leaf whose key digest begins with one of `complete` is among the calls.
    """
    keys: dict[bytes, bytes | None] = {start + bytes(32 - len(start)): None for start in complete}
    for key, value in calls.items():
        keys[place(namespace, key)] = None if value is None else in_namespace("value", namespace, value)
    next_case, shape_ended = taker(shape, "shape")
    next_hashes, hashes_ended = taker(hashes, "shape")
    root, _ = walk(keys, 0, next_case, next_hashes, tuple(complete))
    need(shape_ended() and hashes_ended(), "shape")
    return root


def walk(
    keys: dict[bytes, bytes | None], depth: int, cases: Take, hashes: Take, complete: tuple[bytes, ...]
) -> tuple[bytes, bool]:
    """Return the root of the subtree that holds these keys, and True if the subtree is a single leaf."""
    case = cases(1)[0]
    valued = [(key, value) for key, value in keys.items() if value is not None]
    if case == NODE:
        return node(keys, depth, cases, hashes, complete), False
    if case == OWN:
        need(len(valued) == 1, "other-leaf" if not valued else "shape")
        return digest("leaf", *valued[0]), True
    need(case in (OTHER, NONE), "shape")
    need(not valued, "absent")
    if case == NONE:
        return EMPTY, False
    other, value = hashes(32), hashes(32)
    need(prefix(other, depth) == prefix(next(iter(keys)), depth) and other not in keys, "other-leaf")
    need(not other.startswith(complete) if complete else True, "list")
    return digest("leaf", other, value), True


def node(
    keys: dict[bytes, bytes | None], depth: int, cases: Take, hashes: Take, complete: tuple[bytes, ...]
) -> bytes:
    """Return the hash of an inner node. At least one of its two sides contains some of the keys."""
    if depth >= 256:
        raise Refused("shape")
    roots, leaves = [], []
    first = next(iter(keys))
    whole = any(8 * len(start) <= depth and first.startswith(start) for start in complete)
    for side in (0, 1):
        some = {key: value for key, value in keys.items() if bit(key, depth) == side}
        root, leaf = walk(some, depth + 1, cases, hashes, complete) if some else (hashes(32), False)
        need(bool(some) or not whole or root == EMPTY, "list")
        roots.append(root)
        leaves.append(leaf)
    for one, other in ((0, 1), (1, 0)):
        need(roots[one] != EMPTY or (roots[other] != EMPTY and not leaves[other]), "shape")
    return digest("node", *roots)


def prefix(key: bytes, depth: int) -> int:
    """Return the first bits of a key digest, as a number."""
    return int.from_bytes(key, "big") >> 256 - depth
