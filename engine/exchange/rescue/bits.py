"""Finding a single flipped bit. A hash shows which bytes are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proofs.hashing import SALT_BYTES, commitment
from proofs.log import leaf_hash, node_hash

PAYLOAD_BYTES_MAX = 16_384
"""The maximum size, in bytes, of a payload whose bits are tried. Trying all bits takes at most about a
second."""


def _flipped(raw: bytes) -> Iterator[bytes]:
    """Yield `raw` with each of its bits flipped in turn."""
    changed = bytearray(raw)
    for at in range(len(raw)):
        for bit in range(8):
            changed[at] ^= 1 << bit
            yield bytes(changed)
            changed[at] ^= 1 << bit


def payload_with_one_bit_back(raw: bytes, expected: bytes) -> bytes | None:
    """Flip each bit of `raw` in turn; return the payload with the commitment `expected`, or None."""
    if not SALT_BYTES < len(raw) <= PAYLOAD_BYTES_MAX:
        return None
    return next(
        (one for one in _flipped(raw) if commitment(one[:SALT_BYTES], one[SALT_BYTES:]) == expected), None
    )


def header_with_one_bit_back(
    headers: Sequence[bytes], suspects: Iterable[int], expected: bytes
) -> tuple[int, bytes] | None:
    """Find the header in which one bit flipped.

    The headers are the leaves of a subtree of the log. The root of this subtree is known.

    Args:
        headers: All headers of the subtree. Their number is a power of two.
        suspects: The positions of the headers that may be damaged.
        expected: The root of the subtree.

    Returns:
        The position of the damaged header and the right header, or None if no single bit explains the root.
    """
    levels = [[leaf_hash(raw) for raw in headers]]
    while len(levels[-1]) > 1:
        row = levels[-1]
        levels.append([node_hash(row[at], row[at + 1]) for at in range(0, len(row), 2)])
    for suspect in suspects:
        siblings = [row[suspect >> level ^ 1] for level, row in enumerate(levels[:-1])]
        for raw in _flipped(headers[suspect]):
            root = leaf_hash(raw)
            for level, sibling in enumerate(siblings):
                root = node_hash(sibling, root) if suspect >> level & 1 else node_hash(root, sibling)
            if root == expected:
                return suspect, raw
    return None
