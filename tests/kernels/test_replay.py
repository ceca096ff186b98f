"""The compiled reader of events returns the entries of its twin, and leaves every error to it."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import EngineError
from engine.ledger.journal import _CLASSES, open_payload
from engine.ledger.layout import decode_header
from proofs import limits
from proofs.codec import BODIES, DETAILS
from proofs.events import Entry, EventKind
from proofs.forms import Check
from proofs.hashing import FORMAT, NAMESPACES, commitment
from proofs.log import leaf_hash
from tests.kernels.native import native

SALT = bytes(32)
KINDS = sorted(EventKind)
NATIVE_KINDS = [kind for kind in KINDS if kind in range(1, 10) and kind != EventKind.EDGE_TYPE_REGISTERED]

NUMBERS = [
    bound + step
    for bound in (0, 24, 100, 256, 1 << 16, 1 << 32, limits.SEQ_MAX, limits.INTEGER_MAX, limits.CREATED_MAX)
    for step in (-1, 0, 1)
] + [limits.CREATED_MIN, limits.CREATED_MIN - 1, -24, -25]
TEXTS = ["", "a", "\x00", "e\u0301", "\U0001f600"] + [
    "x" * (size - len(end.encode())) + end
    for size in (31, 32, 33, 128, 129, 256, 257, 512, 513, 1024, 1025)
    for end in ("", "é")
]
RAWS = [bytes(size) for size in (0, 3, 4, 5, 15, 16, 17, 32, 4096, 4097)]
CODES = [b"\x00", b"\x01", b"\x7f", b"\x80", b"\x80\x00", b"\x80" * 7, b"\x80" * 8, b"\x7f" * 8, b"\x80" * 9]
LISTS = [
    [],
    ["a", "é"],
    ["x" * 32],
    ["x" * 33],
    ["x" * 256],
    ["x" * 257],
    *(["t"] * n for n in (16, 17, 256, 257)),
]
ROOTS = [[name, bytes(32)] for name in NAMESPACES]
VALUES: list[Any] = [None, ROOTS, [bytes(32)], *NUMBERS, *TEXTS, *RAWS, *CODES, *LISTS]
ANYTHING = st.sampled_from([*VALUES, True, 1.5, {}])


@cache
def fitting(check: Check) -> st.SearchStrategy[Any]:
    """Return values that a check of a field accepts."""
    return st.sampled_from(list(filter(check, VALUES)))


def arrays(checks: Any) -> st.SearchStrategy[list[Any]]:
    """Return arrays that checks accept, or in which one item is replaced by anything."""
    right = st.tuples(*map(fitting, checks)).map(list)
    wrong = st.builds(
        lambda items, at, item: [*items[: at % len(items)], item, *items[at % len(items) + 1 :]],
        right,
        st.integers(0, 20),
        ANYTHING,
    )
    return right | right | wrong


ORIGIN = [bytes(16), 3, 1, bytes(32), 5]
FURTHER = st.none() | st.dictionaries(
    st.integers(0, 6),
    st.sampled_from(["", "x" * 128, "x" * 129, "x" * 256, "x" * 257, "é", ["a"], {"k": 1}]),
    max_size=3,
)


@st.composite
def events(draw: st.DrawFn, seq: int) -> tuple[bytes, bytes]:
    """Return the header and the payload of an event that may break a rule."""
    kind = draw(st.sampled_from(NATIVE_KINDS) | st.sampled_from(KINDS))
    body = draw(arrays(BODIES[kind][1]))
    further = draw(FURTHER)
    payload = SALT + cbor2.dumps(body if further is None else [*body, further], canonical=True)
    committed = draw(st.sampled_from([commitment(SALT, payload[32:])] * 9 + [bytes(32)]))
    number = draw(st.sampled_from([seq] * 9 + [seq + 1]))
    start = [
        draw(st.sampled_from([FORMAT] * 9 + [1])),
        number,
        draw(st.sampled_from(NUMBERS)),
        int(kind),
        draw(st.sampled_from(TEXTS)),
        committed,
    ]
    prev = draw(st.sampled_from([None, *NUMBERS]))
    last = draw(st.sampled_from([[], [], [], [], [ORIGIN]]))
    return cbor2.dumps([*start, prev, *draw(arrays(DETAILS[kind][1])), *last], canonical=True), payload


def by_twin(header: bytes, payload: bytes, seq: int) -> Entry | None:
    """Return the entry, or None if the event breaks a rule."""
    try:
        decoded = decode_header(header, seq)
        return Entry(decoded, open_payload(decoded, payload), leaf_hash(header))
    except EngineError:
        return None


def same(one: Entry | None, other: Entry | None) -> bool:
    """Return whether two entries have equal values of equal types."""
    return one == other and repr(one) == repr(other)


@given(events(7))
def test_events_are_decoded_as_by_the_twin(rows: tuple[bytes, bytes]) -> None:
    """What the twin refuses is declined; what is not declined equals what the twin returns."""
    (got,) = native().decode_entries([rows[0]], [rows[1]], 7, _CLASSES)
    assert got is None or same(got, by_twin(*rows, 7))
    assert native().doubtful_entries([rows[0]], [rows[1]], 7) == ([0] if got is None else [])


@given(st.sampled_from(NATIVE_KINDS), st.data())
def test_ordinary_events_are_not_declined(kind: EventKind, data: st.DataObject) -> None:
    """An event that keeps every rule is decoded, with or without `request`, `pipeline` and `folder`."""
    body = data.draw(st.tuples(*map(fitting, BODIES[kind][1])))
    more = [{4: "f"}, {1: "p", 4: "f"}] if kind in {EventKind.ATOM_ADDED, EventKind.ATOM_REVISED} else []
    further = data.draw(st.sampled_from([None, {0: "r"}, {1: "p"}, {0: "r", 1: "é"}, *more]))
    raw = cbor2.dumps([*body] if further is None else [*body, further], canonical=True)
    detail = data.draw(st.tuples(*map(fitting, DETAILS[kind][1])))
    head = [FORMAT, 3, 1, int(kind), "me", commitment(SALT, raw), None]
    rows = (cbor2.dumps([*head, *detail], canonical=True), SALT + raw)
    (got,) = native().decode_entries([rows[0]], [rows[1]], 3, _CLASSES)
    assert got is not None
    assert same(got, by_twin(*rows, 3))


@given(events(0), st.randoms(use_true_random=False), st.booleans())
def test_changed_bytes_are_never_accepted_wrongly(
    rows: tuple[bytes, bytes], source: Any, in_header: bool
) -> None:
    """After any change of bytes, with a commitment that fits, the result is that of the twin or None."""
    header, payload = map(bytearray, rows)
    changed = header if in_header else payload
    at = source.randrange(0 if in_header else 32, len(changed))
    changed[at:] = source.choice(
        [
            bytes([changed[at] ^ 1 << source.randrange(8)]) + changed[at + 1 :],
            changed[at + 1 :],
            changed[at : at + 1] + changed[at:],
            changed[at:] + b"\x00",
            b"\x18" + changed[at:],
        ]
    )
    old, new = commitment(SALT, rows[1][32:]), commitment(SALT, bytes(payload[32:]))
    rows = (bytes(header).replace(old, new), bytes(payload))
    (got,) = native().decode_entries([rows[0]], [rows[1]], 0, _CLASSES)
    assert got is None or same(got, by_twin(*rows, 0))


@given(st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_noise_is_declined(header: bytes, payload: bytes | None) -> None:
    """Bytes that are no event are left to the twin."""
    assert native().decode_entries([header], [payload], 0, _CLASSES) == [None]


def test_runs_on_several_threads_keep_their_order() -> None:
    """Thousands of events are returned in the order of their seqs."""
    raw = cbor2.dumps(["reason"])
    rows = [
        cbor2.dumps([FORMAT, seq, 1, 3, "me", commitment(SALT, raw), None, bytes(16), seq])
        for seq in range(3000)
    ]
    entries = native().decode_entries(rows, [SALT + raw] * 3000, 0, _CLASSES)
    assert [entry.header.seq for entry in entries] == list(range(3000))
    assert [entry.leaf for entry in entries] == [leaf_hash(row) for row in rows]


def test_seqs_that_do_not_fit_are_declined() -> None:
    """The seqs of a run that begins at the largest number do not fit into 64 bits, so no event has them."""
    start = (1 << 64) - 1
    assert native().decode_entries([b"", b""], [None, None], start, _CLASSES) == [None, None]
    assert native().doubtful_entries([b"", b""], [None, None], start) == [0, 1]


def test_lists_of_different_lengths_are_an_error() -> None:
    """A programming error is not mistaken for damaged data."""
    with pytest.raises(TypeError):
        native().decode_entries([b""], [], 0, _CLASSES)


@pytest.mark.parametrize("kind", NATIVE_KINDS)
def test_the_bounds_of_every_field_are_those_of_the_twin(kind: EventKind) -> None:
    """An event with one unusual field is accepted if and only if the twin accepts it."""
    detail_checks, body_checks = DETAILS[kind][1], BODIES[kind][1]
    ordinary = [next(filter(check, VALUES)) for check in (*detail_checks, *body_checks)]
    wrong = []
    for at, value in product(range(len(ordinary)), VALUES):
        fields = [*ordinary[:at], value, *ordinary[at + 1 :]]
        raw = cbor2.dumps(fields[len(detail_checks) :], canonical=True)
        head = [FORMAT, 3, 1, int(kind), "me", commitment(SALT, raw), None, *fields[: len(detail_checks)]]
        rows = (cbor2.dumps(head, canonical=True), SALT + raw)
        (got,) = native().decode_entries([rows[0]], [rows[1]], 3, _CLASSES)
        expected = by_twin(*rows, 3)
        if (got is None) is not (expected is None) or not same(got, expected):
            wrong.append((at, value))
    assert wrong == []
