"""The compact stored form of the numbers that a segment has for each document (SPEC: Index).

numpy is imported on first use only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


WIDTH_MAX: Final = 8
LISTED: Final = 0x10
"""A flag in the first byte of a column. It means that the column is stored as a list of its distinct numbers,
and then the place of each number in this list."""
_COUNT_BYTES: Final = 4
_PLACE_BYTES_MAX: Final = 2
_KINDS: Final = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}
"""Size in bytes → the numpy type with numbers of this size."""


def encode_numbers(column: NDArray[np.unsignedinteger]) -> bytes:
    """Return the stored form of a column of at most 65,536 numbers below 2^64.

    Each number takes as many bytes as the greatest number needs. A column with few distinct numbers, such as
    the column of sources, has a smaller form: a list of the distinct numbers, and then the place of each
    number in this list.
    """
    import numpy as np

    if not len(column):
        return bytes(1)
    distinct, places = np.unique(column, return_inverse=True)
    width = _width(int(distinct[-1]))
    place_width = _width(len(distinct) - 1)
    listed = _COUNT_BYTES + WIDTH_MAX * len(distinct) + place_width * len(column)
    if listed >= width * len(column):
        return bytes([width]) + _cut(column, width)
    head = bytes([LISTED + place_width]) + len(distinct).to_bytes(_COUNT_BYTES, "little")
    return bytes(head + distinct.astype("<u8").tobytes() + _cut(places, place_width))


def _width(number: int) -> int:
    return (number.bit_length() + 7) // 8


def _cut(numbers: NDArray[np.integer], width: int) -> bytes:
    """Return the `width` lowest bytes of each number, the lowest first."""
    import numpy as np

    raw: NDArray[np.uint8] = numbers.astype("<u8").view(np.uint8).reshape(-1, WIDTH_MAX)
    return bytes(raw[:, :width].tobytes())


def _widened(raw: bytes, width: int) -> NDArray[np.uint64]:
    import numpy as np

    if width in _KINDS:
        # 50 times faster than the general way below (measured).
        return np.frombuffer(raw, _KINDS[width]).astype(np.uint64)
    wide = np.zeros((len(raw) // width, WIDTH_MAX), np.uint8)
    wide[:, :width] = np.frombuffer(raw, np.uint8).reshape(-1, width)
    return wide.reshape(-1).view("<u8").astype(np.uint64, copy=False)


def decode_numbers(raw: bytes, count: int) -> tuple[NDArray[np.uint64], int] | None:
    """Decode the column of `count` numbers at the start of `raw`; also return its size in bytes.

    Return None if `raw` does not begin with such a column. A column in a longer form than the form that
    `encode_numbers` returns is accepted.
    """
    import numpy as np

    form = raw[0] if raw else 0xFF
    if form <= WIDTH_MAX:
        end = 1 + form * count
        if len(raw) < end:
            return None
        return _widened(raw[1:end], form) if form else np.zeros(count, np.uint64), end
    width = form - LISTED
    if not 0 <= width <= _PLACE_BYTES_MAX:
        return None
    distinct = int.from_bytes(raw[1 : 1 + _COUNT_BYTES], "little")
    start = 1 + _COUNT_BYTES + WIDTH_MAX * distinct
    end = start + width * count
    if not distinct or len(raw) < end:
        return None
    values = np.frombuffer(raw, "<u8", distinct, 1 + _COUNT_BYTES).astype(np.uint64, copy=False)
    if not width:
        return np.full(count, values[0]), end
    places = _widened(raw[start:end], width)
    if int(places.max(initial=0)) >= distinct:
        return None
    return values[places.astype(np.intp)], end
