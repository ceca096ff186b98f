"""Decoding accepts exactly what a plain implementation of the field tables accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base import limits
from engine.base.errors import CorruptionError
from engine.ledger.layout import decode_body, decode_header, fields
from engine.ledger.records import _ATOM_FIELDS, _EDGE_FIELDS, decode_atom
from proofs import forms
from proofs.codec import encode_header, pack
from proofs.events import AtomDetail, CheckpointBody, EventKind, Header, TagsBody
from proofs.forms import Check, edge_code, many, optional, raw_up_to, signed, sized, text, uint
from proofs.hashing import FORMAT, NAMESPACES

pytestmark = pytest.mark.slow

Plain = Callable[[Any], bool]


class Both(NamedTuple):
    """A check, a plain implementation of it, and the bounds near which it is tested."""

    check: Check
    plain: Plain
    bounds: tuple[int, ...]


def plain_code(value: Any) -> bool:
    """Return True if a value is a type code, by the plain rule."""
    if type(value) is not bytes:
        return False
    return (len(value) == 1 and 0 < value[0] < 0x80) or (len(value) == 8 and value[0] >= 0x80)


def plain_roots(value: Any) -> bool:
    """Return True if a value is the roots of namespaces, by the plain rule."""
    if type(value) is not list or not all(type(pair) is list and len(pair) == 2 for pair in value):
        return False
    names = [name for name, _ in value if type(name) is str and 0 < len(name.encode()) <= 32]
    roots = [root for _, root in value if type(root) is bytes and len(root) == 32]
    by_bytes = sorted(set(names), key=str.encode)
    return len(names) == len(roots) == len(value) <= 64 and names == by_bytes and {*NAMESPACES} <= {*names}


def _uint(most: int) -> Both:
    return Both(uint(most), lambda value: type(value) is int and 0 <= value <= most, (most,))


def _within(least: int, most: int) -> Both:
    return Both(
        signed(least, most), lambda value: type(value) is int and least <= value <= most, (least, most)
    )


def _sized(size: int) -> Both:
    return Both(sized(size), lambda value: type(value) is bytes and len(value) == size, (size,))


def _raw(most: int) -> Both:
    return Both(raw_up_to(most), lambda value: type(value) is bytes and len(value) <= most, (most,))


def _text(most: int) -> Both:
    return Both(text(most), lambda value: type(value) is str and len(value.encode()) <= most, (most,))


def _optional(one: Both) -> Both:
    return Both(optional(one.check), lambda value: value is None or one.plain(value), one.bounds)


def _many(one: Both, most: int) -> Both:
    def plain(value: Any) -> bool:
        return type(value) is list and len(value) <= most and all(map(one.plain, value))

    return Both(many(one.check, most), plain, (*one.bounds, most))


_SIZES = st.integers(0, 40)
_SINGLE = st.one_of(
    st.builds(_uint, st.sampled_from([0, 1, 100, 255, limits.ORDINAL_MAX, limits.INTEGER_MAX])),
    st.builds(_sized, _SIZES),
    st.builds(_raw, _SIZES),
    st.builds(_text, _SIZES),
    st.just(Both(edge_code, plain_code, (1, 8))),
)
_ANY_CHECK = st.one_of(
    _SINGLE,
    st.builds(_optional, _SINGLE),
    st.builds(_many, _SINGLE, st.integers(0, 4)).flatmap(lambda one: st.sampled_from([one, _optional(one)])),
)


class _Number(int):
    """A subclass of int."""


class _Word(str):
    """A subclass of str."""

    __slots__ = ()


def near(bounds: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Values at and around bounds, of all types that CBOR decodes to and of some others."""
    around = st.sampled_from([n + by for n in bounds for by in (-1, 0, 1)])
    short = around.map(lambda n: max(0, min(n, 5000)))
    single = st.one_of(
        around,
        st.none(),
        st.booleans(),
        st.sampled_from([-1, 0, 1, 2**64, 0.0, 1.5, _Number(1), _Word("a"), {}, (), b"\x80\x00", b"\x7f"]),
        st.binary(max_size=3),
        short.map(bytes),
        st.builds(lambda n, letter: letter * (n // len(letter.encode())), short, st.sampled_from("aé語😀")),
        st.builds(lambda n: "é" * (n // 2) + "a" * (n % 2), short),
        st.sampled_from([b"\x80" * 7, b"\x80" * 8, b"\x7f" * 8, b"\x80" * 9, *ROOTS_AND_OTHERS]),
    )
    return st.one_of(single, st.lists(single, max_size=5), st.lists(st.just("a"), max_size=5))


@settings(max_examples=400)
@given(st.data(), st.lists(_ANY_CHECK, max_size=6))
def test_fields_accepts_exactly_what_its_checks_accept(data: st.DataObject, both: list[Both]) -> None:
    """Checking all fields at once equals checking one by one; the first wrong field is named."""
    value = [data.draw(near(one.bounds)) for one in both]
    wrong = [at for at, (one, item) in enumerate(zip(both, value, strict=True)) if not one.plain(item)]
    checks = tuple(one.check for one in both)
    assert [check(item) for check, item in zip(checks, value, strict=True)] == [
        one.plain(item) for one, item in zip(both, value, strict=True)
    ]
    if wrong:
        with pytest.raises(CorruptionError, match=f"^here: field {wrong[0]} is malformed$"):
            fields(value, checks, "here")
    else:
        assert fields(value, checks, "here") is value


@given(st.lists(st.integers(0, 3), max_size=4), st.integers(0, 4))
def test_fields_needs_one_item_for_each_check(value: list[int], count: int) -> None:
    """An array of another length, or a value that is not an array, is rejected."""
    checks = (uint(),) * count
    if len(value) == count:
        assert fields(value, checks, "here") is value
    else:
        with pytest.raises(CorruptionError, match=f"^here: not an array of {count} fields$"):
            fields(value, checks, "here")
    others: tuple[Any, ...] = (tuple(value), bytes(value), None, {})
    for other in others:
        with pytest.raises(CorruptionError, match="not an array"):
            fields(other, checks, "here")


_ID, _SEQ, _ORDINAL = _sized(16), _uint(limits.SEQ_MAX), _uint(limits.ORDINAL_MAX)
_LABEL, _NUMBER = _text(limits.LABEL_CHARS_MAX), _uint(limits.INTEGER_MAX)
_CODE = Both(edge_code, plain_code, (1, 8))
ROOTS = [[name, bytes(32)] for name in NAMESPACES]
MANY_ROOTS = [[f"{number:03}", bytes(32)] for number in range(60)]
ROOTS_AND_OTHERS = [
    ROOTS,
    [*ROOTS, ["zones", bytes(32)]],
    [*MANY_ROOTS, *ROOTS],
    [*MANY_ROOTS, *ROOTS, ["zones", bytes(32)]],
    ROOTS[:3],
    ROOTS[::-1],
    [ROOTS[0], *ROOTS],
    [*ROOTS[:3], ["tags", bytes(31)]],
    [*ROOTS[:3], [b"tags", bytes(32)]],
    [*ROOTS, ["z" * 32, bytes(32)]],
    [*ROOTS, ["z" * 33, bytes(32)]],
    [["", bytes(32)], *ROOTS],
    [*ROOTS, ["zones", bytes(32), 1]],
]
"""Roots of namespaces, in order and complete or not."""
_TAGS = _many(_text(limits.TAG_BYTES_MAX), limits.TAGS_PER_ATOM_MAX)
_BUCKETS = _many(_LABEL, limits.BUCKETS_PER_ATOM_MAX)
_TITLE, _SOURCE = _optional(_text(limits.TITLE_BYTES_MAX)), _optional(_text(limits.SOURCE_BYTES_MAX))
_KEY, _TRUST = _optional(_text(limits.KEY_BYTES_MAX)), _optional(_uint(limits.TRUST_MAX))
_HIDDEN = (_optional(_NUMBER), _text(limits.REASON_BYTES_MAX), _LABEL)
_SINCE = Both(
    signed(limits.CREATED_MIN, limits.INTEGER_MAX),
    lambda value: type(value) is int and limits.CREATED_MIN <= value <= limits.INTEGER_MAX,
    (limits.CREATED_MIN, limits.INTEGER_MAX),
)
PLAIN_RECORD = (
    *(_ID, _ORDINAL, _uint(2), _NUMBER, _SEQ, _SEQ, _SEQ, _TITLE, _LABEL, _TAGS, _BUCKETS, _SOURCE),
    *(_optional(_NUMBER), _KEY, _LABEL, _TRUST, _SINCE, _NUMBER, *_HIDDEN),
)
PLAIN_EDGE = (
    *(_ID, _CODE, _ID, _uint(2), _SEQ, _SEQ, _SEQ, _sized(4), _raw(limits.EDGE_DATA_BYTES_MAX)),
    *(_NUMBER, _LABEL, *_HIDDEN),
)
TABLES: dict[str, tuple[tuple[Check, ...], tuple[Both, ...]]] = {
    "atom record": (_ATOM_FIELDS, PLAIN_RECORD),
    "edge record": (_EDGE_FIELDS, PLAIN_EDGE),
}
"""Records of the engine. The tables of headers and bodies are compared with SPEC in tests/reference."""


def good(one: Both) -> st.SearchStrategy[Any]:
    """Values that satisfy a check, generated quickly."""
    tried: list[Any] = [None, 0, 1, "", "a", [], ["a"], b"", *(bytes(n) for n in one.bounds if 0 <= n < 5000)]
    tried += [b"\x01", *(n for n in one.bounds), *("a" * n for n in one.bounds if 0 <= n < 5000)]
    tried += [[bytes(n)] * count for n in one.bounds if 0 <= n < 5000 for count in (1, 4)]
    tried += [b"\x80" * 8, *ROOTS_AND_OTHERS]
    return st.sampled_from([value for value in tried if one.plain(value)])


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_each_table_accepts_what_the_plain_table_accepts(name: str, data: st.DataObject) -> None:
    """A row with at most two unusual fields is accepted if the plain table accepts it."""
    checks, plain = TABLES[name]
    value = [data.draw(good(one)) for one in plain]
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(plain) - 1))
        value[at] = data.draw(near(plain[at].bounds))
    fits = all(one.plain(item) for one, item in zip(plain, value, strict=True))
    try:
        accepted = fields(value, checks, name) is value
    except CorruptionError:
        accepted = False
    assert accepted == fits


def _header(kind: int = 4, **other: Any) -> list[Any]:
    values = {"format": FORMAT, "seq": 7, "time": 0, "kind": kind, "actor": "a", "commitment": bytes(32)}
    return [*(values | other).values(), None, bytes(16), 5]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (_header(format=2), "its format is 2, and this version reads format 3"),
        (_header(format=4), "its format is 4, and this version reads format 3"),
        (_header(format=True), "field 0 is malformed"),
        (_header(seq=8), "the seq in the header is 8"),
        (_header(seq=7.0), "field 1 is malformed"),
        (_header(kind=12), r"this version does not support event kind 12 \(analyzer_changed\)"),
        (_header(kind=15), "an event of this kind has no origin"),
        (_header(kind=31), r"this version does not support event kind 31 \(unknown\)"),
        (_header(kind=64), r"this version does not support event kind 64 \(unknown\)"),
        (_header(kind=200), r"this version does not support event kind 200 \(unknown\)"),
        (_header(kind=True), "field 3 is malformed"),
        (_header(kind=None), "field 3 is malformed"),  # type: ignore[arg-type]
        (_header(kind=10), "not an array of 8 fields"),
        (_header(format=1, actor=5), "field 4 is malformed"),
        (_header()[:7], "not an array with the length of a header"),
        (7, "not an array with the length of a header"),
        ({}, "not an array with the length of a header"),
    ],
)
def test_a_wrong_header_is_refused_by_name(header: Any, message: str) -> None:
    """A header of another format, seq or kind is rejected with the reason."""
    with pytest.raises(CorruptionError, match=f"^journal header 7: {message}"):
        decode_header(pack(header), 7)


