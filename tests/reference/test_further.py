"""Each body with further fields has one form, which both verifiers accept."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base import limits, validation
from engine.base.errors import EngineError
from proofs.codec import decode_body, encode_body, pack
from proofs.events import AtomBody, EventKind, ReasonBody
from proofs.proof_file import decode_strict
from tests.reference.both import ask, listed
from tests.reference.cbor import read
from tests.vectors.bounds import made

LINES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)
KEYS = st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
HALVES = st.floats(width=16, allow_nan=False, allow_infinity=False).filter(lambda one: not one.is_integer())
INTEGERS = st.integers(-limits.META_INTEGER_MAX, limits.META_INTEGER_MAX)
SCALARS = st.booleans() | INTEGERS | FLOATS | HALVES | st.text(st.characters(codec="utf-8"), max_size=20)
METAS = st.dictionaries(KEYS, SCALARS, min_size=1, max_size=6)
BODIES = st.builds(
    lambda created, request, pipeline, meta, aliases, folder: AtomBody(
        "a", None, "note", (), ("inbox",), None, None, "internal", None, created, 0, None, request, pipeline,
        None if meta is None else dict(sorted(meta.items(), key=lambda one: (len(one[0]), one[0]))),
        aliases, folder,
    ),
    st.none() | st.integers(limits.CREATED_MIN, limits.CREATED_MAX),
    st.none() | LINES,
    st.none() | LINES,
    st.none() | METAS,
    st.none() | st.lists(LINES, min_size=1, max_size=4).map(tuple),
    st.none() | LINES,
)  # fmt: skip


def verdicts(body: bytes) -> tuple[str, str]:
    """Return the answers of both verifiers, `ok` or the reason, for an event with this body."""
    asked = made("a body", EventKind.ATOM_ADDED, [b"\1" * 16, 0], body)
    answers = ask(asked.data, asked.basis, asked.claims)
    real, reference = (one if isinstance(one, str) else "ok" for one in answers)
    return real, reference


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
    assert encode_body(ReasonBody("why", pipeline="x")) == pack(["why", {1: "x"}])
