"""Where each 256 rows of a segment begin, and the root over them (SPEC: Index).

    i/blk/ level[1] start[4]    for each block: u16be length of the first t ‖ t ‖ root[32] over its leaves

A proof about one term then reads two blocks and not the segment. The roots are a level of the tree over the
segment's rows, so the root of `index` covers them without committing to this row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engine.base.errors import CorruptionError
from proofs.hashing import DIGEST_BYTES
from proofs.rows import rows_root

BLOCK_ROWS: Final = 256
"""A power of two, so that blocks are subtrees."""


def block_roots(leaves: Sequence[bytes]) -> list[bytes]:
    """The root of each block; `rows_root` of these is that of all the leaves."""
    return [rows_root(leaves[at : at + BLOCK_ROWS]) for at in range(0, len(leaves), BLOCK_ROWS)]


def encode_blocks(firsts: Sequence[bytes], roots: Sequence[bytes]) -> bytes:
    """The bytes of the row: what each block's first row is called, and the block's root."""
    pairs = zip(firsts, roots, strict=True)
    return b"".join(len(first).to_bytes(2, "big") + first + root for first, root in pairs)


def decode_blocks(raw: bytes, where: str) -> tuple[list[bytes], list[bytes]]:
    """What each block's first row is called, and the blocks' roots.

    Raises:
        CorruptionError: the bytes are no such row.
    """
    pairs = list(_pairs(raw, where))
    return [first for first, _ in pairs], [root for _, root in pairs]


def _pairs(raw: bytes, where: str) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at < len(raw):
        middle = at + 2 + int.from_bytes(raw[at : at + 2], "big")
        end = middle + DIGEST_BYTES
        if end > len(raw):
            raise CorruptionError(f"{where}: ends within a block", family="index")
        yield raw[at + 2 : middle], raw[middle:end]
        at = end
