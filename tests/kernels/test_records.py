"""The compiled decoder of records gives the values of its twin."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base import limits
from engine.base.errors import CorruptionError
from engine.ledger.records import _STATES, LABELS, AtomRecord, decode_atom_twin, encode_atom
from proofs.codec import pack
from proofs.leaves import State
from tests.kernels.native import native

ATOM = bytes(range(16))
lines = st.text(max_size=100) | st.sampled_from(("", "x" * limits.TITLE_BYTES_MAX, "note"))
labels = st.sampled_from((*LABELS, "fact", "a" * limits.LABEL_CHARS_MAX))
numbers = st.integers(0, limits.INTEGER_MAX) | st.sampled_from((0, 23, 24, 255, 256, 65535, 65536, 1 << 32))
seqs = st.lists(st.integers(0, limits.SEQ_MAX) | st.integers(0, 300), min_size=3, max_size=3).map(sorted)
hidden = st.just((None, "", "")) | st.tuples(st.none() | numbers, lines, labels)


@st.composite
def records(draw: st.DrawFn) -> AtomRecord:
    """Draw a record that the fold could make."""
    created_seq, payload_seq, last_seq = draw(seqs)
    return AtomRecord(
        ATOM,
        draw(st.integers(0, limits.ORDINAL_MAX)),
        draw(st.sampled_from(State)),
        draw(numbers),
        created_seq,
        payload_seq,
        last_seq,
        draw(st.none() | lines),
        draw(labels),
        draw(
            st.lists(lines.filter(lambda tag: len(tag.encode()) <= limits.TAG_BYTES_MAX), max_size=20).map(
                tuple
            )
        ),
        draw(st.lists(labels, max_size=5).map(tuple)),
        draw(st.none() | lines),
        draw(st.none() | numbers),
        draw(st.none() | lines),
        draw(labels),
        draw(st.none() | st.integers(0, limits.TRUST_MAX)),
        draw(st.integers(limits.CREATED_MIN, limits.INTEGER_MAX)),
        draw(numbers),
        *draw(hidden),
    )


def found(raw: bytes) -> AtomRecord | None:
    """Return what the kernel decodes, or None if it declines."""
    (values,) = native().decode_atoms([raw], [ATOM], _STATES)
    return None if values is None else AtomRecord._make(values)


@given(records())
def test_records(record: AtomRecord) -> None:
    """The twin decodes every record, and the kernel every record of an atom that was never hidden."""
    raw = encode_atom(record)
    assert decode_atom_twin(raw, ATOM) == record
    plain = record[18:] == (None, "", "") and record.updated - record.created <= limits.INTEGER_MAX
    assert found(raw) == (record if plain else None)
    if plain:
        assert type(found(raw).state) is State  # type: ignore[union-attr]


@given(records(), st.data())
def test_damaged_rows(record: AtomRecord, data: st.DataObject) -> None:
    """The kernel declines every row that the twin refuses, and agrees with the twin about all others."""
    raw = bytearray(encode_atom(record))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    _compare(bytes(raw))


junk = (
    st.none() | st.booleans() | st.integers(-(1 << 63), 1 << 64) | lines | st.lists(lines | st.integers(0, 9))
)


@given(records(), st.lists(st.tuples(st.integers(0, 20), junk), min_size=1, max_size=3))
def test_rows_with_wrong_fields(record: AtomRecord, changes: list[tuple[int, object]]) -> None:
    """Rows in canonical form with fields of wrong types, bounds or number are treated alike."""
    row = cbor2.loads(encode_atom(record))
    for at, value in changes:
        row[at : at + 1] = [value]
    _compare(pack(row))


def _compare(raw: bytes) -> None:
    try:
        expected = decode_atom_twin(raw, ATOM)
    except CorruptionError:
        assert found(raw) is None
    else:
        assert found(raw) in (None, expected)


@pytest.mark.parametrize("atom", [b"", bytes(15), bytes(17)])
def test_an_id_of_wrong_width_is_declined(atom: bytes) -> None:
    """The kernel declines an id that does not have 16 bytes."""
    row = pack([1, 0, 1, 1, 0, 0, 1, 0, 1, [], [2], 3])
    other, right = native().decode_atoms([row, row], [atom, ATOM], _STATES)
    assert other is None
    assert right is not None


ROW = [1, 0, 1, 300, 0, 0, 1, 0, 1, ["tag"], [2], 3, "source", 0, "title", "key", 1]
BEYOND = (
    *(
        (0, 1 << 32),
        (1, 3),
        (2, 1 << 63),
        (3, (1 << 53) + 1),
        (4, 301),
        (5, 1 << 53),
        (6, -(1 << 57)),
        (7, -2),
    ),
    *(
        (8, 7),
        (8, "note"),
        (8, "x" * 33),
        (9, ["x" * 257]),
        (9, ["x"] * 257),
        (10, [2] * 17),
        (10, ["inbox"]),
    ),
    *(
        (11, "internal"),
        (12, "x" * 513),
        (13, 1 << 63),
        (14, "x" * 513),
        (15, "x" * 513),
        (16, 101),
        (16, None),
    ),
)


@pytest.mark.parametrize(("at", "value"), BEYOND)
def test_each_bound_is_checked(at: int, value: object) -> None:
    """A field just beyond its bound, or not in its only form, is refused by the twin and by the kernel."""
    assert found(pack(ROW)) == decode_atom_twin(pack(ROW), ATOM)
    raw = pack([*ROW[:at], value, *ROW[at + 1 :]])
    with pytest.raises(CorruptionError):
        decode_atom_twin(raw, ATOM)
    assert found(raw) is None


def test_numbers_must_be_in_their_shortest_form() -> None:
    """The kernel refuses each number that is written with more bytes than it needs."""
    row = pack(ROW)
    assert row[1:2] == bytes([1])
    for longer in (b"\x18\x01", b"\x19\x00\xff", b"\x1a\x00\x00\xff\xff", b"\x1b" + bytes(4) + b"\xff" * 4):
        assert found(row[:1] + longer + row[2:]) is None
