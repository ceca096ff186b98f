"""Odd values for the fields of events, at the bounds of SPEC, section 5, and beyond, and their CBOR."""

from __future__ import annotations

import struct
from typing import Any, Final, NamedTuple

from tests.reference.cbor import ARRAY, BYTES, TEXT, UINT, head

NEGATIVE, MAP = 1, 5
CREATED = (-62_135_596_800_000_000, 253_402_300_799_999_999)


class Raw(NamedTuple):
    """An item given as its bytes, canonical or not."""

    data: bytes


class Float(NamedTuple):
    """A float in one of its three forms, canonical or not."""

    form: str
    number: float


def encoded(item: Any) -> bytes:
    """Return `item` in CBOR; maps keep the order they have."""
    match item:
        case None | bool():
            return {None: b"\xf6", False: b"\xf4", True: b"\xf5"}[item]
        case Raw(data):
            return data
        case Float(form, number):
            return bytes([0xF9 + "efd".index(form)]) + struct.pack(f">{form}", number)
        case int():
            return head(UINT, item) if item >= 0 else head(NEGATIVE, -1 - item)
        case bytes():
            return head(BYTES, len(item)) + item
        case str():
            return head(TEXT, len(item.encode())) + item.encode()
        case list():
            return head(ARRAY, len(item)) + b"".join(map(encoded, item))
        case dict():
            pairs = [encoded(key) + encoded(value) for key, value in item.items()]
            return head(MAP, len(pairs)) + b"".join(pairs)
    raise TypeError(f"{type(item)} has no form here")


INTEGERS: Final = sorted(
    {
        bound + by
        for bound in (0, 24, 100, 256, 1 << 16, 1 << 32, 1 << 53, 1 << 63, *CREATED, -24, -256, -(1 << 53))
        for by in (-1, 0, 1)
    }
    | {2, 13, 14, (1 << 64) - 1, -(1 << 63), -(1 << 64)}
)
TEXTS: Final = [
    *("x" * (most + by) for most in (1, 32, 64, 128, 256, 512, 1024) for by in (-1, 0, 1)),
    *("é" * most for most in (16, 17, 128, 129, 256, 257)),
    "Two words\n",
    "\0\u202e\ufeff",
]
STRINGS: Final = [
    *(bytes(width) for width in (0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 4096, 4097)),
    *(bytes.fromhex(code) for code in ("01", "7f", "80", "ff", "0100", "7f01", "8000", "ffff", "800000")),
]
INFINITE, NO_NUMBER = float("inf"), float("nan")
FLOATS: Final = [
    *(Float("e", number) for number in (0.0, -0.0, 0.5, 1.0, 1.5, 65504.0, 2**-24, INFINITE, NO_NUMBER)),
    *(Float("f", number) for number in (0.5, 0.1, 65536.5, 2**-25, 2**-24 * 1.5, 1e30, -0.0, INFINITE)),
    *(Float("d", number) for number in (0.5, 0.1, 5e-324, 1.1e-40, 1e300, 2**52 + 0.5, 2**-25, NO_NUMBER)),
    Float("d", struct.unpack(">f", struct.pack(">f", 0.1))[0]),
]
LISTS: Final[list[Any]] = [
    *(["x"] * count for count in (0, 1, 16, 17, 32, 33, 256, 257)),
    [""],
    *(["x" * (most + by)] for most in (32, 256, 512) for by in (0, 1)),
    *([bytes(32)] * count for count in (1, 3, 4, 5)),
    [bytes(31)] * 4,
    [None],
    [b""],
    [1],
    [["x"]],
    ["b", "a", "a"],
]
METAS: Final[list[Any]] = [
    {},
    {"a": None},
    {"": 1},
    {1: 1},
    {b"a": 1},
    {"a": []},
    {"a": {}},
    {"b": 1, "aa": 2},
    {"aa": 1, "b": 2},
    {"b": 1, "a": 2},
    Raw(b"\xa2\x61a\x01\x61a\x02"),
    *({"x" * length: True} for length in (64, 65)),
    *({f"{at:02}": at for at in range(count)} for count in (32, 33)),
    *(
        {"a": "x" * 1024, "b": "x" * 1024, "c": "x" * 1024, "d": "x" * length}
        for length in (*range(1000, 1016), 1024)
    ),
]
MAPS: Final[list[Any]] = [
    {},
    {0: "x"},
    {1: "x"},
    {0: "x", 1: "y"},
    {1: "x", 0: "y"},
    {5: "x"},
    {"0": "x"},
    {None: 1},
    {-1: "x"},
    {False: "x"},
    Raw(b"\xa2\x00\x61a\x00\x61b"),
    Raw(b"\xa1\x18\x00\x61a"),
    Raw(b"\xbf\x00\x61a\xff"),
    Raw(b"\xb8\x01\x00\x61a"),
    Raw(b"\xd9\xd9\xf7\xa1\x00\x61x"),
    Raw(b"\xa2\x00\x61x"),
]
SIMPLE: Final[list[Any]] = [None, False, True, *(Raw(bytes([0xE0 + at])) for at in (0, 19, 23))]
ANYTHING: Final = [*INTEGERS, *TEXTS, *STRINGS, *FLOATS, *LISTS, *MAPS, *SIMPLE]
META_VALUES: Final = [*INTEGERS, *TEXTS, *FLOATS, *SIMPLE, b"", [], Raw(b"\x38\x00"), Raw(b"\xfb\x3f")]
FURTHER: Final = 6
"""One more than there are further fields."""
LARGE_TEXTS: Final = ["x" * 1_048_576, "x" * 1_048_577, "é" * 524_288, "é" * 524_289]
LARGE_LISTS: Final = [[bytes(32)] * count for count in (65_536, 65_537)]
