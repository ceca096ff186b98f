"""SPEC 3 and 20: a strict reader of the few CBOR items that proofs are made of, and a writer of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Item = int | bytes | str | list["Item"] | None
"""What is read: an unsigned integer, a byte string, text, an array, or null."""

DEEPEST, ITEMS_MAX = 16, 1 << 20
NULL = 0xF6
ARRAY, BYTES, TEXT, UINT = 4, 2, 3, 0


class Malformed(ValueError):
    """Not one canonical item of the allowed types."""


def read(data: bytes) -> Item:
    """The one item that takes all the bytes; each item has one form only. Raises Malformed."""
    item, end = item_at(data, 0, 1, iter(range(ITEMS_MAX)))
    if end != len(data):
        raise Malformed("bytes after the item")
    return item


def item_at(data: bytes, at: int, depth: int, allowed: Iterator[int]) -> tuple[Item, int]:
    """The item that begins at a place, and where it ends; one of `allowed` is taken for each item."""
    if next(allowed, None) is None:
        raise Malformed("too many items")
    if at < len(data) and data[at] == NULL:
        return None, at + 1
    kind, number, at = head_at(data, at)
    if kind == UINT:
        return number, at
    if kind == ARRAY:
        return array_at(data, at, number, depth, allowed)
    if kind not in (BYTES, TEXT):
        raise Malformed(f"an item of major type {kind}")
    end = at + number
    if end > len(data):
        raise Malformed("a string is cut short")
    return (data[at:end] if kind == BYTES else text_of(data[at:end])), end


def array_at(data: bytes, at: int, length: int, depth: int, allowed: Iterator[int]) -> tuple[list[Item], int]:
    """The items of an array."""
    if depth > DEEPEST:
        raise Malformed("arrays too deep in each other")
    if length > len(data) - at:
        raise Malformed("an array is cut short")
    items: list[Item] = []
    for _ in range(length):
        item, at = item_at(data, at, depth + 1, allowed)
        items.append(item)
    return items, at


def head_at(data: bytes, at: int) -> tuple[int, int, int]:
    """Major type and number of an item's first bytes, which must be the shortest, and where they end."""
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
    """UTF-8 without surrogates."""
    try:
        return data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise Malformed("text that is not UTF-8") from None


def write(item: Item | Sequence[Item]) -> bytes:
    """The one form of an item."""
    if item is None:
        return bytes([NULL])
    if isinstance(item, int):
        return head(UINT, item)
    if isinstance(item, bytes):
        return head(BYTES, len(item)) + item
    if isinstance(item, str):
        return head(TEXT, len(item.encode())) + item.encode()
    return head(ARRAY, len(item)) + b"".join(write(one) for one in item)


def head(kind: int, number: int) -> bytes:
    """Major type and number in the fewest bytes."""
    if number < 24:
        return bytes([kind << 5 | number])
    width = next(width for width in (1, 2, 4, 8) if number < 1 << 8 * width)
    return bytes([kind << 5 | 23 + width.bit_length()]) + number.to_bytes(width, "big")
