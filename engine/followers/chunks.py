"""The stored form of up to 65,536 members of a set, written and read; the form is that of `proofs.sets`.

It is a function of the members alone. A form of our own, because
equal roaring bitmaps can serialise differently (measured: 15 or 216 bytes for 0..99).
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pyroaring import BitMap, FrozenBitMap

from engine.base.errors import CorruptionError
from proofs.forms import FormError
from proofs.sets import DENSE_BYTES, SPARSE_MAX, sparse_members

_ROARING = struct.Struct("<IIHHI")
_ROARING_COOKIE = 12346
_ROARING_ARRAY_MAX = 4096


def apply(raw: bytes, changes: Mapping[int, bool], key: bytes) -> bytes:
    """The chunk after `changes` (member → whether it is one from now on); `key` is for messages.

    Raises:
        CorruptionError: `raw` is no chunk.
    """
    joining = {member for member, joins in changes.items() if joins}
    leaving = changes.keys() - joining
    if len(raw) == DENSE_BYTES:
        _check(raw, key)
        bits = bytearray(raw)
    else:
        after = joining.union(_check(raw, key)).difference(leaving)
        if len(after) <= SPARSE_MAX:
            return _packed(sorted(after))
        bits, joining = bytearray(DENSE_BYTES), after
    for member in joining:
        bits[member >> 3] |= 1 << (member & 7)
    for member in leaving:
        bits[member >> 3] &= ~(1 << (member & 7))
    count = int.from_bytes(bits, "little").bit_count()
    return bytes(bits) if count > SPARSE_MAX else _packed(_bit_map(bytes(bits), 0, count))


def _packed(members: Iterable[int]) -> bytes:
    found = array("H", members)
    if sys.byteorder == "big":
        found.byteswap()
    return found.tobytes()


def _check(raw: bytes, key: bytes) -> array[int]:
    """The members, where they are listed; none of a chunk of bits.

    Raises:
        CorruptionError: the bytes are not the ones this module writes for any members.
    """
    try:
        return sparse_members(raw)
    except FormError as error:
        raise CorruptionError(f"set row {key.hex()} is not in canonical form", family="tags") from error


# Keyed by the bytes themselves, so it cannot go stale.
@lru_cache(maxsize=256)
def members(raw: bytes, chunk: int, key: bytes) -> FrozenBitMap:
    """The ordinals in a stored chunk that has any; `key` is for messages.

    Raises:
        CorruptionError: the bytes are not the ones this module writes for any members.
    """
    if not raw:
        raise CorruptionError(f"set row {key.hex()} is empty; an empty chunk has no row", family="tags")
    listed = _check(raw, key)
    return FrozenBitMap(_bit_map(raw, chunk, len(listed) or int.from_bytes(raw, "little").bit_count()))


def _bit_map(raw: bytes, chunk: int, count: int) -> BitMap:
    # Both forms are also those of a container in roaring's portable format, so a header before them
    # makes a bitmap: measured 3 µs for a dense chunk, where adding its members took 330.
    if count == _ROARING_ARRAY_MAX or (len(raw) == DENSE_BYTES and count < _ROARING_ARRAY_MAX):
        whole = int.from_bytes(raw, "little")
        return BitMap((chunk << 16) + low for low in range(8 * DENSE_BYTES) if whole >> low & 1)
    return BitMap.deserialize(_ROARING.pack(_ROARING_COOKIE, 1, chunk, count - 1, _ROARING.size) + raw)
