"""Events that a writer made of any bytes, each the last one of a log that is made to fit it.

Hashes are right in all of them, so that only the forms of headers and payloads (SPEC, section 5) decide.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple

from proofs.basis import LogHead
from proofs.claims import EventIs
from proofs.hashing import commitment
from proofs.log import leaf_hash
from tests.javascript.agreement import Asked
from tests.reference.hashes import root_by_path
from tests.soundness.recoding import ARRAY, BYTES, TEXT, UINT, head, recoded
from tests.vectors.make import FOLDER

NEGATIVE, MAP = 1, 5
COMMITMENT = 5
SALT = b"\x07" * 32
STORE = b"\x09" * 16
CREATED = (-62_135_596_800_000_000, 253_402_300_799_999_999)
Items = list[Any]


class Raw(NamedTuple):
    """An item given as its bytes, canonical or not."""

    data: bytes


class Half(NamedTuple):
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
        case Half(form, number):
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
FLOATS: Final = [
    *(Half("e", number) for number in (0.0, -0.0, 0.5, 1.0, 1.5, 65504.0, 2**-24, float("inf"), float("nan"))),
    *(Half("f", number) for number in (0.5, 0.1, 65536.5, 2**-25, 2**-24 * 1.5, 1e30, -0.0, float("inf"))),
    *(Half("d", number) for number in (0.5, 0.1, 5e-324, 1.1e-40, 1e300, 2**52 + 0.5, 2**-25, float("nan"))),
    Half("d", struct.unpack(">f", struct.pack(">f", 0.1))[0]),
]
LISTS: Final[list[Any]] = [
    *([""] * count for count in (0, 1, 16, 17, 32, 33, 256, 257)),
    *(["x" * (most + by)] for most in (32, 256, 512) for by in (0, 1)),
    *([bytes(32)] * count for count in (1, 3, 4, 5)),
    [bytes(31)] * 4,
    [None],
    [b""],
    [1],
    [["x"]],
    ["b", "a", "a"],
]
METAS: Final[list[dict[Any, Any]]] = [
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
]
SIMPLE: Final[list[Any]] = [None, False, True, *(Raw(bytes([0xE0 + at])) for at in (0, 19, 23)), Raw(b"\xf8\x20")]
ANYTHING: Final = [*INTEGERS, *TEXTS, *STRINGS, *FLOATS, *LISTS, *MAPS, *SIMPLE]
META_VALUES: Final = [*INTEGERS, *TEXTS, *FLOATS, *SIMPLE, b"", []]
FURTHER: Final = 6
"""One more than there are further fields."""
LARGE: Final[list[Any]] = [
    "x" * 1_048_576,
    "x" * 1_048_577,
    "é" * 524_288,
    "é" * 524_289,
    [bytes(32)] * 65_536,
    [bytes(32)] * 65_537,
]
"""What is too long to be tried in each field."""


class Event(NamedTuple):
    """An event of the golden journal, taken apart."""

    header: Items
    body: Items


@cache
def events() -> list[Event]:
    """Return one event of each kind, as small as there is in the golden journal, but atoms with further fields."""
    found: dict[int, Event] = {}
    for one in json.loads((FOLDER / "journal.json").read_bytes())["events"]:
        if one["payload"] is not None:
            event = Event(_items(one["header"]), _items(one["payload"][64:]))
            found.setdefault(event.header[3], event)
    return [found[kind] for kind in sorted(found)]


def _items(raw: str) -> Items:
    import cbor2

    items: Items = cbor2.loads(bytes.fromhex(raw))
    return items


def asked(header: Items | bytes, payload: bytes, seq: int, opened: bool = True) -> Asked:
    """Return whether an event is the last of a log, whose other hashes are arbitrary."""
    raw = header if isinstance(header, bytes) else encoded(header)
    path = [bytes([at + 1]) * 32 for at in range(seq.bit_count())]
    root = root_by_path(seq, seq + 1, leaf_hash(raw), path)
    assert root is not None
    witness = [11, raw, payload if opened else None, b"".join(path)]
    data = encoded(["memroot-proof", 2, *[None] * 6, [witness]])
    return Asked(data, LogHead(STORE, seq + 1, root), [EventIs(seq, opened=opened)])


def with_body(event: Event, body: Any) -> Asked:
    """Return the question about an event with another body."""
    raw = body if isinstance(body, bytes) else encoded(body)
    header = list(event.header)
    header[COMMITMENT] = commitment(SALT, raw)
    return asked(header, SALT + raw, header[1])


def with_header(event: Event, header: Any) -> Asked:
    """Return the question about an event with another header, its payload sealed."""
    return asked(header, b"", event.header[1], opened=False)


def changed_at(items: Items, at: int, value: Any) -> Items:
    """Return the items with another one at `at`."""
    return [*items[:at], value, *items[at + 1 :]]


def odd_bodies() -> Iterator[Asked]:
    """Give each field of each kind of body each odd value, and each body other further fields."""
    for event in events():
        for at in range(len(event.body)):
            yield from (with_body(event, changed_at(event.body, at, value)) for value in ANYTHING)
        yield from (with_body(event, [*event.body, value]) for value in [*MAPS, *SIMPLE])
        yield from (with_body(event, event.body[:count]) for count in range(len(event.body)))
        yield from (with_body(event, value) for value in ANYTHING)
        for number in range(FURTHER):
            yield from (with_body(event, [*event.body, {number: value}]) for value in ANYTHING)


def odd_metas() -> Iterator[Asked]:
    """Give an atom each odd `meta`."""
    event = events()[1]
    for meta in [*METAS, *({"a": value} for value in META_VALUES)]:
        yield with_body(event, [*event.body, {2: meta}])


def large_bodies() -> Iterator[Asked]:
    """Give the fields that have no smaller bound values at their bounds."""
    for event in events():
        for value in LARGE:
            if event.header[3] in (1, 11):
                yield with_body(event, changed_at(event.body, 0, value))
                yield with_body(event, changed_at(event.body, -1 % len(event.body), value))


def odd_headers() -> Iterator[Asked]:
    """Give each field of each kind of header each odd value."""
    for event in events():
        for at in range(len(event.header)):
            yield from (with_header(event, changed_at(event.header, at, value)) for value in ANYTHING)
        yield from (with_header(event, event.header[:count]) for count in range(len(event.header)))
        yield from (with_header(event, [*event.header, value]) for value in (None, 0, {}, "x"))


def random_events(rng: Random) -> Iterator[Asked]:
    """Change events at random: two fields, the order, the bytes, or the form of one item."""
    while True:
        event = rng.choice(events())
        if rng.random() < 0.3:
            yield with_header(event, _other(event.header, rng))
        else:
            yield with_body(event, _other(event.body, rng))


def _other(items: Items, rng: Random) -> Any:
    match rng.randrange(4):
        case 0:
            return [rng.choice(ANYTHING) if rng.random() < 0.2 else item for item in items]
        case 1:
            return recoded([one for one in items if not isinstance(one, (dict, bool, float))], rng)
        case 2:
            raw = bytearray(encoded(items))
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            return bytes(raw)
        case _:
            raw = bytearray(encoded([*items, _random_further(rng)]))
            if rng.random() < 0.3:
                raw[-1 - rng.randrange(min(20, len(raw)))] ^= 1 << rng.randrange(8)
            return bytes(raw)


def _random_further(rng: Random) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for number in sorted(rng.sample(range(FURTHER), rng.randrange(FURTHER))):
        made[number] = {
            2: {f"k{at}": rng.choice(META_VALUES) for at in range(rng.randrange(4))},
            3: [rng.choice(TEXTS) for _ in range(rng.randrange(4))],
        }.get(number, rng.choice(TEXTS))
    return made
