"""The sets of ordinals that the `tags` tree commits to: their names and their chunks (SPEC, section 3.8).

A set is divided into chunks of 65,536 ordinals. A chunk of at most 4,095 members is a list of ascending u16,
little-endian. A larger chunk is a bit map of 8,192 bytes: member i is bit i % 8 of byte i // 8. The length
of a chunk shows which of the two formats it has. A chunk without members is not stored.
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


def set_prefix(group: int, name: str) -> bytes:
    """Return the bytes with which the keys of all chunks of a set begin in the `tags` tree."""
    return bytes([group]) + name.encode() + b"\x00"


def set_row(group: int, name: str, chunk: int) -> bytes:
    """Return the key of one chunk of a set in the `tags` tree."""
    return set_prefix(group, name) + chunk.to_bytes(2, "big")


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
