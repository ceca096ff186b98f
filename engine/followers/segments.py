"""The bytes of an index segment (SPEC: Index).

A segment covers the ordinals start … start + 256·4^level − 1, with level 0 to 4 and start a multiple
of its size. Which segments exist is a function of the number of ordinals N alone: as many of the
largest as fit, then of the next, down to 256. The last N mod 256 ordinals, the *tail*, are in no
segment and in no row; the tail is treated as one segment of its own when the root is asked for.

    i/seg/ level[1] start[4] / term      one row for each term, in order of the term's bytes
        value = u32be df ‖ u8 max tf ‖ df × u16le offset from start, ascending ‖ df × u8 tf
    i/seg/ level[1] start[4] / 00        the first row: how long each document is
        value = u32be documents ‖ u8 0 ‖ documents × u16le length
    i/sum/ level[1] start[4]             the summary: canonical CBOR [documents, total length, rows, root]

A term is 1 to 64 bytes of UTF-8, never 00. tf is clamped to 255 and a length to 65,535; the length
is the number of terms that are not stop words. A document without a body has length 0 and no terms.
`rows` counts the rows of terms and of lengths; `root` is the Merkle tree over all of them in key
order, leaf = row_hash(term, inner_row_hash(value)), split as in RFC 6962.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from engine import limits
from engine.codec import fields, pack, sized, uint, unpack
from engine.errors import CorruptionError
from engine.layout import INDEX_ROWS, INDEX_SUMMARIES

SEGMENT_DOCUMENTS: Final = 256
LEVELS: Final = 5
LARGEST: Final = SEGMENT_DOCUMENTS << 2 * (LEVELS - 1)
TAIL_LEVEL: Final = 0xFF
"""Stands for the level in the tail's key in the `index` tree."""

LENGTHS: Final = b"\x00"
"""The key of the row of lengths; before every term, and itself none."""

HEAD_BYTES: Final = 5
LENGTH_MAX: Final = 0xFFFF


class SegmentName(NamedTuple):
    """Which segment: its size and its first ordinal."""

    level: int
    start: int

    @property
    def documents(self) -> int:
        """How many ordinals it covers."""
        return SEGMENT_DOCUMENTS << 2 * self.level

    @property
    def end(self) -> int:
        """The first ordinal after it."""
        return self.start + self.documents

    @property
    def key(self) -> bytes:
        """Its key in the `index` tree, 5 bytes."""
        return bytes([self.level]) + self.start.to_bytes(4, "big")

    @property
    def row_prefix(self) -> bytes:
        """What the keys of its rows begin with."""
        return INDEX_ROWS + self.key + b"/"

    @property
    def summary_key(self) -> bytes:
        """The key of its summary row."""
        return INDEX_SUMMARIES + self.key


class Summary(NamedTuple):
    """What the `index` tree commits to for one segment."""

    documents: int
    total_length: int
    rows: int
    root: bytes


def segments_of(count: int) -> list[SegmentName]:
    """The segments of an index of `count` ordinals, from the first ordinal on."""
    names: list[SegmentName] = []
    start = 0
    for level in reversed(range(LEVELS)):
        size = SEGMENT_DOCUMENTS << 2 * level
        while count - start >= size:
            names.append(SegmentName(level, start))
            start += size
    return names


def encode_summary(summary: Summary) -> bytes:
    """The bytes of a summary row."""
    return pack(list(summary))


@lru_cache(1024)
def decode_summary(name: SegmentName, raw: bytes) -> Summary:
    """The summary of segment `name`.

    Raises:
        CorruptionError: the bytes are no summary of a segment of this size.
    """
    where = describe(name.summary_key)
    most = name.documents * LENGTH_MAX
    values = fields(unpack(raw, where), (uint(), uint(most), uint(limits.INTEGER_MAX), sized(32)), where)
    summary = Summary(*values)
    if summary.documents != name.documents or not summary.rows:
        raise CorruptionError(f"{where}: not the summary of {name.documents} documents")
    return summary


def parse_summary_key(key: bytes) -> SegmentName:
    """The segment that a summary row's key names.

    Raises:
        CorruptionError: no segment can have this key.
    """
    tail = key.removeprefix(INDEX_SUMMARIES)
    if len(tail) == 5 and tail[0] < LEVELS:
        name = SegmentName(tail[0], int.from_bytes(tail[1:], "big"))
        if name.start % name.documents == 0:
            return name
    raise CorruptionError(f"{describe(key)}: names no segment")


def describe(key: bytes) -> str:
    """A key for an error message, its bytes escaped."""
    return f"index row {key!r}"
