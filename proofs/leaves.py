"""The leaves of the four trees (SPEC, sections 3.7 to 3.9).

- A leaf of `atoms` or `edges` holds the state of one atom or edge.
- A leaf of `index` holds the summary of one segment. A segment of level 0 to 4 covers 256 · 4^level ordinals
  and starts at a multiple of that number. The number of ordinals N alone determines the segments. The last
  N mod 256 ordinals, the *tail*, are treated as one more segment.
- A leaf of `tags` holds one chunk of a set of ordinals. A chunk covers 65,536 ordinals. A chunk of at most
  4,095 members is a list of ascending u16, little-endian. A larger chunk is a bit map of 8,192 bytes: member
  i is bit i % 8 of byte i // 8. The length of a chunk shows which of the two formats it has. A chunk without
  members has no leaf.
"""

from __future__ import annotations

import sys
import unicodedata
from array import array
from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import islice, pairwise
from operator import lt
from typing import Final, NamedTuple

from proofs import limits
from proofs.codec import pack, unpack
from proofs.forms import FormError, fields, sized, uint
from proofs.hashing import key_digest, value_digest
from proofs.labels import label_of
from proofs.smt import root_of

ID_BYTES: Final = 16
"""The width of an atom's id."""


class State(IntEnum):
    """The state of an atom or an edge. The numbers are hashed, so members are only appended."""

    LIVE = 0
    TOMBSTONED = 1
    ERASED = 2


class EdgeType(IntEnum):
    """The built-in edge types. Their numbers are stored, so new types are only added at the end."""

    RELATED_TO = 1
    DERIVED_FROM = 2
    CONTRADICTS = 3
    SUPERSEDES = 4
    PART_OF = 5
    REFERENCES = 6


class Direction(IntEnum):
    """The direction in which an edge is listed; the numbers are part of the keys of the `edges` tree."""

    FROM = 0
    TO = 1


class Value(NamedTuple):
    """The value in a leaf of `atoms` or `edges`."""

    state: int
    ordinal: int
    """The ordinal of the atom's current content, or 0 for an edge."""
    version: int
    created_seq: int
    payload_seq: int
    last_seq: int
    commitment: bytes
    """The commitment of the payload at `payload_seq`."""


_SEQ = uint(limits.SEQ_MAX)
_FIELDS: Final = (uint(max(State)), uint(limits.ORDINAL_MAX), uint(), _SEQ, _SEQ, _SEQ, sized(32))


def encode_value(value: Value) -> bytes:
    """Return the canonical bytes of the value of a leaf."""
    return pack(list(value))


def decode_value(raw: bytes, where: str) -> Value:
    """Decode the value of a leaf; `where` names it in the error.

    Raises:
        FormError: the bytes are not the canonical encoding of a value.
    """
    return Value(*fields(unpack(raw, where), _FIELDS, where))


def edge_key(src: bytes, code: bytes, dst: bytes) -> bytes:
    """Return the bytes that name an edge: its source, the code of its type, and its target."""
    return src + code + dst


def edge_leaf(direction: Direction, end: bytes, code: bytes, other: bytes) -> bytes:
    """Return the key of an edge in the `edges` tree, where it stands once for each of its ends."""
    return bytes([direction]) + end + code + other


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


CHUNK_BITS: Final = 16
SPARSE_MAX: Final = 4095
DENSE_BYTES: Final = 8192


class Group(IntEnum):
    """An attribute of atoms. The ordinals of the atoms that share a value of the attribute form a set.

    The numbers of this enumeration are stored, so new attributes are only added at the end.
    """

    LIVE = 1
    TAG = 2
    BUCKET = 3
    KIND = 4
    PROVENANCE = 5
    SOURCE = 6
    DAY = 7
    """The UTC day, `YYYY-MM-DD`, on which the text was created."""


