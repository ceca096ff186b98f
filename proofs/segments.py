"""The segments of an index, and the leaves that the `index` tree has for them (SPEC, section 3.9).

A segment of level 0 to 4 covers 256 · 4^level ordinals and starts at a multiple of that number. The number of
ordinals N alone determines the segments. The last N mod 256 ordinals, the *tail*, are treated as one more
segment.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from proofs.codec import pack, unpack
from proofs.forms import FormError, fields, sized, uint
from proofs.hashing import key_digest, value_digest
from proofs.smt import root_of

SEGMENT_DOCUMENTS: Final = 256
LEVELS: Final = 5
LARGEST: Final = SEGMENT_DOCUMENTS << 2 * (LEVELS - 1)
TAIL_LEVEL: Final = 0xFF
"""The number in the key of the tail, in place of the level that the key of a segment contains."""
COUNT_KEY: Final = b"\xfe"
"""The key of the leaf that holds the number of ordinals."""
LENGTH_MAX: Final = 0xFFFF
ROWS_MIN: Final = 2
"""The minimum number of rows of a segment.

Every segment has a row of lengths and a row of facts, even if no document contains a term.
"""


class Segment(NamedTuple):
    """A segment of an index, identified by a level and the first ordinal."""

    level: int
    start: int

    @property
    def size(self) -> int:
        """The number of ordinals that the segment covers."""
        return SEGMENT_DOCUMENTS << 2 * self.level

    @property
    def end(self) -> int:
        """The first ordinal after the segment."""
        return self.start + self.size

    @property
    def key(self) -> bytes:
        """The key of the segment in the `index` tree, 5 bytes."""
        return segment_key(self.level, self.start)


class Summary(NamedTuple):
    """The values that the `index` tree commits to for a segment or the tail."""

    documents: int
    """The number of ordinals in the segment whose payload is not erased."""
    total_length: int
    rows: int
    root: bytes


def segment_key(level: int, start: int) -> bytes:
    """Return the key of a segment or of the tail in the `index` tree."""
    return bytes([level]) + start.to_bytes(4, "big")


def segments_of(count: int) -> list[Segment]:
    """Return the segments of an index of `count` ordinals, in order, without the tail."""
    segments: list[Segment] = []
    start = 0
    for level in reversed(range(LEVELS)):
        size = SEGMENT_DOCUMENTS << 2 * level
        while count - start >= size:
            segments.append(Segment(level, start))
            start += size
    return segments


def number_of_segments(count: int) -> int:
    """Return the number of segments in an index of `count` ordinals; a tail counts as a segment."""
    large, rest = divmod(count, LARGEST)
    for level in reversed(range(LEVELS - 1)):
        more, rest = divmod(rest, SEGMENT_DOCUMENTS << 2 * level)
        large += more
    return large + bool(rest)


def encode_summary(summary: Summary) -> bytes:
    """Return the canonical bytes of a summary."""
    return pack(list(summary))


def decode_summary(raw: bytes, size: int, where: str) -> Summary:
    """Decode the summary of a segment of `size` ordinals.

    Raises:
        FormError: the bytes are not the canonical encoding of a summary of `size` ordinals.
    """
    summary = Summary(*fields(unpack(raw, where), (uint(), uint(), uint(), sized(32)), where))
    if not fits(summary, size):
        raise FormError(f"{where}: not a possible summary of {size} ordinals")
    return summary


def fits(summary: Summary, size: int) -> bool:
    """Return whether `summary` is possible for a segment of `size` ordinals."""
    return (
        summary.documents <= size
        and summary.total_length <= summary.documents * LENGTH_MAX
        and summary.rows >= ROWS_MIN
    )


def count_leaf(ordinals: int) -> tuple[bytes, bytes]:
    """Return the key digest and value digest of the leaf that holds the number of ordinals, at least 1."""
    return key_digest("index", COUNT_KEY), value_digest("index", pack([ordinals]))


def segment_leaf(key: bytes, summary: Summary) -> tuple[bytes, bytes]:
    """Return the key digest and value digest of the leaf of a segment or of the tail."""
    return key_digest("index", key), value_digest("index", encode_summary(summary))


def index_root(ordinals: int, segments: Iterable[tuple[bytes, Summary]]) -> bytes:
    """Return the root of the `index` tree with this number of ordinals and these segments (key, summary)."""
    leaves = dict(segment_leaf(*segment) for segment in segments)
    return root_of(leaves | dict([count_leaf(ordinals)]) if ordinals else leaves)
