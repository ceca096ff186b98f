"""CBOR that has the same meaning but is not canonical: encodings of RFC 8949 that a proof may not use."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.reference.cbor import ARRAY, BYTES, TEXT, UINT, head

WIDTHS = ((24, 1), (25, 2), (26, 4), (27, 8))


def long_head(major: int, number: int, rng: Random) -> bytes:
    """Return a longer head than needed; for the largest numbers it is the shortest."""
    longer = [(info, width) for info, width in WIDTHS if len(head(major, number)) < 1 + width]
    info, width = rng.choice(longer or WIDTHS[-1:])
    return bytes([major << 5 | info]) + number.to_bytes(width, "big")


def count_of(item: object) -> int:
    """Return the number of items in nested arrays, with the outermost."""
    return 1 + sum(map(count_of, item)) if isinstance(item, list) else 1


def recoded(item: Any, rng: Random) -> bytes:
    """Return the bytes of `item` with one item, chosen by `rng`, in another encoding."""
    left = rng.randrange(count_of(item))

    def write(one: Any) -> bytes:
        nonlocal left
        left -= 1
        odd = left == -1
        match one:
            case None:
                return rng.choice([b"\xf7", b"\xf8\x16", b"\xf8\xf6", b"\xf4"]) if odd else b"\xf6"
            case int():
                return _number(one, rng) if odd else head(UINT, one)
            case bytes():
                return _string(BYTES, one, rng) if odd else head(BYTES, len(one)) + one
            case str():
                return (
                    _string(TEXT, one.encode(), rng) if odd else head(TEXT, len(one.encode())) + one.encode()
                )
        body = [write(inner) for inner in one]
        return _array(body, rng) if odd else head(ARRAY, len(body)) + b"".join(body)

    return write(item)


def _number(number: int, rng: Random) -> bytes:
    forms = [
        long_head(UINT, number, rng) if number < 1 << 32 else b"\xc2\x48" + number.to_bytes(8, "big"),
        b"\xc2"
        + head(BYTES, 1 + number.bit_length() // 8)
        + number.to_bytes(1 + number.bit_length() // 8, "big"),
        b"\xd8\x1e\x82" + head(UINT, number) + b"\x01",
        b"\xc4\x82\x00" + head(UINT, number),
        b"\xc1" + head(UINT, number),
    ]
    return rng.choice(forms)


def _string(major: int, raw: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(raw) + 1)
    other = BYTES + TEXT - major
    forms = [
        long_head(major, len(raw), rng) + raw,
        bytes([major << 5 | 31])
        + head(major, at)
        + raw[:at]
        + head(major, len(raw) - at)
        + raw[at:]
        + b"\xff",
        bytes([major << 5 | 31]) + head(major, len(raw)) + raw + b"\xff",
        head(other, len(raw)) + raw,
        b"\xd8\x40" + head(major, len(raw)) + raw,
        b"\xd8\x18" + head(major, len(raw)) + raw,
    ]
    return rng.choice(forms)


def _array(body: list[bytes], rng: Random) -> bytes:
    whole = b"".join(body)
    pairs = whole if len(body) % 2 == 0 else whole + b"\xf6"
    forms = [
        long_head(ARRAY, len(body), rng) + whole,
        b"\x9f" + whole + b"\xff",
        b"\xd9\xd9\xf7" + head(ARRAY, len(body)) + whole,
        b"\xd9\x01\x02" + head(ARRAY, len(body)) + whole,
        b"\xbf" + pairs + b"\xff",
        head(5, (len(body) + 1) // 2) + pairs,
        head(5, 2) + b"\x00" + head(ARRAY, len(body)) + whole + b"\x00\xf6",
    ]
    return rng.choice(forms)