def tag_identity(tag: str) -> str:
    """Return the identity of a tag, its caseless form; equal identities mean the same tag.

    Case folding and normalisation follow the Unicode version of the running Python. Tags contain only
    characters of Unicode 14, for which every later version gives the same result. Verification does not call
    this function; programs that verify proofs may call it to make a claim.
    """
    if tag.isascii():
        return tag.lower()
    return unicodedata.normalize("NFC", tag.casefold())


TAGS_OF: Final = 8
"""The number of the group whose rows are no sets: each holds the tags of one ordinal, by their identities."""


def set_prefix(label_key: bytes, group: int, name: str) -> bytes:
    """Return the bytes with which the keys of all chunks of a set begin in the `tags` tree."""
    return bytes([group]) + label_of(label_key, group, name.encode())


def set_row(label_key: bytes, group: int, name: str, chunk: int) -> bytes:
    """Return the key of one chunk of a set in the `tags` tree."""
    return set_prefix(label_key, group, name) + chunk.to_bytes(2, "big")


def tags_row(ordinal: int) -> bytes:
    """Return the key of the tags of an ordinal in the `tags` tree."""
    return bytes([TAGS_OF]) + ordinal.to_bytes(4, "big")


def encode_tags(identities: Iterable[str]) -> bytes:
    """Return the row of the tags of an ordinal: CBOR of their identities, ascending by their UTF-8 bytes."""
    return pack(sorted(identities, key=str.encode))


def decode_tags(raw: bytes) -> tuple[str, ...]:
    """Return the identities in the row of the tags of an ordinal.

    Raises:
        FormError: the bytes are not a canonical row of at least one tag.
    """
    tags = unpack(raw, "the tags")
    if type(tags) is not list or not tags or any(type(one) is not str for one in tags):
        raise FormError("the tags of an atom are an array of texts")
    if any(a.encode() >= b.encode() for a, b in pairwise(tags)):
        raise FormError("the tags of an atom are not in ascending order")
    return tuple(tags)


def sparse_members(raw: bytes) -> array[int]:
    """Return the members of a sparse chunk; for a dense chunk return an empty array.

    Raises:
        FormError: the bytes are not the canonical form of a chunk.
    """
    members = array("H")
    if len(raw) == DENSE_BYTES:
        canonical = int.from_bytes(raw, "little").bit_count() > SPARSE_MAX
    elif len(raw) % 2 or len(raw) > 2 * SPARSE_MAX:
        canonical = False
    else:
        members.frombytes(raw)
        if sys.byteorder == "big":
            members.byteswap()
        canonical = all(map(lt, members, islice(members, 1, None)))
    if not canonical:
        raise FormError("a set's chunk is not in canonical form")
    return members


def bits_of(raw: bytes) -> int:
    """Return the members of a chunk as an integer that is never 0: member i is bit i (value 2^i).

    The integer takes at most 8 KiB, and two such integers are intersected in one operation.

    Raises:
        FormError: the bytes are not the canonical form of a chunk, or there are no bytes.
    """
    members = sparse_members(raw)
    if not raw:
        raise FormError("a set's chunk is empty; a chunk without members must be absent")
    if len(raw) == DENSE_BYTES:
        return int.from_bytes(raw, "little")
    bits = bytearray(DENSE_BYTES)
    for member in members:
        bits[member >> 3] |= 1 << (member & 7)
    return int.from_bytes(bits, "little")


def members_in(bits: int) -> Iterator[int]:
    """Yield the members of an integer from `bits_of`, ascending."""
    for at, byte in enumerate(bits.to_bytes(DENSE_BYTES, "little")):
        if byte:
            yield from (at << 3 | bit for bit in range(8) if byte >> bit & 1)


def contains(raw: bytes, member: int) -> bool:
    """Return whether `member`, 0 to 65,535, is in a chunk.

    Raises:
        FormError: the bytes are not the canonical form of a chunk, or there are no bytes.
    """
    return bool(bits_of(raw) >> member & 1)
