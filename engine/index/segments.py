"""The segments of the index: their names, their summaries and their rows of blocks (SPEC: Index).

The number of ordinals N alone determines which segments exist. The last N mod 256 ordinals are the *tail*.
They are not in a segment and have no rows of terms. The root is computed as if the tail were one more
segment.

A *block* is a group of 256 consecutive rows of a segment. With the row of blocks, a proof about one term can
be made from two blocks of a segment instead of all its rows. The roots of the blocks are a level of the tree
over the rows. The root of `index` therefore commits to the roots of the blocks, but not to the row of blocks.

The rows of terms are stored together in *packs* (`engine.index.packs`); each belongs to one block.
The row of blocks also names the packs, so that a term is found without a search in the backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.ledger.layout import INDEX_BLOCKS, INDEX_ROWS, INDEX_SUMMARIES, decode_stored
from proofs import leaves
from proofs.hashing import DIGEST_BYTES
from proofs.labels import LABEL_BYTES, TERMS, label_of
from proofs.leaves import LEVELS, Segment, Summary
from proofs.rows import rows_root

LENGTHS: Final = b"\x00"
"""The name of the row with the documents' lengths. It sorts before the names of all rows of terms."""

FACTS: Final = b"\x00\x01"
"""The name of the row with the documents' facts (`engine.index.columns.Facts`)."""

HEAD: Final = b"\x01"
"""The first byte of a term of a head (title or label). A term of a text never begins with this byte."""


class IndexKeys(NamedTuple):
    """The keys of a store on which the rows of its index depend."""

    labels: bytes
    """The label key. The name of the row of a term is the label of the term (`proofs.labels`)."""
    rows: bytes
    """The row key, from which the salts of rows are computed."""

    def names(self, terms: Sequence[bytes]) -> list[bytes]:
        """Return the name of the row of each of `terms`."""
        if NATIVE is not None:
            return NATIVE.labels(self.labels, TERMS, list(terms))  # type: ignore[no-any-return]
        return [label_of(self.labels, TERMS, term) for term in terms]


def is_name(name: bytes) -> bool:
    """Return True if a row of a term can have this name."""
    return len(name) == LABEL_BYTES and name[0] >= 0x80


HEAD_BYTES: Final = 5
"""The size in bytes of the first part of a row's value. It is the same for all rows of terms, lengths and
facts."""


class SegmentName(Segment):
    """A segment and the keys of its rows."""

    __slots__ = ()

    @property
    def row_prefix(self) -> bytes:
        """The prefix of the keys of the segment's rows."""
        return row_prefix(self.key)

    @property
    def summary_key(self) -> bytes:
        """The key of the segment's summary row."""
        return INDEX_SUMMARIES + self.key

    @property
    def blocks_key(self) -> bytes:
        """The key of the segment's row of blocks."""
        return INDEX_BLOCKS + self.key


def row_prefix(key: bytes) -> bytes:
    """Return the prefix of the keys of the rows of the segment with this key in the tree."""
    return INDEX_ROWS + key + b"/"


def columns_head(size: int) -> bytes:
    """Return the first bytes of the rows of lengths and facts, for a segment of `size` ordinals."""
    return size.to_bytes(4, "big") + b"\x00"


def segments_of(count: int) -> list[SegmentName]:
    """Return the segments of an index of `count` ordinals, sorted by ordinal."""
    return [SegmentName(*segment) for segment in leaves.segments_of(count)]


@lru_cache(1024)
def decode_summary(name: SegmentName, raw: bytes) -> Summary:
    """Decode the summary of segment `name`.

    Raises:
        CorruptionError: `raw` is not the summary of a segment of this size.
    """
    return decode_stored(leaves.decode_summary, raw, name.size, describe(name.summary_key))


def parse_summary_key(key: bytes) -> SegmentName:
    """Return the segment to which the key of a summary row belongs.

    Raises:
        CorruptionError: no segment can have this key.
    """
    tail = key.removeprefix(INDEX_SUMMARIES)
    if len(tail) == 5 and tail[0] < LEVELS:
        name = SegmentName(tail[0], int.from_bytes(tail[1:], "big"))
        if name.start % name.size == 0:
            return name
    raise CorruptionError(f"{describe(key)} does not belong to any possible segment")


def describe(key: bytes) -> str:
    """Return a description of a row for error messages, with the bytes of its key escaped."""
    return f"index row {key!r}"


BLOCK_ROWS: Final = 256
"""The number of rows in a block. It is a power of two, so that each block is a subtree."""


_COUNT_BYTES: Final = 2


def block_roots(leaves: Sequence[bytes]) -> list[bytes]:
    """Return the root of each block. The `rows_root` of these roots equals the `rows_root` of all leaves."""
    return [rows_root(leaves[at : at + BLOCK_ROWS]) for at in range(0, len(leaves), BLOCK_ROWS)]


class Blocks(NamedTuple):
    """The stored rows of a segment, and the roots of its blocks."""

    firsts: list[bytes]
    """The names of all stored rows, ascending: LENGTHS, FACTS, and the first name of each pack. The key of a
    stored row ends in its name."""
    starts: list[int]
    """The position in `firsts` of the first stored row of each block, and the number of all stored rows."""
    roots: list[bytes]
    """The root of each block."""


def encode_blocks(blocks: Blocks) -> bytes:
    """Encode the row of blocks: the roots, the numbers of stored rows, and the names of these rows."""
    counts = [after - start for start, after in pairwise(blocks.starts)]
    heads = [
        root + count.to_bytes(_COUNT_BYTES, "big") for root, count in zip(blocks.roots, counts, strict=True)
    ]
    return b"".join([*heads, bytes(map(len, blocks.firsts)), *blocks.firsts])


def decode_blocks(raw: bytes, rows: int, where: str) -> Blocks:
    """Decode the row of blocks of a segment that has `rows` rows.

    Raises:
        CorruptionError: `raw` is not a row of blocks.
    """
    width = DIGEST_BYTES + _COUNT_BYTES
    heads = -(-rows // BLOCK_ROWS) * width
    roots = [raw[at : at + DIGEST_BYTES] for at in range(0, heads, width)]
    counts = [int.from_bytes(raw[at - _COUNT_BYTES : at], "big") for at in range(width, heads + 1, width)]
    starts = list(accumulate(counts, initial=0))
    lengths = raw[heads : heads + starts[-1]]
    ends = list(accumulate(lengths, initial=heads + len(lengths)))
    if len(lengths) != starts[-1] or ends[-1] != len(raw) or len(raw) <= heads or not all(counts):
        raise CorruptionError(
            f"{where} does not describe the stored segment rows, of which there are {rows}", family="index"
        )
    return Blocks([raw[start:end] for start, end in pairwise(ends)], starts, roots)
