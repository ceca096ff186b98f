"""The sets of ordinals that the `tags` tree commits to: their names, and the form of a chunk (SPEC: Tags).

A set is cut into chunks of 65,536 ordinals. At most 4,095 members: ascending u16, little-endian. More:
8,192 bytes of bits, bit i % 8 of byte i // 8 for member i. The length tells the form; no members, no bytes.
"""

from __future__ import annotations

import sys
import unicodedata
from array import array
from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from operator import lt
from typing import Final

from proofs.forms import FormError

CHUNK_BITS: Final = 16
SPARSE_MAX: Final = 4095
DENSE_BYTES: Final = 8192


class Group(IntEnum):
    """What a set is about. The numbers are stored: append only."""

    LIVE = 1
    TAG = 2
    BUCKET = 3
    KIND = 4
    PROVENANCE = 5
    SOURCE = 6
    DAY = 7
    """The UTC day, `YYYY-MM-DD`, on which the text was created."""


def tag_identity(kept: str) -> str:
    """What makes two tags the same: their caseless form.

    Folding and normalising are those of the Unicode of this Python. For characters of Unicode 14, which are
    all that tags have, they are the same in every later one. No verifier does this: its caller may.
    """
    if kept.isascii():
        return kept.lower()
    return unicodedata.normalize("NFC", kept.casefold())


def set_prefix(group: int, name: str) -> bytes:
    """What the keys of a set's chunks begin with in the `tags` tree."""
    return bytes([group]) + name.encode() + b"\x00"


def set_row(group: int, name: str, chunk: int) -> bytes:
    """The key of one chunk of a set in the `tags` tree."""
    return set_prefix(group, name) + chunk.to_bytes(2, "big")


def sparse_members(raw: bytes) -> array[int]:
    """The members of a chunk where they are listed; none of a chunk of bits.

    Raises:
        FormError: the bytes are not the ones that any members have.
    """
    found = array("H")
    if len(raw) == DENSE_BYTES:
        right = int.from_bytes(raw, "little").bit_count() > SPARSE_MAX
    elif len(raw) % 2 or len(raw) > 2 * SPARSE_MAX:
        right = False
    else:
        found.frombytes(raw)
        if sys.byteorder == "big":
            found.byteswap()
        right = all(map(lt, found, islice(found, 1, None)))
    if not right:
        raise FormError("a set's chunk is not in canonical form")
    return found


def bits_of(raw: bytes) -> int:
    """The members of a chunk as a number: member i is bit i (value 2^i). Never 0.

    A number takes 8 KiB whatever the members are, and two of them intersect at once.

    Raises:
        FormError: the bytes are not the ones that any members have, or there are none.
    """
    found = sparse_members(raw)
    if not raw:
        raise FormError("a set's chunk is empty; one without members is not there")
    if len(raw) == DENSE_BYTES:
        return int.from_bytes(raw, "little")
    bits = bytearray(DENSE_BYTES)
    for member in found:
        bits[member >> 3] |= 1 << (member & 7)
    return int.from_bytes(bits, "little")


def members_in(bits: int) -> Iterator[int]:
    """The members that `bits_of` gave, ascending."""
    for at, byte in enumerate(bits.to_bytes(DENSE_BYTES, "little")):
        if byte:
            yield from (at << 3 | bit for bit in range(8) if byte >> bit & 1)


def contains(raw: bytes, member: int) -> bool:
    """Whether `member`, 0 to 65,535, is in a chunk.

    Raises:
        FormError: as `bits_of`.
    """
    return bool(bits_of(raw) >> member & 1)
