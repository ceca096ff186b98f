"""Each body with further fields has one form, and both verifiers refuse fields just out of bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base import limits, validation
from engine.base.errors import EngineError
from proofs.basis import LogHead
from proofs.claims import EventIs
from proofs.codec import decode_body, encode_body, encode_header, pack
from proofs.errors import ProofError
from proofs.events import AtomBody, AtomDetail, EventKind, Header, ReasonBody
from proofs.forms import FormError
from proofs.hashing import commitment
from proofs.log import leaf_hash
from proofs.proof_file import decode_strict
from proofs.verifier import verify
from tests.reference.both import listed
from tests.reference.cbor import read
from tests.reference.refused import Refused
from tests.reference.verifier import check

LINES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)
KEYS = st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
HALVES = st.floats(width=16, allow_nan=False, allow_infinity=False).filter(lambda one: not one.is_integer())
INTEGERS = st.integers(-limits.META_INTEGER_MAX, limits.META_INTEGER_MAX)
SCALARS = st.booleans() | INTEGERS | FLOATS | HALVES | st.text(st.characters(codec="utf-8"), max_size=20)
METAS = st.dictionaries(KEYS, SCALARS, min_size=1, max_size=6)
BODIES = st.builds(
    lambda created, request, origin, meta, aliases, folder: AtomBody(
        "a", None, "note", (), ("inbox",), None, None, "internal", None, created, 0, None, request, origin,
        None if meta is None else dict(sorted(meta.items(), key=lambda one: (len(one[0]), one[0]))),
        aliases, folder,
    ),
    st.none() | st.integers(limits.CREATED_MIN, limits.CREATED_MAX),
    *(st.none() | LINES,) * 2,
    st.none() | METAS,
    st.none() | st.lists(LINES, min_size=1, max_size=4).map(tuple),
    st.none() | LINES,
)  # fmt: skip


def verdicts(body: bytes, kind: EventKind = EventKind.ATOM_ADDED) -> tuple[str, str]:
    """Return the answers of both verifiers, `ok` or the reason, for an event with this body."""
    salt = bytes(32)
    detail = AtomDetail(b"\1" * 16, 0, None)
    header = encode_header(Header(0, 1, kind, "user", commitment(salt, body), None, detail))
    proof = pack(["memroot-proof", 2, *6 * [None], [[11, header, salt + body, b""]]])
    found = []
    try:
        verify(proof, LogHead(b"\3" * 16, 1, leaf_hash(header)), [EventIs(0)])
        found.append("ok")
    except ProofError as error:
        found.append(error.reason)
    try:
        check(proof, ("log", b"\3" * 16, 1, leaf_hash(header)), [(11, bytes(8), None, True)])
        found.append("ok")
    except Refused as error:
        found.append(str(error))
    return found[0], found[1]


def body_with(further: Any, created: Any = None) -> bytes:
    """Return the bytes of an atom's body that ends with this map of further fields."""
    plain = ["a", None, "note", [], ["inbox"], None, None, "internal", None, created, 0, None]
    return pack([*plain, further])


@settings(max_examples=200, deadline=None)
@given(BODIES)
def test_a_body_comes_back_as_it_was(body: AtomBody) -> None:
    """An encoded body decodes to the same value, and both verifiers accept its bytes."""
    raw = encode_body(body)
    again = decode_body(EventKind.ATOM_ADDED, raw, "it")
    assert (repr(again), encode_body(again)) == (repr(body), raw)
    assert decode_strict(raw, "it", body=True) == read(raw, True) == listed(body)
    assert verdicts(raw) == ("ok", "ok")


@settings(max_examples=150, deadline=None)
@given(METAS)
def test_validation_keeps_the_values_of_meta(given_meta: dict[str, Any]) -> None:
    """Validation returns meta with the given values in canonical order, and is idempotent."""
    try:
        kept = validation.meta(given_meta)
    except EngineError:
        return  # a text with a character that no text may have
    assert kept is not None
    assert {key: repr(value) for key, value in kept.items()} == {k: repr(v) for k, v in given_meta.items()}
    assert repr(validation.meta(kept)) == repr(kept)


def test_absent_fields_take_no_byte() -> None:
    """A body without further fields is the array of its fields alone."""
    assert encode_body(ReasonBody("why")) == pack(["why"])
    assert encode_body(ReasonBody("why", origin="x")) == pack(["why", {1: "x"}])


