"""The segments of the index: which there are, and the rows beside those of terms (SPEC: Index has the bytes).

Which segments exist is a function of the number of ordinals N alone. The last N mod 256 ordinals, the *tail*,
are in no segment and in no row; the tail is treated as one segment of its own when the root is asked for.

With the row of blocks a proof about one term reads two blocks of a segment's rows and not all of them.
Their roots are a level of the tree over the rows, so the root of `index` covers them without committing to
that row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from engine.base.errors import CorruptionError
from engine.ledger.codec import decode_stored
from engine.ledger.layout import INDEX_BLOCKS, INDEX_ROWS, INDEX_SUMMARIES
from proofs import segments
from proofs.hashing import DIGEST_BYTES
from proofs.rows import rows_root
from proofs.segments import LEVELS, Segment, Summary

LENGTHS: Final = b"\x00"
"""The key of the row of lengths; before every term, and itself none."""

FACTS: Final = b"\x00\x01"
"""The key of the row of facts."""

HEAD: Final = b"\x01"
"""Stands before a term of a head; no term begins with it."""

HEAD_BYTES: Final = 5


class SegmentName(Segment):
    """A segment, and where its rows are."""

    __slots__ = ()

    @property
    def row_prefix(self) -> bytes:
        """What the keys of its rows begin with."""
        return INDEX_ROWS + self.key + b"/"

    @property
    def summary_key(self) -> bytes:
        """The key of its summary row."""
        return INDEX_SUMMARIES + self.key

    @property
    def blocks_key(self) -> bytes:
        """The key of the row about its blocks of rows."""
        return INDEX_BLOCKS + self.key


def columns_head(size: int) -> bytes:
    """What the rows begin with that have something for each of `size` ordinals."""
    return size.to_bytes(4, "big") + b"\x00"


def segments_of(count: int) -> list[SegmentName]:
    """The segments of an index of `count` ordinals, from the first ordinal on."""
    return [SegmentName(*segment) for segment in segments.segments_of(count)]


@lru_cache(1024)
def decode_summary(name: SegmentName, raw: bytes) -> Summary:
    """The summary of segment `name`.

    Raises:
        CorruptionError: the bytes are no summary of a segment of this size.
    """
    return decode_stored(segments.decode_summary, raw, name.size, describe(name.summary_key))


def parse_summary_key(key: bytes) -> SegmentName:
    """The segment that a summary row's key names.

    Raises:
        CorruptionError: no segment can have this key.
    """
    tail = key.removeprefix(INDEX_SUMMARIES)
    if len(tail) == 5 and tail[0] < LEVELS:
        name = SegmentName(tail[0], int.from_bytes(tail[1:], "big"))
        if name.start % name.size == 0:
            return name
    raise CorruptionError(f"{describe(key)}: names no segment")


def describe(key: bytes) -> str:
    """A key for an error message, its bytes escaped."""
    return f"index row {key!r}"


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
