"""Invalid proofs whose reason of refusal depends on the order of the checks in SPEC 20.5 and 20.8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.reference import claims as c
from tests.reference.cbor import BYTES, NULL, UINT, head, write
from tests.vectors.items import Edit, Path, Span, added, headed, replaced, spans
from tests.vectors.valid import Valid, valid

ROWS, LIVES, TERM_ATOMS = 1, 2, 3
"""Positions of the fields in the witness of a claim about a term. Position 0 is the claim number."""
ATOMS_OF_TAG = 2


class Ambiguous(NamedTuple):
    """A changed proof that more than one check could refuse."""

    of: int
    """The number of the valid proof that was changed."""
    change: str
    edits: list[Edit]


def ambiguous() -> Iterator[Ambiguous]:
    """Yield changes of one proof of `no-term`, one of `term` and one of `tagged`."""
    number, one = first(c.NO_TERM, (8, 0, ROWS, 0, 1, 3))
    yield from (Ambiguous(number, *change) for change in neighbours(one))
    number, one = first(c.TERM, (8, 0, TERM_ATOMS, 0, 1))
    yield from (Ambiguous(number, *change) for change in lives(one))
    number, one = first(c.TAGGED, (8, 0, ATOMS_OF_TAG, 0, 1))
    yield from (Ambiguous(number, *change) for change in listed(one))


def first(claim: int, path: Path) -> tuple[int, Valid]:
    """Return the first valid proof that shows only this claim and has an item at `path`, and its number."""
    return next(
        (number, one)
        for number, one in enumerate(valid())
        if [made for made, *_ in one.claims] == [claim] and path in spans(one.data)
    )


def neighbours(one: Valid) -> Iterator[tuple[str, list[Edit]]]:
    """Yield changes of the first segment's entry in `rows`. Unchanged, the entry shows two neighbours."""
    found = spans(one.data)
    entry = (8, 0, ROWS, 0)
    position, shown = found[*entry, 0], found[*entry, 1]
    rows = found[4, 1, 0, 2].number
    second = found[*shown.path, 2].start
    single = [headed(shown, 2), (second, shown.end - second, b"")]
    beyond = replaced(position, head(UINT, rows))
    yield "neighbours: one row, at a position beyond the last", [*beyond, *single]
    yield "neighbours: two rows, the second one beyond the last", replaced(position, head(UINT, rows - 1))
    third = found[*shown.path, 3].start
    yield "neighbours: three fields", [headed(shown, 3), (third, shown.end - third, b"")]
    yield "neighbours: no fields", replaced(shown, b"\x80")
    yield "neighbours: null in place of the row", replaced(shown, bytes([NULL]))
    yield "neighbours: a number in place of the row", replaced(shown, b"\0")
    largest = replaced(position, head(UINT, (1 << 63) - 1))
    yield "neighbours: the largest position", largest
    yield "neighbours: a position over its bound", replaced(position, head(UINT, 1 << 63))
    without_hashes = replaced(found[*entry, 2], b"\x40")
    yield "neighbours: one row that is not the last, without hashes", [*single, *without_hashes]


def lives(one: Valid) -> Iterator[tuple[str, list[Edit]]]:
    """Yield changes of `rows` and `lives` that break two checks at once."""
    found = spans(one.data)
    row, chunks = found[8, 0, ROWS, 0, 1], found[8, 0, LIVES]
    flipped = [last_byte_flipped(one.data, row)]
    none = replaced(chunks, b"\x80")
    yield "a row with its last byte flipped, and no live chunks", [*flipped, *none]
    yield "a number in place of a live chunk", replaced(found[8, 0, LIVES, 0], b"\0")
    yield "an additional null in the live chunks", added(found, chunks.path, chunks.number, bytes([NULL]))
    yield "no live chunks, and no atoms", [*none, *replaced(found[8, 0, TERM_ATOMS], b"\x80")]


def listed(one: Valid) -> Iterator[tuple[str, list[Edit]]]:
    """Yield changes of the first entry of `atoms`."""
    found = spans(one.data)
    entry = (8, 0, ATOMS_OF_TAG, 0)
    atom, value = found[*entry, 0], found[*entry, 1]
    yield "list: an id of 17 bytes", replaced(atom, write(bytes(17)))
    yield "list: an id that is null", replaced(atom, bytes([NULL]))
    yield "list: an entry of three items", added(found, entry, 2, bytes([NULL]))
    yield "list: an entry that is a byte string", replaced(found[entry], b"\x40")
    yield "list: a value that ends too early", replaced(value, head(BYTES, 1) + b"\x87")
    yield "list: a value of no fields", replaced(value, head(BYTES, 1) + b"\x80")
    state = value.body + 1
    yield "list: a value of state tombstoned", [(state, 1, b"\1")]


def last_byte_flipped(data: bytes, span: Span) -> Edit:
    """Return the edit that flips the last bit of an item."""
    return span.end - 1, 1, bytes([data[span.end - 1] ^ 1])
