"""The compiled decoders of rows accept what their twins accept, and leave everything else to them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import CorruptionError
from engine.ledger.codec import decode_header, fields, packed, unpack
from engine.ledger.journal import open_payload
from engine.ledger.queries import _NO_FURTHER, _PACKED
from engine.ledger.records import _ATOM_FIELDS, AtomRecord
from proofs.codec import encode_body, encode_header, pack
from proofs.events import AtomBody, AtomDetail, EventKind, Header, ReasonBody
from proofs.hashing import commitment
from proofs.leaves import State
from tests.kernels.native import native

SHORT = st.text(max_size=30)
LABELS = st.text(max_size=8)
NUMBERS = st.one_of(st.integers(0, 30), st.sampled_from([255, 256, 65536, 1 << 32, (1 << 53)]))
MAYBE = st.none()
BODIES = st.builds(
    AtomBody,
    st.one_of(SHORT, st.just("x" * 300)),
    MAYBE | SHORT,
    LABELS,
    st.lists(LABELS, max_size=3).map(tuple),
    st.lists(LABELS, max_size=3).map(tuple),
    MAYBE | SHORT,
    MAYBE | NUMBERS,
    LABELS,
    MAYBE | st.integers(-1, 101),
    MAYBE | st.integers(-(10**12), 10**12),
    NUMBERS,
    MAYBE | SHORT,
    request=MAYBE | LABELS,
)
RECORDS = st.builds(
    AtomRecord,
    st.binary(min_size=16, max_size=16),
    st.integers(0, 1 << 33),
    st.sampled_from(list(State)),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    MAYBE | SHORT,
    LABELS,
    st.lists(LABELS, max_size=3).map(tuple),
    st.lists(LABELS, max_size=3).map(tuple),
    MAYBE | SHORT,
    MAYBE | NUMBERS,
    MAYBE | SHORT,
    LABELS,
    MAYBE | st.integers(0, 101),
    st.integers(-(10**12), 10**12),
    NUMBERS,
    MAYBE | NUMBERS,
    LABELS,
    LABELS,
)


def spoilt(raw: bytes, data: st.DataObject) -> bytes:
    """The bytes, sometimes with one byte changed, removed or added."""
    how = data.draw(st.sampled_from(["", "change", "remove", "add", "cut"]))
    at = data.draw(st.integers(0, max(len(raw) - 1, 0)))
    byte = bytes([data.draw(st.integers(0, 255))])
    if how == "change":
        return raw[:at] + byte + raw[at + 1 :]
    if how == "remove":
        return raw[:at] + raw[at + 1 :]
    if how == "add":
        return raw[:at] + byte + raw[at:]
    return raw[:at] if how == "cut" else raw


@given(RECORDS, st.data())
def test_decode_rows(record: AtomRecord, data: st.DataObject) -> None:
    """A record is decoded if the twins decode it, to the same fields."""
    raw = spoilt(pack(list(record)), data)
    (found,) = native().decode_rows([raw], packed(_ATOM_FIELDS))
    try:
        decoded = fields(unpack(raw, "row"), _ATOM_FIELDS, "row")
        expected: list[Any] | None = [tuple(one) if type(one) is list else one for one in decoded]
    except CorruptionError:
        expected = None
    assert found == expected


@given(st.lists(st.none() | st.binary(max_size=40), max_size=4))
def test_any_bytes_are_rows(rows: list[bytes | None]) -> None:
    """Missing rows and random bytes are left to the twin, as is a list of checks with a wrong length."""
    assert native().decode_rows(rows, packed(_ATOM_FIELDS)) == [None] * len(rows)
    assert native().decode_rows(rows, b"x") == [None] * len(rows)


@given(BODIES, st.sampled_from(EventKind), st.integers(0, 3), st.data())
def test_open_bodies(body: AtomBody, kind: EventKind, seq: int, data: st.DataObject) -> None:
    """The body of an atom is opened only if the twin opens it: form, seq and commitment are right."""
    salt, raw_body = bytes(range(32)), spoilt(encode_body(body), data)
    made = commitment(salt, raw_body)
    raw = encode_header(Header(2, 5, kind, "me", made, None, AtomDetail(b"i" * 16, 7, None)))
    header, payload = spoilt(raw, data), spoilt(salt + raw_body, data)
    (found,) = native().open_bodies([seq], [header], [payload], *_PACKED)
    try:
        opened = open_payload(decode_header(header, seq), payload)
    except CorruptionError:
        opened = ReasonBody("")
    if found is None:
        # Bodies of other kinds, and bodies with further fields, are always left to the twin.
        assert not isinstance(opened, AtomBody) or opened[-len(_NO_FURTHER) :] != _NO_FURTHER
    else:
        assert AtomBody._make((*found, *_NO_FURTHER)) == opened


def test_missing_rows_are_not_opened() -> None:
    """If the header or the payload is missing, or the checks are malformed, the twin is asked."""
    assert native().open_bodies([1, 2], [None, b""], [b"", None], *_PACKED) == [None, None]
    assert native().open_bodies([1], [b"\x80"], [b"x" * 40], b"", b"?") == [None]
