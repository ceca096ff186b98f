"""Proofs of events whose fields are at their bounds, and one step beyond them.

Each proof is about a hand-made log of three events, so all hashes match and only the form of event 1 is at
fault. Event 0 is not shown, and event 2 is the checkpoint of the link.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.reference import claims as c
from tests.reference.cbor import write
from tests.reference.claims import Basis, Claim
from tests.reference.hashes import NAMESPACES, digest, log_leaf, log_node, overall

STORE = b"\x0b" * 16
SALT = b"\x0c" * 32
FIRST = b"\x0d" * 32
"""The leaf of event 0."""
ATOM_ADDED, ATOM_REVISED, TYPE_REGISTERED, CHECKPOINT, FOREIGN_HEAD = 1, 2, 7, 10, 14
ATOM = b"\x0a" * 16
CODE = b"\x80" + bytes(7)
HASH = bytes(32)
NAMED: list[Any] = [[name, HASH] for name in NAMESPACES]
ORIGIN: list[Any] = [STORE, 7, 1, HASH, 5]


class Made(NamedTuple):
    """A proof of event 1 of a log of three events."""

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
    prev: int | None = None,
    opening: list[Any] | None = None,
    path: bytes | None = None,
) -> Made:
    """Return a proof that opens event 1. The arguments are fields of this event and of the proof."""
    raw = write([3, 1, 5, kind, actor, digest("commitment", SALT + body), prev, *detail])
    return of_header(what, raw, SALT + body, path, opening)


def of_header(
    what: str, header: bytes, payload: bytes, path: bytes | None = None, opening: list[Any] | None = None
) -> Made:
    """Return a proof that opens the event with this header."""
    leaf = log_leaf(header)
    two = log_node(FIRST, leaf)
    opened: list[Any] = opening or [1, HASH, 2, two, NAMED]
    root = overall(
        STORE, opened[0], opened[1], opened[2], opened[3], [(name, own) for name, own in opened[4]]
    )
    last = write([3, 2, 6, CHECKPOINT, "user", HASH, None, root])
    own = FIRST + log_leaf(last) if path is None else path
    witness: list[Any] = [c.EVENT, header, payload, own]
    data = write(["memroot-proof", 3, [last, two], opened, *[None] * 5, [witness]])
    basis: Basis = ("log", STORE, 3, log_node(two, log_leaf(last)))
    return Made(what, data, basis, [(c.EVENT, bytes(7) + b"\1", None, True)])


def accepted() -> list[Made]:
    """Return proofs of events whose fields are at their bounds."""
    name, atom, fact = write(["listens_on"]), write(TEXT), write([b"opaque"])
    return [
        made("an empty actor", TYPE_REGISTERED, [CODE], name, actor=""),
        made("an actor of 32 bytes", TYPE_REGISTERED, [CODE], name, actor="a" * 32),
        made("an actor that is not a label", TYPE_REGISTERED, [CODE], name, actor="Ä b\n"),
        made("an empty name", TYPE_REGISTERED, [CODE], write([""])),
        made("a name of 32 bytes", TYPE_REGISTERED, [CODE], write(["é" * 16])),
        made("the greatest code", TYPE_REGISTERED, [b"\xff" * 8], name),
        made("four roots in a checkpoint", CHECKPOINT, [HASH], write([NAMED])),
        made("a further namespace in a checkpoint", CHECKPOINT, [HASH], write([[*NAMED, ["times", HASH]]])),
        made("a revision with the ordinal that it replaces", ATOM_REVISED, [ATOM, 1, 0], atom, prev=0),
        made("an added atom with an earlier event", ATOM_ADDED, [ATOM, 1], atom, prev=0),
        made("the first kind of facts, without an atom", 32, [None], fact),
        made("the last kind of facts, on an atom", 63, [ATOM], fact, prev=0),
        made("a fact without data", 40, [ATOM], write([b""])),
        made("a head of another store", FOREIGN_HEAD, [STORE, 1, HASH, HASH], write([None])),
        made("a head without an overall root", FOREIGN_HEAD, [STORE, 1, HASH, None], write([None])),
        made("an atom of another store", ATOM_ADDED, [ATOM, 0, ORIGIN], atom),
        made("a lost version", 15, [ATOM, 1, ORIGIN], atom, prev=0),
        made("a statement that is reached", 16, [ATOM, 0, ORIGIN], write([None, []]), prev=0),
        made("an edge without effect", 17, [ATOM, CODE, HASH[:16], ORIGIN], write([None] * 3), prev=0),
    ]


TEXT: list[Any] = ["x", None, "note", [], ["inbox"], None, None, "internal", None, None, 0, None]


def refused() -> Iterator[Made]:
    """Yield proofs of events beyond the bounds; `what` names the fault."""
    name, atom = write(["listens_on"]), write(TEXT)
    good = made("", TYPE_REGISTERED, [CODE], name)
    yield made("an actor of 33 bytes", TYPE_REGISTERED, [CODE], name, actor="a" * 33)
    yield made("an actor of 32 characters and 33 bytes", TYPE_REGISTERED, [CODE], name, actor="a" * 31 + "é")
    yield made("a name of 33 bytes", TYPE_REGISTERED, [CODE], write(["a" * 33]))
    for count in (0, 1, 2, 3):
        yield made(f"{count} roots in a checkpoint", CHECKPOINT, [HASH], write([NAMED[:count]]))
    yield made("the roots of a checkpoint in another order", CHECKPOINT, [HASH], write([NAMED[::-1]]))
    yield made("the roots of a checkpoint without names", CHECKPOINT, [HASH], write([[HASH] * 4]))
    yield made("a predicate with a code of one byte", TYPE_REGISTERED, [b"\1"], name)
    yield made("a predicate with a code of two bytes", TYPE_REGISTERED, [b"\x80\0"], name)
    yield made("a predicate with a code below 80", TYPE_REGISTERED, [b"\x7f" + bytes(7)], name)
    yield made("an event without a subject that has an earlier event", TYPE_REGISTERED, [CODE], name, prev=0)
    yield made("a checkpoint that has an earlier event", CHECKPOINT, [HASH], write([NAMED]), prev=0)
    yield made("a fact without an atom that has an earlier event", 32, [None], write([b""]), prev=0)
    yield made(
        "a head of another store with an earlier event", 14, [STORE, 1, HASH, HASH], write([None]), prev=0
    )
    yield made("a head of another store with no events", 14, [STORE, 0, HASH, HASH], write([None]))
    yield made("a head of another store without its log", 14, [STORE, 1, None, HASH], write([None]))
    yield made("a checkpoint of another store", CHECKPOINT, [HASH, ORIGIN], write([NAMED]))
    yield made("a lost version of this store", 15, [ATOM, 1], atom, prev=0)
    yield made("an origin without its kind", ATOM_ADDED, [ATOM, 0, [*ORIGIN[:2], *ORIGIN[3:]]], atom)
    yield made("two origins", ATOM_ADDED, [ATOM, 0, ORIGIN, ORIGIN], atom)
    yield made("an added atom that replaces nothing", ATOM_ADDED, [ATOM, 1, None], atom)
    yield made("an added atom that replaces an ordinal", ATOM_ADDED, [ATOM, 1, 0], atom)
    yield made("a tombstone that replaces an ordinal", 3, [ATOM, 1, 0], write([""]), prev=0)
    yield made("a revision that replaces nothing", ATOM_REVISED, [ATOM, 1], atom, prev=0)
    yield made("a revision that replaces null", ATOM_REVISED, [ATOM, 1, None], atom, prev=0)
    yield made("a reserved kind", 12, [CODE], name)
    for kind in (31, 64, 255):
        yield made(f"the unknown kind {kind}", kind, [None], write([b""]))
    yield made("a fact with two fields in its body", 32, [None], write([b"", b""]))
    yield made("a fact with text for data", 32, [None], write(["opaque"]))
    commitment = digest("commitment", SALT + name)
    header = write([3, 1, 5, TYPE_REGISTERED, "user", commitment, None, CODE])
    yield of_header("a header of format 2", b"\x88\x02" + header[2:], SALT + name)
    yield of_header("a header with its seq in two bytes", header[:2] + b"\x18\1" + header[3:], SALT + name)
    yield of_header("a header that is a text", b"\x60", SALT + name)
    yield of_header("an empty header", b"", SALT + name)
    body = b"\x81\x78\x01a"
    yield made("a body with a length in two bytes", TYPE_REGISTERED, [CODE], body)
    yield made("a body with an item after it", TYPE_REGISTERED, [CODE], name + b"\xf6")
    yield made("a body of another kind", TYPE_REGISTERED, [CODE], write([HASH]))
    yield from further_fields(name)
    yield from openings(name)
    yield made("a path of 31 bytes", TYPE_REGISTERED, [CODE], name, path=bytes(31))
    yield made("a path of 65 hashes", TYPE_REGISTERED, [CODE], name, path=bytes(65 * 32))
    yield made("a path of 64 hashes", TYPE_REGISTERED, [CODE], name, path=bytes(64 * 32))
    yield good._replace(what="event 0 opened", claims=[(c.EVENT, bytes(8), None, True)])
    for seq in (2, (1 << 53) - 1, 1 << 53, (1 << 64) - 1):
        yield good._replace(
            what=f"event {seq} in the claim", claims=[(c.EVENT, seq.to_bytes(8, "big"), None, True)]
        )
    ten = [None] * 8
    others: dict[str, Any] = {
        "an empty array": [],
        "a number": 0,
        "an array of the magic alone": ["memroot-proof"],
        "an array of magic and format": ["memroot-proof", 3],
        "format 2": ["memroot-proof", 2, *ten],
        "format 4": ["memroot-proof", 4, *ten],
    }
    for what, item in others.items():
        yield good._replace(what=what, data=write(item))
    begin = b"\x8a\x6dmemroot-proof\3"
    deep = {
        "a number in 17 arrays, the proof included": b"\x81" * 16 + b"\0",
        "a number in 16 arrays, the proof included": b"\x81" * 15 + b"\0",
        "an empty array in 16 arrays, the proof included": b"\x81" * 15 + b"\x80",
    }
    for what, raw in deep.items():
        yield good._replace(what=what, data=begin + raw + b"\xf6" * 6 + b"\x80")


def openings(name: bytes) -> Iterator[Made]:
    """Yield proofs whose opening does not belong to the log, although the checkpoint was made over it."""
    two = log_node(
        FIRST, log_leaf(write([3, 1, 5, 7, "user", digest("commitment", SALT + name), None, CODE]))
    )
    others: dict[str, list[Any]] = {
        "another log root in the opening": [1, HASH, 2, HASH, NAMED],
        "another size in the opening": [1, HASH, 1, two, NAMED],
        "rules of 0": [0, HASH, 2, two, NAMED],
        "rules of 256": [256, HASH, 2, two, NAMED],
        "a namespace left out of the opening": [1, HASH, 2, two, NAMED[1:]],
        "the namespaces of the opening in another order": [1, HASH, 2, two, [NAMED[1], NAMED[0], *NAMED[2:]]],
        "a namespace twice in the opening": [1, HASH, 2, two, [NAMED[0], *NAMED]],
        "a namespace without a name": [1, HASH, 2, two, [["", HASH], *NAMED]],
        "65 namespaces": [1, HASH, 2, two, [*NAMED, *([f"x{n:02}", HASH] for n in range(61))]],
    }
    for what, opening in others.items():
        yield made(what, TYPE_REGISTERED, [CODE], name, opening=opening)


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
    atom = write(TEXT)
    for what, raw in {"infinity": b"\xf9\x7c\0", "NaN": b"\xf9\x7e\0", "1.0": b"\xf9\x3c\0"}.items():
        body = b"\x8d" + atom[1:] + b"\xa1\2\xa1\x61k" + raw
        yield made(f"{what} in meta", ATOM_ADDED, [ATOM, 0], body)
