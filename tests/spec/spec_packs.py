"""Computes the stored rows of a segment from the rows that are hashed, by SPEC, one byte after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Row = tuple[bytes, bytes]


def stored_segment(
    rows: Sequence[Row], ordinals: int, root_of: Callable[[Sequence[Row]], bytes]
) -> tuple[dict[bytes, bytes], bytes]:
    """SPEC 12: return the stored rows of a segment by the last part of their keys, and its row of blocks.

    `root_of` returns the root over the leaves of some rows.
    """
    stored: dict[bytes, bytes] = {}
    heads = b""
    for first in range(0, len(rows), 256):
        block, before = rows[first : first + 256], len(stored)
        waiting: list[tuple[bytes, bytes]] = []
        for at, (t, value) in enumerate(block):
            if t in (b"\0", b"\0\1"):
                stored[t] = columns(value[5:], 1 if t == b"\0" else 4, ordinals)
                continue
            waiting.append((t, entry(value, ordinals)))
            if sum(len(t) + len(own) for t, own in waiting) >= 4096 or at + 1 == len(block):
                stored[waiting[0][0]] = pack(waiting)
                waiting = []
        heads += root_of(block) + (len(stored) - before).to_bytes(2, "big")
    return stored, heads + bytes(len(t) for t in stored) + b"".join(stored)


def pack(entries: Sequence[tuple[bytes, bytes]]) -> bytes:
    """SPEC 12: return a pack of terms with their entries."""
    raw = bytes([len(entries) - 1]) + bytes(len(t) for t, _ in entries)
    raw += b"".join(len(own).to_bytes(2, "little") for _, own in entries[:-1])
    return raw + b"".join(t for t, _ in entries) + b"".join(own for _, own in entries)


def entry(value: bytes, ordinals: int) -> bytes:
    """SPEC 12: return the entry for a hashed row of a term."""
    df = int.from_bytes(value[:4], "big")
    offsets = [int.from_bytes(value[at : at + 2], "little") for at in range(5, 5 + 2 * df, 2)]
    tfs = value[5 + 2 * df :]
    more = [at for at, tf in enumerate(tfs) if tf > 1]
    raw = varint(2 * df + bool(more))
    if more:
        raw += bits(more, df) + bytes(tfs[at] for at in more)
    if 8 * df >= ordinals:
        return raw + bits(offsets, ordinals)
    previous = -1
    for offset in offsets:
        raw += varint(offset - previous - 1)
        previous = offset
    return raw


def bits(members: Iterable[int], size: int) -> bytes:
    """SPEC 12: return `size` bits of which those of `members` are set."""
    return sum(1 << member for member in members).to_bytes((size + 7) // 8, "little")


def varint(number: int) -> bytes:
    """SPEC 12: return a number in groups of seven bits."""
    if number < 128:
        return bytes([number])
    return bytes([number % 128 + 128]) + varint(number // 128)


def columns(raw: bytes, count: int, ordinals: int) -> bytes:
    """SPEC 12: return the stored form of `count` columns, each of one number for each ordinal."""
    width = len(raw) // count // ordinals
    numbers = [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]
    return b"".join(column(numbers[at : at + ordinals]) for at in range(0, len(numbers), ordinals))


def column(numbers: Sequence[int]) -> bytes:
    """SPEC 12: return the shorter of the two forms of a column."""
    distinct = sorted(set(numbers))
    short = little(numbers, bytes_of(max(numbers)))
    place = {number: at for at, number in enumerate(distinct)}
    width = bytes_of(len(distinct) - 1)
    listed = bytes([16 + width]) + len(distinct).to_bytes(4, "little") + little(distinct, 8)
    listed += little([place[number] for number in numbers], width)
    fixed = bytes([bytes_of(max(numbers))]) + short
    return fixed if len(fixed) <= len(listed) else listed


def bytes_of(number: int) -> int:
    """Return the number of bytes that a number needs; 0 for 0."""
    return (number.bit_length() + 7) // 8


def little(numbers: Iterable[int], width: int) -> bytes:
    """Return numbers of `width` bytes each, the lowest byte first."""
    return b"".join(number.to_bytes(width, "little") for number in numbers)
