"""Mutations of a proof at the level of bytes and of CBOR; each has a name."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from tests.reference.cbor import BYTES, TEXT, head, write
from tests.vectors.items import Edit, Path, Span, added, dropped, replaced

Mutations = Iterator[tuple[str, list[Edit]]]
Spans = dict[Path, Span]

PARTS: Final = {2: "link", 3: "opening", 4: "segments", 5: "atoms", 6: "edges", 7: "tags"}
FIELDS: Final = ("size", "log root", "root of atoms", "root of edges", "root of index", "root of tags")


def named(path: Path) -> str:
    """Return a name for the position of an item in a proof."""
    if path[0] == 8 and len(path) > 1:
        return f"witness {path[1]}" + "".join(f", item {at}" for at in path[2:])
    begin = PARTS.get(path[0], "the witnesses" if path[0] == 8 else f"item {path[0]}")
    if path[0] == 3 and len(path) > 1:
        return f"opening, {FIELDS[path[1]]}"
    if path[0] in (5, 6, 7) and len(path) > 1:
        return f"{begin}, {('shape', 'hashes')[path[1]]}"
    return begin + "".join(f", item {at}" for at in path[1:])


def flipped(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield flips of random bits."""
    for at in sorted(rng.sample(range(len(data)), 4)):
        bit = rng.randrange(8)
        yield f"bit {bit} of byte {at} flipped", [(at, 1, bytes([data[at] ^ 1 << bit]))]


def lengths(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs that are too short or too long."""
    yield "the last byte cut off", [(len(data) - 1, 1, b"")]
    yield "the first byte cut off", [(0, 1, b"")]
    half = len(data) // 2
    yield "the second half cut off", [(half, len(data) - half, b"")]
    yield "a zero byte after it", [(len(data), 0, b"\0")]
    yield "a null after it", [(len(data), 0, b"\xf6")]


def encodings(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs in which an item, unchanged or nearly so, is encoded in a form that is not canonical."""
    yield "the outermost array with a long length", [(0, 1, b"\x98\x09")]
    yield "the outermost array of indefinite length", [(0, 1, b"\x9f"), (len(data), 0, b"\xff")]
    yield "the tag for CBOR before it", [(0, 0, b"\xd9\xd9\xf7")]
    one = found[1,]
    forms = {
        "a long form": b"\x18\x01",
        "a float": b"\xf9\x3c\x00",
        "true": b"\xf5",
        "a bignum": b"\xc2\x41\x01",
    }
    for name, form in forms.items():
        yield f"the version as {name}", replaced(one, form)
    magic = found[0,]
    yield "the magic as an indefinite text", [(magic.start, 0, b"\x7f"), (magic.end, 0, b"\xff")]
    null = next(span for span in found.values() if span.kind == 7)
    yield f"undefined for null: {named(null.path)}", replaced(null, b"\xf7")
    yield f"false for null: {named(null.path)}", replaced(null, b"\xf4")
    string = rng.choice([span for span in found.values() if span.kind == BYTES and span.number])
    long = bytes([BYTES << 5 | 27]) + string.number.to_bytes(8, "big")
    yield f"a length of eight bytes: {named(string.path)}", [(string.start, string.body - string.start, long)]
    text = bytes([head(TEXT, string.number)[0]]) + head(TEXT, string.number)[1:]
    yield f"text for a byte string: {named(string.path)}", [(string.start, string.body - string.start, text)]
    pieces = b"\x5f" + data[string.start : string.end] + b"\xff"
    yield f"a string in pieces: {named(string.path)}", replaced(string, pieces)
    yield "arrays 17 deep for the link", replaced(found[2,], b"\x81" * 15 + b"\x80")
    yield "arrays 16 deep for the link", replaced(found[2,], b"\x81" * 14 + b"\x80")
    yield "a map around it", [(0, 0, b"\xa1\x00")]
    yield "an array around it", [(0, 0, b"\x81")]


def envelope(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield changes of the outermost array of a proof, of the magic text and of the version."""
    yield "another magic", replaced(found[0,], write("memroot-prooF"))
    yield "the magic as bytes", replaced(found[0,], write(b"memroot-proof"))
    yield "version 1", replaced(found[1,], b"\1")
    yield "version 0", replaced(found[1,], b"\0")
    yield "a tenth item", added(found, (), 9, b"\xf6")
    yield "without the witnesses", dropped(found, (8,))
    yield "an empty array", replaced(found[()], b"\x80")
    yield "null", replaced(found[()], b"\xf6")
    yield "a number for the witnesses", replaced(found[8,], b"\0")


def sizes(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs with more bytes or more items than a proof may have."""
    yield "65,537 zero bytes after it", [(len(data), 0, bytes(65_537))]
    yield "16,777,217 zero bytes after it", [(len(data), 0, bytes(16_777_217))]
    yield "2^20 numbers for the link", replaced(found[2,], b"\x9a\x00\x10\x00\x00" + bytes(1 << 20))