def test_a_header_is_decoded_field_by_field() -> None:
    """Each field of a header is decoded to the right attribute."""
    header = decode_header(pack(_header(time=3)), 7)
    detail = AtomDetail(bytes(16), 5)
    assert header == Header(7, 3, EventKind.ATOM_REVIVED, "a", bytes(32), None, detail)
    assert (type(header), type(header.kind), type(header.detail)) == (Header, EventKind, AtomDetail)


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        (0, [bytes(16), "a", bytes(32), bytes(32), 1]),
        (7, [b"\x80" * 8]),
        (10, [bytes(32)]),
        (14, [bytes(16), 1, bytes(32), None]),
        (32, [None]),
        (63, [None]),
    ],
)
def test_an_event_without_a_subject_has_no_previous_event(kind: int, detail: list[Any]) -> None:
    """A header with a `prev` is no header if its event has no subject; the same header without it is one."""
    common = _header(kind)[:6]
    assert encode_header(decode_header(raw := pack([*common, None, *detail]), 7)) == raw
    with pytest.raises(CorruptionError, match="an event without a subject names a previous event"):
        decode_header(pack([*common, 3, *detail]), 7)


@pytest.mark.parametrize("kind", [1, 3, 4, 5, 6, 11])
def test_only_a_revision_names_the_ordinal_that_it_replaces(kind: int) -> None:
    """The field `replaced` exists in the header of a revision, and in no other."""
    assert decode_header(pack(_header(kind)), 7).detail == AtomDetail(bytes(16), 5)
    for replaced in (None, 4):
        with pytest.raises(CorruptionError, match="not an array of 9 fields"):
            decode_header(pack([*_header(kind), replaced]), 7)
    assert decode_header(pack([*_header(2), 4]), 7).detail == AtomDetail(bytes(16), 5, 4)
    with pytest.raises(CorruptionError, match="not an array of 10 fields"):
        decode_header(pack(_header(2)), 7)


