"""Headers and bodies: canonical ones of each form, and others that break one rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from proofs.events import FACT_KINDS, EventKind
from proofs.hashing import NAMESPACES
from tests.spec.spec_naive import dumps

ID: Final = bytes(range(16))
OTHER: Final = bytes(range(16, 32))
HASH: Final = bytes(range(32))
CODE: Final = bytes.fromhex("8a01020304050607")
SEQ_MAX: Final = (1 << 53) - 1
ROOTS: Final = [[name, HASH] for name in NAMESPACES]
ATOM: Final = ["text", None, "note", [], ["inbox"], None, None, "internal", None, None, 0, None]

DETAILS: Final[dict[int, list[Any]]] = {
    0: [ID, "memroot-1", HASH, HASH, 1],
    1: [ID, 7],
    2: [ID, 8, 7],
    **{key: [ID, 7] for key in (3, 4, 5, 6, 11)},
    7: [CODE],
    **{key: [ID, CODE, OTHER] for key in (8, 9, 13)},
    10: [HASH],
    14: [ID, 1, HASH, HASH],
    15: [ID, 7],
    16: [ID, 7],
    17: [ID, CODE, OTHER],
    **{key: [ID] for key in FACT_KINDS},
}
BODIES: Final[dict[int, list[Any]]] = {
    0: [HASH, HASH, HASH],
    1: ATOM,
    2: ATOM,
    **{key: ["why"] for key in (3, 4, 9, 13)},
    5: [["tag"]],
    6: [["tag"]],
    7: ["knows"],
    8: [b"\x3f\x80\0\0", b""],
    10: [ROOTS],
    11: ["why", [HASH]],
    14: [None],
    15: ATOM,
    16: ["why", ["tag"]],
    17: [b"\x3f\x80\0\0", b"", "why"],
    **{key: [b"data"] for key in FACT_KINDS},
}
NO_SUBJECT: Final = (0, 7, 10, 14)
NEVER_REPEATED: Final = (0, 10)
ALWAYS_REPEATED: Final = (15, 16, 17)
ORIGIN: Final = [ID, SEQ_MAX, 255, HASH, (1 << 63) - 1]
BAD_ORIGINS: Final[dict[str, Any]] = {
    "null": None,
    "that is a text": "program 1",
    "without a time": ORIGIN[:4],
    "with a negative time": [*ORIGIN[:4], -1],
    "with a seq above the largest": [ID, SEQ_MAX + 1, *ORIGIN[2:]],
    "with a kind above the largest": [ID, 1, 256, *ORIGIN[3:]],
    "of a store id of 15 bytes": [ID[1:], *ORIGIN[1:]],
}


def header(kind: int, detail: list[Any], prev: int | None = None, seq: int = 9, number: int = 3) -> bytes:
    """Return a header with these fields."""
    return dumps([number, seq, 1_700_000_000_000_000, kind, "user", HASH, prev, *detail])


def good_headers() -> Iterator[tuple[str, bytes]]:
    """Yield canonical headers."""
    for kind in EventKind:
        if kind in ALWAYS_REPEATED:
            continue
        yield kind.name.lower(), header(kind, DETAILS[kind])
        if kind not in NO_SUBJECT:
            yield f"{kind.name.lower()} with prev", header(kind, DETAILS[kind], 4)
    yield "fact without an atom", header(40, [None])
    yield "edge of a built-in type", header(8, [ID, b"\x7f", OTHER])
    yield "largest seq", header(1, DETAILS[1], SEQ_MAX - 1, seq=SEQ_MAX)
    yield "largest rules", header(0, [*DETAILS[0][:4], 255])
    yield "largest size", header(14, [ID, SEQ_MAX + 1, HASH, None])
    for kind in EventKind:
        if kind not in NEVER_REPEATED:
            yield f"{kind.name.lower()} with an origin", header(kind, [*DETAILS[kind], ORIGIN])
    yield "fact without an atom, with an origin", header(40, [None, ORIGIN])


def bad_headers() -> Iterator[tuple[str, bytes]]:
    """Yield headers that break one rule."""
    for kind in NO_SUBJECT:
        yield f"{EventKind(kind).name.lower()} with prev", header(kind, DETAILS[kind], 4)
    yield "fact without an atom, with prev", header(40, [None], 4)
    for kind in (1, 3, 4, 5, 6, 11):
        name = EventKind(kind).name.lower()
        yield f"{name} with replaced null", header(kind, [ID, 7, None])
        yield f"{name} with replaced", header(kind, [ID, 7, 6])
    yield "revision without replaced", header(2, [ID, 8])
    yield "revision with replaced null", header(2, [ID, 8, None])
    for code in (b"\x01", b"\x80\x00", CODE[:7], CODE + b"\0", b"\x7f" + CODE[1:], b""):
        yield f"registration of the code {code.hex() or 'of no bytes'}", header(7, [code])
        if code != b"\x01":
            yield f"edge of the code {code.hex() or 'of no bytes'}", header(8, [ID, code, OTHER])
    yield "edge of the code 00", header(8, [ID, b"\0", OTHER])
    yield "rules 0", header(0, [*DETAILS[0][:4], 0])
    yield "rules 256", header(0, [*DETAILS[0][:4], 256])
    yield "genesis of format 2", header(0, DETAILS[0][:3])
    yield "foreign head of no events", header(14, [ID, 0, HASH, HASH])
    yield "foreign head above the largest size", header(14, [ID, SEQ_MAX + 2, HASH, HASH])
    yield "seq above the largest", header(1, DETAILS[1], seq=SEQ_MAX + 1)
    yield "prev above the largest", header(1, DETAILS[1], SEQ_MAX + 1)
    yield "format 2", header(1, DETAILS[1], number=2)
    yield "format 4", header(1, DETAILS[1], number=4)
    for kind in NEVER_REPEATED:
        yield f"{EventKind(kind).name.lower()} with an origin", header(kind, [*DETAILS[kind], ORIGIN])
    for kind in ALWAYS_REPEATED:
        yield f"{EventKind(kind).name.lower()} without an origin", header(kind, DETAILS[kind])
    for name, origin in BAD_ORIGINS.items():
        yield f"origin {name}", header(1, [*DETAILS[1], origin])
    yield "origin twice", header(1, [*DETAILS[1], ORIGIN, ORIGIN])
    yield "foreign head of two fields", header(14, [ID, 1])
    yield "foreign head without its second root", header(14, [ID, 1, HASH])
    for kind in (12, 18, 31, 64, 255):
        yield f"kind {kind}", header(kind, DETAILS[1])


def good_bodies() -> Iterator[tuple[str, int, bytes]]:
    """Yield the names, kinds and bytes of canonical bodies."""
    for kind in EventKind:
        yield kind.name.lower(), kind, dumps(BODIES[kind])
    for number in (1, 5, 8, 40):
        yield (
            f"all further fields of every body, kind {number}",
            number,
            dumps([*BODIES[number], {0: "r", 1: "program 1"}]),
        )
    yield "atom with a sequence of the caller", 1, dumps([*ATOM[:6], 3, *ATOM[7:10], None, None])
    yield "atom with a key", 1, dumps([*ATOM[:10], None, "key"])
    yield "a further namespace", 10, dumps([[*ROOTS, ["zones", HASH]]])
    yield "note of a foreign head", 14, dumps(["x" * 65_536])
    yield "noted statement of nothing", 16, dumps([None, []])
    yield "noted edge of nothing", 17, dumps([None, None, None])
    yield "fact without data", 63, dumps([b""])


def bad_bodies() -> Iterator[tuple[str, int, bytes]]:
    """Yield the names, kinds and bytes of bodies that break one rule."""
    yield "empty pipeline", 5, dumps([*BODIES[5], {1: ""}])
    yield "folder of a tag", 5, dumps([*BODIES[5], {4: "folder"}])
    yield "further field 5", 1, dumps([*ATOM, {5: "x"}])
    yield "genesis of format 2", 0, dumps([HASH])
    yield "checkpoint of format 2", 10, dumps([[HASH] * 4])
    yield "three namespaces", 10, dumps([ROOTS[:3]])
    yield "a namespace twice", 10, dumps([[*ROOTS, ROOTS[3]]])
    yield "namespaces that descend", 10, dumps([ROOTS[::-1]])
    yield "a nameless namespace", 10, dumps([[["", HASH], *ROOTS]])
    yield "a name of 33 bytes", 10, dumps([[*ROOTS, ["z" * 33, HASH]]])
    yield "65 namespaces", 10, dumps([[*ROOTS, *([f"z{at:02}", HASH] for at in range(61))]])
    yield "note over its limit", 14, dumps(["x" * 65_537])
    yield "noted statement without tags", 16, dumps(["why", None])
    yield "noted edge with a weight of 3 bytes", 17, dumps([b"abc", None, None])
    yield "fact with a text", 40, dumps(["data"])
    yield "fact over its limit", 40, dumps([bytes((1 << 20) + 1)])


def headers() -> dict[str, Any]:
    """Return the contents of `headers.json`; bytes of a long body that repeat are left out."""
    return {
        "valid headers": [{"name": name, "header": raw.hex()} for name, raw in good_headers()],
        "invalid headers": [{"name": name, "header": raw.hex()} for name, raw in bad_headers()],
        "valid bodies": [_body(*one) for one in good_bodies()],
        "invalid bodies": [_body(*one) for one in bad_bodies()],
    }


def _body(name: str, kind: int, raw: bytes) -> dict[str, Any]:
    last = raw[-1:]
    often = len(raw) - len(raw.rstrip(last))
    if often < 1024:
        return {"name": name, "kind": kind, "body": raw.hex()}
    return {"name": name, "kind": kind, "body": raw[:-often].hex(), "then": last.hex(), "times": often}
