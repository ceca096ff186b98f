"""Edits of the bytes of a proof."""

from __future__ import annotations

from collections.abc import Sequence

Edit = tuple[int, int, bytes]
"""An edit of bytes: the offset, the number of bytes to remove at the offset, and the bytes to insert."""


def edited(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply `edits` and return the bytes. The edits ascend, and their offsets refer to the unedited bytes."""
    out, at = b"", 0
    for offset, length, new in edits:
        if offset < at or offset + length > len(data):
            raise ValueError("edits overlap, are out of order, or go beyond the end")
        out += data[at:offset] + new
        at = offset + length
    return out + data[at:]


def difference(old: bytes, new: bytes) -> list[Edit]:
    """Return the edit that turns one proof into the other: of all that lies between equal ends."""
    if old == new:
        return []
    shorter = min(len(old), len(new))
    begin = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - begin) if old[-1 - at] != new[-1 - at]), shorter - begin)
    return [(begin, len(old) - end - begin, new[begin : len(new) - end])]
