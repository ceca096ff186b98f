"""Mutations of the contents of a proof. A mutation is a name and the edits to apply."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from tests.reference.cbor import ARRAY, BYTES, UINT, head, write
from tests.vectors.codings import PARTS, Mutations, Spans, encodings, envelope, flipped, lengths, named
from tests.vectors.items import Path, Span, added, dropped, headed, replaced, resized, spans

EMPTY: Final = bytes(32)

FILLERS: Final = {
    2: write([b"", b""]),
    3: write([1, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY]),
    4: write([0, []]),
    5: write([b"\3", b""]),
    6: write([b"\3", b""]),
    7: write([b"\3", b""]),
}


def parts(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs in which a part is missing, is not needed, or has a wrong form."""
    for at, name in PARTS.items():
        span = found[at,]
        if span.kind == 7:
            yield f"{name} added", replaced(span, FILLERS[at])
        else:
            yield f"{name} left out", replaced(span, b"\xf6")
            yield f"{name} with an additional item", added(found, (at,), span.number, b"\xf6")
            yield f"{name} without its last item", dropped(found, (at, span.number - 1))
            yield f"{name} as a byte string", replaced(span, write(data[span.start : span.end]))


def opening(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs with different roots and sizes in the opening of the overall root."""
    if found[3,].kind == 7:
        return
    size = found[3, 0]
    yield "opening, size one more", replaced(size, head(UINT, size.number + 1))
    yield "opening, size over its bound", replaced(size, head(UINT, 1 << 63))
    for at in range(1, 6):
        span = found[3, at]
        yield f"{named((3, at))}: last bit flipped", [(span.end - 1, 1, bytes([data[span.end - 1] ^ 1]))]
        yield f"{named((3, at))}: a byte short", resized(span, 31, 1, b"")
    one, other = found[3, 2], found[3, 5]
    if data[one.start : one.end] != data[other.start : other.end]:
        yield (
            "opening, the roots of atoms and tags swapped",
            [
                *replaced(one, data[other.start : other.end]),
                *replaced(other, data[one.start : one.end]),
            ],
        )


def trees(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs with different shapes in the openings of trees."""
    for at in (5, 6, 7):
        if found[at,].kind == 7:
            continue
        shape = found[at, 0]
        last = data[shape.end - 1]
        for case in {0, 1, 2, 3, 4} - {last}:
            yield f"{named((at, 0))}: the last case {last} is {case}", [(shape.end - 1, 1, bytes([case]))]
        yield f"{named((at, 0))}: one more case", resized(shape, shape.number, 0, b"\3")
        yield f"{named((at, 0))}: one case fewer", resized(shape, shape.number - 1, 1, b"")
        yield f"{named((at, 0))}: only one leaf", resized(shape, 0, shape.number, b"\1")
        yield f"{named((at, 0))}: 257 nodes", resized(shape, 0, shape.number, bytes(257) + b"\3")


def hashes(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs in which a list of hashes is shortened, extended, reordered, changed or cut."""
    for path, span in sorted(found.items()):
        if span.kind != BYTES or span.number % 32 or not is_hashes(path):
            continue
        name, raw = named(path), data[span.body : span.end]
        yield f"{name}: a zero hash after the others", resized(span, span.number, 0, EMPTY)
        yield f"{name}: a zero hash before the others", resized(span, 0, 0, EMPTY)
        if not raw:
            continue
        yield f"{name}: the first hash dropped", resized(span, 0, 32, b"")
        yield f"{name}: the last hash dropped", resized(span, span.number - 32, 32, b"")
        yield f"{name}: the last hash twice", resized(span, span.number, 0, raw[-32:])
        yield f"{name}: cut inside a hash", resized(span, span.number - 1, 1, b"")
        yield f"{name}: the first bit flipped", [(span.body, 1, bytes([raw[0] ^ 0x80]))]
        yield f"{name}: the last bit flipped", [(span.end - 1, 1, bytes([raw[-1] ^ 1]))]
        if raw[:32] != EMPTY:
            yield f"{name}: the first hash zero", resized(span, 0, 32, EMPTY)
        if span.number >= 64 and raw[:32] != raw[32:64]:
            yield f"{name}: the first two swapped", resized(span, 0, 64, raw[32:64] + raw[:32])
        turned = b"".join(raw[at : at + 32] for at in range(span.number - 32, -1, -32))
        if span.number > 64 and turned != raw and span.number <= 640:
            yield f"{name}: in reverse order", resized(span, 0, span.number, turned)


def is_hashes(path: Path) -> bool:
    """Return True if a byte string whose length is a multiple of 32 may be a list of hashes."""
    return (path[0] in (5, 6, 7) and path[1:] == (1,)) or (path[0] in (2, 8) and len(path) > 1)


def witnesses(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield proofs in which a witness or a field of a witness is changed, missing, additional or empty."""
    whole = found[8,]
    yield "no witnesses", replaced(whole, b"\x80")
    first = found[8, 0]
    yield "the first witness twice", added(found, (8,), 0, data[first.start : first.end])
    number = found[8, 0, 0]
    other = number.number + 1 if number.number % 2 else number.number - 1
    yield f"witness 0 with the number of claim {other}", replaced(number, head(UINT, other))
    yield "witness 0 with an unknown claim number", replaced(number, head(UINT, 15))
    if whole.number > 1:
        yield "the last witness left out", dropped(found, (8, whole.number - 1))
        last = found[8, whole.number - 1]
        yield (
            "the first and the last witness swapped",
            [
                *replaced(first, data[last.start : last.end]),
                *replaced(last, data[first.start : first.end]),
            ],
        )
    yield "witness 0 with an additional null", added(found, (8, 0), first.number, b"\xf6")
    for path, span in sorted(found.items()):
        if path[:2] != (8, 0) or len(path) < 3 or path == (8, 0, 0):
            continue
        yield from field(data, found, path, span)


def field(data: bytes, found: Spans, path: Path, span: Span) -> Mutations:
    """Yield changes of one field of a witness."""
    name = named(path)
    if span.kind == 7:
        yield f"{name}: an empty string for null", replaced(span, b"\x40")
        return
    yield f"{name}: null", replaced(span, b"\xf6")
    yield f"{name} left out", dropped(found, path)
    if span.kind == BYTES:
        yield f"{name}: empty", replaced(span, b"\x40")
        if span.number:
            yield f"{name}: a byte short", resized(span, span.number - 1, 1, b"")
            middle = span.body + span.number // 2
            yield f"{name}: the middle byte changed", [(middle, 1, bytes([data[middle] ^ 0x55]))]
        yield f"{name}: an additional zero byte", resized(span, span.number, 0, b"\0")
    elif span.kind == UINT:
        yield f"{name}: one more", replaced(span, head(UINT, span.number + 1))
        yield f"{name}: the largest number", replaced(span, head(UINT, (1 << 64) - 1))
    elif span.kind == ARRAY:
        yield f"{name}: no items", replaced(span, b"\x80")
        if span.number > 1:
            yield (
                f"{name}: the last item twice",
                added(found, path, span.number, data[found[*path, span.number - 1].start : span.end]),
            )
            ends = [found[*path, at] for at in range(span.number)]
            turned = b"".join(data[one.start : one.end] for one in reversed(ends))
            if span.end - span.body <= 600 and turned != data[span.body : span.end]:
                yield f"{name}: in reverse order", [(span.body, span.end - span.body, turned)]


def values(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield changes of one field of the atom's or edge's value in witness 0."""
    if found[8, 0, 0].number not in (1, 3, 5, 6):
        return
    value = found[8, 0, 1]
    inner = spans(data[value.body : value.end])
    for at, name in enumerate(("state", "ordinal", "version", "created_seq", "payload_seq", "last_seq")):
        one = inner[at,]
        for number in sorted({one.number + 1, max(one.number - 1, 0), 1 << 63} - {one.number}):
            length = one.end - one.start
            yield f"value: {name} {number}", resized(value, one.start, length, head(UINT, number))
    state = inner[0,]
    yield "value: state in two bytes", resized(value, state.start, 1, bytes([0x18, state.number]))
    yield "value: one field fewer", resized(value, 0, inner[1,].start, b"\x86")
    yield "value: the last field null", resized(value, inner[6,].start, 34, b"\xf6")


def rows(data: bytes, found: Spans, rng: Random) -> Mutations:
    """Yield changes of the segments, and of the row or the neighbours in witness 0."""
    if found[4,].kind == 7:
        return
    count = found[4, 0]
    yield "segments: one ordinal more", replaced(count, head(UINT, count.number + 1))
    yield "segments: more ordinals than there can be", replaced(count, head(UINT, (1 << 32) + 1))
    if found[4, 1].number:
        total, number = found[4, 1, 0, 0], found[4, 1, 0, 1]
        yield "segments: the first one too long", replaced(total, head(UINT, 65_535 * 262_144 + 1))
        yield "segments: the first one of one row", replaced(number, b"\1")
    if found[8, 0, 0].number not in (9, 10) or (8, 0, 1, 0, 1) not in found:
        return
    shown = found[8, 0, 1, 0, 1]
    raw = data[shown.body : shown.end]
    if shown.kind == BYTES:
        yield "row: df one more", resized(shown, 3, 1, bytes([(raw[3] + 1) % 256]))
        yield "row: df 0", replaced(shown, write(bytes(5)))
        yield "row: another greatest tf", resized(shown, 4, 1, bytes([raw[4] ^ 2]))
        yield "row: a tf of 0", resized(shown, shown.number - 1, 1, b"\0")
        yield "row: an offset beyond the segment", resized(shown, 5, 2, b"\xff\xff")
    elif shown.kind == ARRAY:
        first = found[*shown.path, 0]
        yield "neighbours: the first one later than the term", replaced(first, write(b"\xf4\x8f\xbf\xbf"))
        yield "neighbours: the first one without a name", replaced(first, b"\x40")
        yield "neighbours: the first one's name too long", replaced(first, write(b"\1" + b"a" * 65))
        if shown.number == 4:
            second = found[*shown.path, 2]
            yield "neighbours: the second one before the term", replaced(second, write(b"\2"))
            start = second.start
            yield (
                "neighbours: only the first of two",
                [
                    headed(shown, 2),
                    (start, shown.end - start, b""),
                ],
            )


ALL: Final[tuple[Callable[[bytes, Spans, Random], Mutations], ...]] = (
    flipped,
    lengths,
    encodings,
    envelope,
    parts,
    opening,
    trees,
    hashes,
    witnesses,
    values,
    rows,
)
"""All mutators, in the order of the file."""
