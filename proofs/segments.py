"""Which segments an index has, and what the `index` tree says of each (SPEC, section 3.9).

A segment covers 256 · 4^level ordinals, level 0 to 4, from a multiple of that number. Which there are
follows from the number of ordinals N alone. The last N mod 256 ordinals, the *tail*, count as one more.
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
"""Stands for the level in the tail's key."""
COUNT_KEY: Final = b"\xfe"
"""The key of the leaf that says how many ordinals there are."""
LENGTH_MAX: Final = 0xFFFF
ROWS_MIN: Final = 2
"""The lengths and the facts; a segment has them even where no document has a term."""


class Segment(NamedTuple):
    """Which segment: its size and its first ordinal."""

    level: int
    start: int

    @property
    def size(self) -> int:
        """How many ordinals it covers."""
        return SEGMENT_DOCUMENTS << 2 * self.level

    @property
    def end(self) -> int:
        """The first ordinal after it."""
        return self.start + self.size

    @property
    def key(self) -> bytes:
        """Its key in the `index` tree, 5 bytes."""
        return segment_key(self.level, self.start)


class Summary(NamedTuple):
    """What the `index` tree commits to for one segment, or the tail."""

    documents: int
    """How many of its ordinals have a payload that is not erased."""
    total_length: int
    rows: int
    root: bytes


def segment_key(level: int, start: int) -> bytes:
    """The key in the `index` tree of a segment, or of the tail."""
    return bytes([level]) + start.to_bytes(4, "big")


def segments_of(count: int) -> list[Segment]:
    """The segments of an index of `count` ordinals, from the first ordinal on; the tail is none."""
    found: list[Segment] = []
    start = 0
    for level in reversed(range(LEVELS)):
        size = SEGMENT_DOCUMENTS << 2 * level
        while count - start >= size:
            found.append(Segment(level, start))
            start += size
    return found


def number_of_segments(count: int) -> int:
    """How many segments an index of `count` ordinals has, and one for the tail if it has one."""
    large, rest = divmod(count, LARGEST)
    for level in reversed(range(LEVELS - 1)):
        more, rest = divmod(rest, SEGMENT_DOCUMENTS << 2 * level)
        large += more
    return large + bool(rest)


def encode_summary(summary: Summary) -> bytes:
    """The bytes of a summary."""
    return pack(list(summary))


def decode_summary(raw: bytes, size: int, where: str) -> Summary:
    """The summary of a segment of so many ordinals.

    Raises:
        FormError: not the canonical bytes of one.
    """
    summary = Summary(*fields(unpack(raw, where), (uint(), uint(), uint(), sized(32)), where))
    if not fits(summary, size):
        raise FormError(f"{where}: not the summary of {size} ordinals")
    return summary


def fits(summary: Summary, size: int) -> bool:
    """Whether a segment of so many ordinals can have this summary."""
    return (
        summary.documents <= size
        and summary.total_length <= summary.documents * LENGTH_MAX
        and summary.rows >= ROWS_MIN
    )


def count_leaf(ordinals: int) -> tuple[bytes, bytes]:
    """Key digest and value digest of the leaf that says how many ordinals there are; 1 or more."""
    return key_digest("index", COUNT_KEY), value_digest("index", pack([ordinals]))


def segment_leaf(key: bytes, summary: Summary) -> tuple[bytes, bytes]:
    """Key digest and value digest of the leaf of a segment, or of the tail."""
    return key_digest("index", key), value_digest("index", encode_summary(summary))


def index_root(ordinals: int, segments: Iterable[tuple[bytes, Summary]]) -> bytes:
    """The root of the `index` tree of so many ordinals with exactly these segments, by their keys."""
    leaves = dict(segment_leaf(*segment) for segment in segments)
    return root_of(leaves | dict([count_leaf(ordinals)]) if ordinals else leaves)