LARGEST = {f"k{number:02}": "x" * 507 for number in range(8)}
"""A meta of 4,096 bytes: a head and eight entries of 4 + 3 + 507 bytes. The last entry is shortened."""
LARGEST["k07"] = "x" * (507 - len(pack(LARGEST)) + limits.META_BYTES_MAX)
GOOD: dict[str, Any] = {
    "request": {0: "r" * 128},
    "origin": {1: "é" * 128},
    "meta of 32": {2: {f"{number:02}": number for number in range(32)}},
    "a key of 64": {2: {"k" * 64: ""}},
    "a text of 1,024": {2: {"k": "x" * 1024}},
    "the largest integers": {2: {"a": limits.META_INTEGER_MAX, "b": -limits.META_INTEGER_MAX}},
    "a meta of 4,096 bytes": {2: LARGEST},
    "32 aliases": {3: ["a"] * 32},
    "an alias of 512": {3: ["a" * 512]},
    "a folder": {4: "f" * 512},
}
BAD: dict[str, Any] = {
    "an empty map": {},
    "an unknown field": {5: "x"},
    "a field by name": {"request": "x"},
    "no map": ["request", "x"],
    "an empty request": {0: ""},
    "a request of 129": {0: "r" * 129},
    "an origin of 257": {1: "é" * 128 + "x"},
    "a request of bytes": {0: b"r"},
    "a null request": {0: None},
    "an empty meta": {2: {}},
    "meta of 33": {2: {f"{number:02}": number for number in range(33)}},
    "an empty key": {2: {"": 1}},
    "a key of 65": {2: {"k" * 65: 1}},
    "a key that is a number": {2: {1: 1}},
    "a text of 1,025": {2: {"k": "x" * 1025}},
    "an integer too large": {2: {"a": limits.META_INTEGER_MAX + 1}},
    "an integer too small": {2: {"a": -limits.META_INTEGER_MAX - 1}},
    "a float without a fraction": {2: {"a": 1.0}},
    "negative zero": {2: {"a": -0.0}},
    "a huge float": {2: {"a": 1e300}},
    "infinity": {2: {"a": float("inf")}},
    "no number": {2: {"a": float("nan")}},
    "null in meta": {2: {"a": None}},
    "a list in meta": {2: {"a": [1]}},
    "bytes in meta": {2: {"a": b"x"}},
    "a meta of 4,097 bytes": {2: LARGEST | {"k07": LARGEST["k07"] + "x"}},
    "no aliases": {3: []},
    "33 aliases": {3: ["a"] * 33},
    "an empty alias": {3: [""]},
    "an alias of 513": {3: ["a" * 513]},
    "an empty folder": {4: ""},
    "a folder of 513": {4: "f" * 513},
}


@pytest.mark.parametrize("name", GOOD)
def test_fields_at_their_bounds_are_accepted(name: str) -> None:
    """Both verifiers accept further fields at their bounds in the body of an event."""
    assert verdicts(body_with(GOOD[name])) == ("ok", "ok")


@pytest.mark.parametrize("name", BAD)
def test_fields_beyond_their_bounds_are_refused(name: str) -> None:
    """Both verifiers and the reader of stored bodies refuse further fields beyond their bounds."""
    body = body_with(BAD[name])
    assert verdicts(body) == ("payload", "payload")
    with pytest.raises(FormError):
        decode_body(EventKind.ATOM_ADDED, body, "it")


@pytest.mark.parametrize("number", [2, 3, 4])
def test_fields_of_atoms_are_refused_in_other_bodies(number: int) -> None:
    """A tombstone may have a request and an origin, but no field that only atoms have."""
    good = {2: {"a": 1}, 3: ["a"], 4: "f"}[number]
    kind = EventKind.ATOM_TOMBSTONED
    assert verdicts(pack(["why", {0: "r", 1: "o"}]), kind) == ("ok", "ok")
    assert verdicts(pack(["why", {0: "r", number: good}]), kind) == ("payload", "payload")


@pytest.mark.parametrize("by", [0, 1])
def test_created_has_its_bounds(by: int) -> None:
    """`created` ranges from the first microsecond of the year 1 to the last of the year 9999."""
    expected = ("payload", "payload") if by else ("ok", "ok")
    for created in (limits.CREATED_MIN - by, limits.CREATED_MAX + by):
        assert verdicts(pack(["a", None, "note", [], [], None, None, "", None, created, 0, None])) == expected


OTHER_FORMS = {
    "keys out of order": b"\xa2\x01\x61x\x00\x61y",
    "a key twice": b"\xa2\x00\x61x\x00\x61y",
    "a long key": b"\xa1\x18\x00\x61x",
    "a float that is too long": b"\xa1\x02\xa1\x61a\xfb\x3f\xe0\x00\x00\x00\x00\x00\x00",
    "keys of meta out of order": b"\xa1\x02\xa2\x62aa\x01\x61b\x01",
    "a key of meta twice": b"\xa1\x02\xa2\x61a\x01\x61a\x02",
    "a long negative": b"\xa1\x02\xa1\x61a\x38\x00",
    "an indefinite map": b"\xbf\x00\x61x\xff",
    "a tagged map": b"\xd9\xd9\xf7\xa1\x00\x61x",
    "an undefined value": b"\xa1\x02\xa1\x61a\xf7",
    "a map cut short": b"\xa2\x00\x61x",
    "a float cut short": b"\xa1\x02\xa1\x61a\xfb\x3f",
}


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_other_forms_of_the_same_are_refused(name: str) -> None:
    """A body that is not canonical is refused."""
    plain = pack(["a", None, "note", [], [], None, None, "internal", None, None, 0, None])
    body = b"\x8d" + plain[1:] + OTHER_FORMS[name]
    first, second = verdicts(body)
    assert (first in {"encoding", "payload"}, second) == (True, "payload")
    with pytest.raises(FormError):
        decode_body(EventKind.ATOM_ADDED, body, "it")
