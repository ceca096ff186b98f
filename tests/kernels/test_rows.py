"""The compiled decoders of rows accept what their twins accept, and leave everything else to them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import CorruptionError
from engine.ledger.journal import open_payload, subject_key
from engine.ledger.layout import decode_header
from proofs.codec import encode_body, encode_header
from proofs.events import AtomBody, AtomDetail, EventKind, Header, ReasonBody
from proofs.hashing import commitment
from tests.kernels.native import native

FIRST_FIELDS = 12
"""The number of fields of the body of an atom that are not further fields."""
NO_FURTHER = (None,) * (len(AtomBody._fields) - FIRST_FIELDS)
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


@given(BODIES, st.sampled_from(EventKind), st.integers(0, 3), st.data())
def test_open_bodies(body: AtomBody, kind: EventKind, seq: int, data: st.DataObject) -> None:
    """The body of an atom is opened only if the twin opens it: form, seq, atom and commitment are right."""
    salt, raw_body = bytes(range(32)), spoilt(encode_body(body), data)
    made = commitment(salt, raw_body)
    raw = encode_header(Header(2, 5, kind, "me", made, None, AtomDetail(b"i" * 16, 7, None)))
    header, payload = spoilt(raw, data), spoilt(salt + raw_body, data)
    (found,) = native().open_bodies([seq], [b"i" * 16], [header], [payload])
    try:
        decoded = decode_header(header, seq)
        opened = open_payload(decoded, payload)
        if subject_key(decoded.detail) != b"i" * 16:
            opened = ReasonBody("")
    except CorruptionError:
        opened = ReasonBody("")
    if found is None:
        # Bodies of other kinds, and bodies with further fields, are always left to the twin.
        assert not isinstance(opened, AtomBody) or opened[FIRST_FIELDS:] != NO_FURTHER
    else:
        assert AtomBody._make(found) == opened


def test_missing_rows_are_not_opened() -> None:
    """If the header or the payload is missing, or the header is malformed, the twin is asked."""
    assert native().open_bodies([1, 2], [b""] * 2, [None, b""], [b"", None]) == [None, None]
    assert native().open_bodies([1], [b""], [b"\x80"], [b"x" * 40]) == [None]


KINDS = st.sampled_from([EventKind.ATOM_ADDED, EventKind.ATOM_REVISED])
PLAIN_BODY = AtomBody("The sea.", "Sea", "note", ("a", "b"), (), "s.md", 3, "internal", 50, -7, 0, None)


def event(raw_body: bytes, kind: EventKind = EventKind.ATOM_ADDED) -> tuple[bytes, bytes]:
    """The header of event 2 on the atom `i…`, and its payload."""
    salt = bytes(range(32))
    detail = AtomDetail(b"i" * 16, 7, None)
    header = Header(2, 5, kind, "me", commitment(salt, raw_body), None, detail)
    return encode_header(header), salt + raw_body


@given(BODIES.map(lambda body: AtomBody._make((*body[:FIRST_FIELDS], *NO_FURTHER))), KINDS)
def test_sound_bodies_are_opened(body: AtomBody, kind: EventKind) -> None:
    """The body of an event that adds or revises an atom is opened if the twin opens it."""
    header, payload = event(encode_body(body), kind)
    (found,) = native().open_bodies([2], [b"i" * 16], [header], [payload])
    try:
        opened = open_payload(decode_header(header, 2), payload)
    except CorruptionError:
        assert found is None
    else:
        assert AtomBody._make(found) == opened == body


def test_a_body_with_one_fault_is_left_to_the_twin() -> None:
    """A wrong seq, atom, kind or commitment, a longer form of a number and a trailing byte are noticed."""
    raw = encode_body(PLAIN_BODY)
    header, payload = event(raw)
    number = raw.index(b"s.md\x03") + 4
    long_form = raw[:number] + b"\x18\x03" + raw[number + 1 :]
    faulty = [
        (3, b"i" * 16, header, payload),
        (2, b"j" * 16, header, payload),
        (2, b"i" * 16, *event(raw, EventKind.ATOM_TOMBSTONED)),
        (2, b"i" * 16, header, payload[:-1] + b"\x01"),
        (2, b"i" * 16, header + b"\x00", payload),
        (2, b"i" * 16, *event(long_form)),
        (2, b"i" * 16, *event(raw + b"\x00")),
        (2, b"i" * 16, *event(raw[:-1])),
        (2, b"i" * 16, header, payload[:31]),
    ]
    columns = [list(column) for column in zip(*faulty, strict=True)]
    assert native().open_bodies(*columns) == [None] * len(faulty)
    (found,) = native().open_bodies([2], [b"i" * 16], [header], [payload])
    assert AtomBody._make(found) == PLAIN_BODY
