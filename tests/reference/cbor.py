"""SPEC 3.2 and 20.5: a strict reader and a writer of the CBOR items that proofs are made of."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

Item = int | bytes | str | list["Item"] | dict["Item", "Item"] | float | None
"""An unsigned integer, a byte string, text, an array or null. Bodies also have items of the other types."""

DEEPEST, ITEMS_MAX = 16, 1 << 20
NULL = 0xF6
ARRAY, BYTES, TEXT, UINT, NEGATIVE, MAP, SIMPLE = 4, 2, 3, 0, 1, 5, 7
TRUTHS = {0xF4: False, 0xF5: True}
FLOATS = {0xF9: ">e", 0xFA: ">f", 0xFB: ">d"}
SHORTER = {">e": "", ">f": (">e",), ">d": (">e", ">f")}


class Malformed(ValueError):
    """Raised for bytes that are not one canonical item of the allowed types."""


def read(data: bytes, body: bool = False) -> Item:
    """Return the one item that takes all the bytes, or raise Malformed if it is not canonical.

    Maps, negative integers, booleans and floats are allowed in a body only.
    """
    item, end = item_at(data, 0, 1, iter(range(ITEMS_MAX)), body)
    if end != len(data):
        raise Malformed("bytes after the item")
    return item


def item_at(data: bytes, at: int, depth: int, allowed: Iterator[int], body: bool) -> tuple[Item, int]:
    """Return the item that begins at an offset, and the offset of its end.

    Each item takes one element of `allowed`; if there are no more elements, the bytes are refused.
    """
    if next(allowed, None) is None:
        raise Malformed("too many items")
    if at < len(data) and data[at] == NULL:
        return None, at + 1
    if body and data[at : at + 1] and data[at] >> 5 in (NEGATIVE, MAP, SIMPLE):
        return of_body(data, at, depth, allowed)
    kind, number, at = head_at(data, at)
    if kind == UINT:
        return number, at
    if kind == ARRAY:
        return array_at(data, at, number, depth, allowed, body)
    if kind not in (BYTES, TEXT):
        raise Malformed(f"an item of major type {kind}")
    end = at + number
    if end > len(data):
        raise Malformed("a string is cut short")
    return (data[at:end] if kind == BYTES else text_of(data[at:end])), end


def of_body(data: bytes, at: int, depth: int, allowed: Iterator[int]) -> tuple[Item, int]:
    """Return an item of a type that is allowed only in bodies."""
    if data[at] in TRUTHS:
        return TRUTHS[data[at]], at + 1
    if data[at] in FLOATS:
        return float_at(data, at)
    kind, number, at = head_at(data, at)
    if kind == SIMPLE:
        raise Malformed("a simple value that is none of ours")
    return (-1 - number, at) if kind == NEGATIVE else map_at(data, at, number, depth, allowed)


def float_at(data: bytes, at: int) -> tuple[float, int]:
    """Return a float in the shortest form that holds it; NaN is refused."""
    form = FLOATS[data[at]]
    end = at + 1 + struct.calcsize(form)
    if end > len(data):
        raise Malformed("a float is cut short")
    (number,) = struct.unpack(form, data[at + 1 : end])
    if any(holds(shorter, number) for shorter in SHORTER[form]):
        raise Malformed("a float in more bytes than it needs")
    if number != number:
        raise Malformed("a float that is no number")
    return number, end


def holds(form: str, number: float) -> bool:
    """Return True if a float of this width can represent the number exactly."""
    try:
        return bool(struct.unpack(form, struct.pack(form, number))[0] == number)
    except OverflowError:
        return False


def map_at(
    data: bytes, at: int, length: int, depth: int, allowed: Iterator[int]
) -> tuple[dict[Item, Item], int]:
    """Return a map whose keys are integers or texts that ascend by their encoded bytes, the shorter first."""
    if depth > DEEPEST:
        raise Malformed("maps too deep in each other")
    if length > len(data) - at:
        raise Malformed("a map is cut short")
    found: dict[Item, Item] = {}
    before = 0, b""
    for _ in range(length):
        key, end = item_at(data, at, depth + 1, allowed, True)
        rank = end - at, data[at:end]
        if not isinstance(key, (int, str)) or isinstance(key, bool) or rank <= before:
            raise Malformed("a key out of place")
        before = rank
        found[key], at = item_at(data, end, depth + 1, allowed, True)
    return found, at


def array_at(
    data: bytes, at: int, length: int, depth: int, allowed: Iterator[int], body: bool
) -> tuple[list[Item], int]:
    """Return the items of an array."""
    if depth > DEEPEST:
        raise Malformed("arrays too deep in each other")
    if length > len(data) - at:
        raise Malformed("an array is cut short")
    items: list[Item] = []
    for _ in range(length):
        item, at = item_at(data, at, depth + 1, allowed, body)
        items.append(item)
    return items, at


def head_at(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the major type and the number of a head, and the offset of its end.

    A head that does not have the shortest form is refused.
    """
    if at >= len(data):
        raise Malformed("an item is missing")
    kind, low = data[at] >> 5, data[at] & 31
    if low < 24:
        return kind, low, at + 1
    if low > 27:
        raise Malformed("an indefinite or reserved length")
    width = 1 << low - 24
    if at + 1 + width > len(data):
        raise Malformed("a number is cut short")
    number = int.from_bytes(data[at + 1 : at + 1 + width], "big")
    if number < (24 if width == 1 else 1 << 4 * width):
        raise Malformed("a number in more bytes than it needs")
    return kind, number, at + 1 + width


def text_of(data: bytes) -> str:
    """Decode UTF-8 bytes, which must not contain surrogates."""
    try:
        return data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise Malformed("text that is not UTF-8") from None


def write(item: Item | Sequence[Item]) -> bytes:
    """Return the canonical bytes of an item."""
    if item is None:
        return bytes([NULL])
    if isinstance(item, int):
        return head(UINT, item)
    if isinstance(item, bytes):
        return head(BYTES, len(item)) + item
    if isinstance(item, str):
        return head(TEXT, len(item.encode())) + item.encode()
    if isinstance(item, (dict, float)):
        raise TypeError("written as part of a body only")
    return head(ARRAY, len(item)) + b"".join(write(one) for one in item)


def head(kind: int, number: int) -> bytes:
    """Return the shortest head for a major type and number."""
    if number < 24:
        return bytes([kind << 5 | number])
    width = next(width for width in (1, 2, 4, 8) if number < 1 << 8 * width)
    return bytes([kind << 5 | 23 + width.bit_length()]) + number.to_bytes(width, "big")