@pytest.mark.parametrize("code", [b"\x01", b"\x80\x00", b"\x7f" * 8, b"\x80" * 7, b"\x80" * 9])
def test_a_registered_code_has_eight_bytes(code: bytes) -> None:
    """The code in the header of a registration has 8 bytes, of which the first is 0x80 or more."""
    common = [*_header(7)[:6], None]
    assert decode_header(pack([*common, b"\x80" * 8]), 7).detail == (b"\x80" * 8,)
    with pytest.raises(CorruptionError, match="field 7 is malformed"):
        decode_header(pack([*common, code]), 7)


def test_arrays_come_out_as_tuples() -> None:
    """Tags and buckets of bodies and records are tuples of any length."""
    body = decode_body(EventKind.TAGS_ADDED, pack([["a", "b"]]), "here")
    row = [*[0] * 9, [], ["x"], 0]
    decoded = decode_atom(pack(row), bytes(16))
    assert body == TagsBody(("a", "b"))
    roots = decode_body(EventKind.CHECKPOINT, pack([ROOTS]), "here")
    assert roots == CheckpointBody(tuple((name, bytes(32)) for name in NAMESPACES))
    assert (decoded.tags, decoded.buckets) == ((), ("x",))


@pytest.mark.parametrize("most", [0, 1, 4])
@pytest.mark.parametrize("item", ["a", bytes(16)])
def test_an_array_with_too_many_items_is_refused(most: int, item: Any) -> None:
    """An array with too many items is rejected even if all items are valid."""
    checks = (many(text(8) if item == "a" else sized(16), most),)
    assert fields([[item] * most], checks, "here") == [[item] * most]
    with pytest.raises(CorruptionError, match="field 0 is malformed"):
        fields([[item] * (most + 1)], checks, "here")


def test_checks_with_different_bounds_are_distinguished() -> None:
    """Checks that differ only in their bounds are distinguished, however often they are used."""
    for most in range(300):
        assert fields([most], (uint(most),), "here") == [most]
        with pytest.raises(CorruptionError):
            fields([most + 1], (uint(most),), "here")
    assert forms._compiled.cache_info().currsize <= 128
