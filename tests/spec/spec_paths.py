"""Section 20.6 in Python: checks of paths of inclusion and consistency, step by step as on the page."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def node(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 ‖ left ‖ right)."""
    return sha256(b"\1" + left + right).digest()


def inclusion(i: int, n: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> bool:
    """Return True if the page accepts `leaf` at position i of a log of size n."""
    if not 0 <= i < n < 1 << 63:
        return False
    j, r = n - 1, leaf
    for p in path:
        if j == 0:
            return False
        if i % 2 or i == j:
            r = node(p, r)
            while i % 2 == 0 and i > 0:
                i, j = i >> 1, j >> 1
        else:
            r = node(r, p)
        i, j = i >> 1, j >> 1
    return j == 0 and r == root


def consistency(m: int, a: bytes, n: int, b: bytes, path: Sequence[bytes]) -> bool:
    """Return True if the page accepts that the log of size n begins with the one of size m."""
    if not 1 <= m <= n < 1 << 63:
        return False
    if m == n:
        return not path and a == b
    hashes = [a, *path] if m & (m - 1) == 0 else list(path)
    i, j = m - 1, n - 1
    while i % 2:
        i, j = i >> 1, j >> 1
    if not hashes:
        return False
    x = y = hashes[0]
    for p in hashes[1:]:
        if j == 0:
            return False
        if i % 2 or i == j:
            x, y = node(p, x), node(p, y)
            while i % 2 == 0 and i > 0:
                i, j = i >> 1, j >> 1
        else:
            y = node(y, p)
        i, j = i >> 1, j >> 1
    return j == 0 and (x, y) == (a, b)
