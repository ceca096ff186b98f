"""Proofs of events whose fields are at their bounds, and one step beyond them.

Each proof is about a hand-made log of one event, so all hashes match and only the form is at fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from tests.reference import claims as c
from tests.reference.cbor import write
from tests.reference.claims import Basis, Claim
from tests.reference.hashes import digest

STORE = b"\x0b" * 16
SALT = b"\x0c" * 32
TYPE_REGISTERED, CHECKPOINT, GENESIS, ATOM_ADDED = 7, 10, 0, 1
CODE = b"\x80\0"
HASH = bytes(32)


class Made(NamedTuple):
    """A proof of event 0 of a log of one event."""

    what: str
    data: bytes
    basis: Basis
    claims: list[Claim]


def made(
    what: str,
    kind: int,
    detail: list[Any],
    body: bytes,
    *,
    actor: str = "user",
    header: bytes = b"",
    path: bytes = b"",
) -> Made:
    """Return a proof that opens event 0. The arguments are fields of this event and of the proof."""
    raw = header or write([2, 0, 5, kind, actor, digest("commitment", SALT + body), None, *detail])
    return of_header(what, raw, SALT + body, path)


def of_header(what: str, header: bytes, payload: bytes, path: bytes = b"") -> Made:
    """Return a proof that opens the event with this header."""
    data = write(["memroot-proof", 2, None, None, None, None, None, None, [[c.EVENT, header, payload, path]]])
    basis: Basis = ("log", STORE, 1, sha256(b"\0" + header).digest())
    return Made(what, data, basis, [(c.EVENT, bytes(8), None, True)])


def accepted() -> list[Made]:
    """Return proofs of events whose fields are at their bounds."""
    name = write(["listens_on"])
    return [
        made("event 0 opened", GENESIS, [STORE, "memroot-1", HASH], write([HASH]), actor="engine"),
        made("an empty actor", TYPE_REGISTERED, [CODE], name, actor=""),
        made("an actor of 32 bytes", TYPE_REGISTERED, [CODE], name, actor="a" * 32),
        made("an actor that is not a label", TYPE_REGISTERED, [CODE], name, actor="Ä b\n"),
        made("an empty name", TYPE_REGISTERED, [CODE], write([""])),
        made("a name of 32 bytes", TYPE_REGISTERED, [CODE], write(["é" * 16])),
        made("four roots in a checkpoint", CHECKPOINT, [HASH], write([[HASH] * 4])),
    ]


def refused() -> Iterator[Made]:
    """Yield proofs of events beyond the bounds; `what` names the fault."""
    name = write(["listens_on"])
    good = made("", TYPE_REGISTERED, [CODE], name)
    yield made("an actor of 33 bytes", TYPE_REGISTERED, [CODE], name, actor="a" * 33)
    yield made("an actor of 32 characters and 33 bytes", TYPE_REGISTERED, [CODE], name, actor="a" * 31 + "é")
    yield made("a name of 33 bytes", TYPE_REGISTERED, [CODE], write(["a" * 33]))
    for count in (0, 1, 2, 3, 5):
        yield made(f"{count} roots in a checkpoint", CHECKPOINT, [HASH], write([[HASH] * count]))
    yield made("a reserved kind", 12, [CODE], name)
    yield made("an unknown kind", 14, [CODE], name)
    commitment = digest("commitment", SALT + name)
    header = write([2, 0, 5, TYPE_REGISTERED, "user", commitment, None, CODE])
    yield of_header("a header of format 1", b"\x88\x01" + header[2:], SALT + name)
    yield of_header("a header with its seq in two bytes", header[:2] + b"\x18\0" + header[3:], SALT + name)
    yield of_header("a header that is a text", b"\x60", SALT + name)
    yield of_header("an empty header", b"", SALT + name)
    body = b"\x81\x78\x01a"
    yield made("a body with a length in two bytes", TYPE_REGISTERED, [CODE], body)
    yield made("a body with an item after it", TYPE_REGISTERED, [CODE], name + b"\xf6")
    yield made("a body of another kind", TYPE_REGISTERED, [CODE], write([HASH]))
    yield from further_fields(name)
    yield made("a path of 31 bytes", TYPE_REGISTERED, [CODE], name, path=bytes(31))
    yield made("a path of 65 hashes", TYPE_REGISTERED, [CODE], name, path=bytes(65 * 32))
    yield made("a path of 64 hashes", TYPE_REGISTERED, [CODE], name, path=bytes(64 * 32))
    for seq in (1, 1 << 53, (1 << 53) + 1, (1 << 64) - 1):
        yield good._replace(
            what=f"event {seq} in the claim", claims=[(c.EVENT, seq.to_bytes(8, "big"), None, True)]
        )
    nine = [None] * 7
    others: dict[str, Any] = {
        "an empty array": [],
        "a number": 0,
        "an array of the magic alone": ["memroot-proof"],
        "an array of magic and version": ["memroot-proof", 2],
        "version 1": ["memroot-proof", 1, *nine],
        "version 3": ["memroot-proof", 3, *nine],
    }
    for what, item in others.items():
        yield good._replace(what=what, data=write(item))
    begin = b"\x89\x6dmemroot-proof\2"
    deep = {
        "a number in 17 arrays, the proof included": b"\x81" * 16 + b"\0",
        "a number in 16 arrays, the proof included": b"\x81" * 15 + b"\0",
        "an empty array in 16 arrays, the proof included": b"\x81" * 15 + b"\x80",
    }
    for what, raw in deep.items():
        yield good._replace(what=what, data=begin + raw + b"\xf6" * 5 + b"\x80")


def further_fields(name: bytes) -> Iterator[Made]:
    """Yield proofs of bodies with invalid further fields. `name` is the body without further fields."""
    further = {
        "keys of the further fields out of order": b"\xa2\1\x61a\0\x61b",
        "a key of the further fields twice": b"\xa2\0\x61a\0\x61b",
        "no further fields in the map": b"\xa0",
        "keys of the further fields by bytes, not by length": b"\xa2\x18\x18\0\x60\0",
        "infinity after the fields": b"\xf9\x7c\0",
        "NaN after the fields": b"\xf9\x7e\0",
        "NaN with another payload": b"\xf9\x7e\1",
        "NaN of 32 bits": b"\xfa\x7f\xc0\0\0",
        "a float that a shorter form holds": b"\xfa\x3f\xc0\0\0",
    }
    for what, raw in further.items():
        yield made(what, TYPE_REGISTERED, [CODE], b"\x82" + name[1:] + raw)
    atom = write(["x", None, "note", [], ["inbox"], None, None, "internal", None, None, 0, None])
    for what, raw in {"infinity": b"\xf9\x7c\0", "NaN": b"\xf9\x7e\0", "1.0": b"\xf9\x3c\0"}.items():
        body = b"\x8d" + atom[1:] + b"\xa1\2\xa1\x61k" + raw
        yield made(f"{what} in meta", ATOM_ADDED, [b"\x0a" * 16, 0, None], body)
