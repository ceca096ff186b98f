"""Events that a writer made of any bytes, each the last one of a log that is made to fit it.

Hashes are right in all of them, so that only the forms of headers and payloads (SPEC, section 5) decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, NamedTuple

import cbor2

from proofs.basis import Root
from proofs.claims import EventIs
from proofs.hashing import commitment
from proofs.log import leaf_hash
from tests.reference.hashes import NAMESPACES, overall, root_by_path
from tests.soundness.odd_values import (
    ANYTHING,
    FURTHER,
    LARGE_LISTS,
    LARGE_TEXTS,
    MAPS,
    META_VALUES,
    METAS,
    SIMPLE,
    TEXTS,
    encoded,
)
from tests.soundness.recoding import recoded
from tests.soundness.wire import Asked
from tests.vectors.load import read

COMMITMENT, COMMON = 5, 7
"""Where the commitment stands in a header, and how many fields all headers have."""
SALT = b"\x07" * 32
STORE = b"\x09" * 16
Items = list[Any]


class Event(NamedTuple):
    """An event of the golden journal, taken apart."""

    header: Items
    body: Items


@cache
def events() -> list[Event]:
    """Return the first event of each kind in the golden journal whose payload is there."""
    found: dict[int, Event] = {}
    for one in read("journal")["events"]:
        if one["payload"] is not None:
            event = Event(_items(one["header"]), _items(one["payload"][64:]))
            # Event 0 cannot be opened, whatever it is.
            event.header[1] = max(event.header[1], 1)
            found.setdefault(event.header[3], event)
    return [found[kind] for kind in sorted(found)]


def _items(raw: str) -> Items:
    items: Items = cbor2.loads(bytes.fromhex(raw))
    return items


def asked(header: Items | bytes, payload: bytes, seq: int, opened: bool = True) -> Asked:
    """Return whether an event is the last of a log, whose other hashes are arbitrary."""
    raw = header if isinstance(header, bytes) else encoded(header)
    path = [bytes([at + 1]) * 32 for at in range(seq.bit_count())]
    log_root = root_by_path(seq, seq + 1, leaf_hash(raw), path)
    assert log_root is not None
    opening: Items = [1, bytes(32), seq + 1, log_root, [[name, bytes(32)] for name in NAMESPACES]]
    root = overall(STORE, *opening)
    witness = [11, raw, payload if opened else None, b"".join(path)]
    data = encoded(["memroot-proof", 3, None, opening, *[None] * 5, [witness]])
    return Asked(data, Root(STORE, root), [EventIs(seq, opened=opened)])


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
    """Give each field of each kind of body each odd value, and have fields missing or too many."""
    for event in events():
        for at in range(len(event.body)):
            yield from (with_body(event, changed_at(event.body, at, value)) for value in ANYTHING)
        yield from (with_body(event, [*event.body, value]) for value in [*MAPS, *SIMPLE])
        yield from (with_body(event, event.body[:count]) for count in range(len(event.body)))
    yield from (with_body(events()[0], value) for value in ANYTHING)


def odd_further_fields() -> Iterator[Asked]:
    """Give each further field each odd value, in the body of an atom and in another one."""
    for event in events()[1:4:2]:
        for number in range(FURTHER):
            yield from (with_body(event, [*event.body, {number: value}]) for value in ANYTHING)


def odd_metas() -> Iterator[Asked]:
    """Give an atom each odd `meta`."""
    event = events()[1]
    for meta in [*METAS, *({"a": value} for value in META_VALUES)]:
        yield with_body(event, [*event.body, {2: meta}])


def large_bodies() -> Iterator[Asked]:
    """Give contents, and hashes of erased contents, as long as they may be, and longer."""
    for event in events():
        match event.header[3]:
            case 1:
                yield from (with_body(event, changed_at(event.body, 0, text)) for text in LARGE_TEXTS)
            case 11:
                yield from (with_body(event, changed_at(event.body, 1, hashes)) for hashes in LARGE_LISTS)


def odd_headers() -> Iterator[Asked]:
    """Give each field of each kind of header each odd value; of one kind, also the fields that all have."""
    for event in events():
        for at in range(0 if event is events()[0] else COMMON, len(event.header)):
            yield from (with_header(event, changed_at(event.header, at, value)) for value in ANYTHING)
        yield from (with_header(event, event.header[:count]) for count in range(len(event.header)))
        yield from (with_header(event, [*event.header, value]) for value in SIMPLE)


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
