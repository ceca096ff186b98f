"""Reading and writing of chunks. A chunk stores up to 65,536 members of a set (format: `proofs.leaves`).

The bytes of a chunk depend on its members alone. The format in which the library pyroaring serialises bitmaps
does not have this property: equal bitmaps can have different bytes (measured: 15 or 216 bytes for the
numbers 0 to 99).
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache

from pyroaring import BitMap, FrozenBitMap

from backends.base import Batch, Reader
from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.ledger.layout import family_of
from proofs.forms import FormError
from proofs.leaves import DENSE_BYTES, SPARSE_MAX, sparse_members

_ROARING = struct.Struct("<IIHHI")
_ROARING_COOKIE = 12346
_ROARING_ARRAY_MAX = 4096


def apply(raw: bytes, changes: Mapping[int, bool], key: bytes) -> bytes:
    """Return the chunk `raw` with `changes` applied.

    `changes` maps a number to True to add it, or to False to remove it. `key` names the row in errors.

    Raises:
        CorruptionError: `raw` is not a chunk.
    """
    joining = {member for member, joins in changes.items() if joins}
    leaving = changes.keys() - joining
    if len(raw) == DENSE_BYTES:
        _check(raw, key)
        bits = bytearray(raw)
    else:
        after = joining.union(_check(raw, key)).difference(leaving)
        if len(after) <= SPARSE_MAX:
            return packed(sorted(after))
        bits, joining = bytearray(DENSE_BYTES), after
    for member in joining:
        bits[member >> 3] |= 1 << (member & 7)
    for member in leaving:
        bits[member >> 3] &= ~(1 << (member & 7))
    count = int.from_bytes(bits, "little").bit_count()
    return bytes(bits) if count > SPARSE_MAX else packed(_bit_map(bytes(bits), 0, count))


def extend(before: Mapping[bytes, bytes | None], joining: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the chunk of each key in `joining`, after adding the new members to the chunk.

    `before` maps each key to its present chunk. `joining` maps each key to the new members, encoded as a list
    of any length (see `packed`).

    Raises:
        CorruptionError: a present chunk is not a chunk.
    """
    if NATIVE is not None:
        after = NATIVE.extended_chunks([before[key] for key in joining], list(joining.values()))
        if after is not None:
            return dict(zip(joining, after, strict=True))
    return {key: _extended(before[key] or b"", members, key) for key, members in joining.items()}


def update(
    rows: Reader,
    batch: Batch,
    prefix: bytes,
    joining: Mapping[bytes, Iterable[int]],
    leaving: Callable[[bytes], Collection[int]] | None,
) -> None:
    """Put into `batch` the chunks to which numbers are added, or from which numbers are removed.

    Args:
        rows: The rows before the change.
        batch: The batch. An empty chunk has no row.
        prefix: The prefix of all rows that may change.
        joining: The key of a row → the numbers that are added to its chunk, in any order.
        leaving: Returns the numbers to remove from the chunk of a row; None if nothing is removed from any.

    Raises:
        CorruptionError: a row is not a chunk.
    """
    if not joining and leaving is None:
        return
    before = dict(zip(joining, rows.multi_get(list(joining)), strict=True))
    if leaving is not None:
        before |= {key: raw for key, raw in rows.scan_prefix(prefix) if leaving(key)}
    after = extend(before, {key: packed(sorted(set(new))) for key, new in joining.items()})
    if leaving is not None:
        for key, raw in before.items():
            after[key] = apply(after.get(key, raw) or b"", dict.fromkeys(leaving(key), False), key)
    batch.rows.update((key, raw or None) for key, raw in after.items() if raw != (before[key] or b""))


def _extended(raw: bytes, joining: bytes, key: bytes) -> bytes:
    new = _unpacked(joining)
    if len(raw) + len(joining) <= 2 * SPARSE_MAX:
        old = _check(raw, key)
        if not old or not new or old[-1] < new[0]:
            return raw + joining
    return apply(raw, dict.fromkeys(new, True), key)


def _unpacked(raw: bytes) -> array[int]:
    numbers = array("H", raw)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def packed(members: Iterable[int]) -> bytes:
    """Encode ascending members, 0 to 65,535 each, as a list. The list may have any length."""
    numbers = array("H", members)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _check(raw: bytes, key: bytes) -> array[int]:
    """Return the members of a chunk that is stored as a list, or an empty array if it is stored as bits.

    Raises:
        CorruptionError: `raw` is not the canonical form of any set of members.
    """
    try:
        return sparse_members(raw)
    except FormError as error:
        raise CorruptionError(
            f"set row {key.hex()} is not in canonical form", family=family_of(key)
        ) from error


# The cache is keyed by the bytes themselves, so its entries never become stale.
@lru_cache(maxsize=256)
def members(raw: bytes, chunk: int, key: bytes) -> FrozenBitMap:
    """Return the ordinals in the stored chunk with the number `chunk`. `key` names the row in errors.

    Raises:
        CorruptionError: `raw` is empty, or is not the canonical form of any set of members.
    """
    if not raw:
        raise CorruptionError(f"set row {key.hex()} exists, but its chunk is empty", family=family_of(key))
    listed = _check(raw, key)
    return FrozenBitMap(_bit_map(raw, chunk, len(listed) or int.from_bytes(raw, "little").bit_count()))


def _bit_map(raw: bytes, chunk: int, count: int) -> BitMap:
    # Both forms are also forms of a container in roaring's portable format, so prepending a header gives a
    # bitmap. For a dense chunk this takes 3 µs; adding the members would take 330 µs (measured).
    if count == _ROARING_ARRAY_MAX or (len(raw) == DENSE_BYTES and count < _ROARING_ARRAY_MAX):
        whole = int.from_bytes(raw, "little")
        return BitMap((chunk << 16) + low for low in range(8 * DENSE_BYTES) if whole >> low & 1)
    return BitMap.deserialize(_ROARING.pack(_ROARING_COOKIE, 1, chunk, count - 1, _ROARING.size) + raw)
