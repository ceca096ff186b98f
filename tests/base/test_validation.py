"""Tests of the validation of text, ids, weights, labels and numbers, and of their stored form."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base import limits
from engine.base.errors import EngineError, InvalidInputError
from engine.commands import Add
from engine.engine import Engine
from tests.support.engines import backend_of, engine_on, refuses, rows_of
from tests.support.workloads import id_of

HUGE = 10**5000
"""A number that Python refuses to convert to text because it is too large."""


def short(value: object) -> str:
    """Return a short test id for a parameter."""
    return "huge" if isinstance(value, int) and abs(value) >= HUGE else ascii(value)[:20]


FOREVER = "\ud800", "\udfff", "\x00", "\ufffe", "\uffff"
"""Characters that are forbidden in all texts."""
CONTROLS = "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u2029"
"""Characters that are forbidden in one-line texts."""
LINES: dict[str, Any] = {
    "title": lambda engine, text: engine.add("text", title=text),
    "source": lambda engine, text: engine.add("text", source=text),
    "key": lambda engine, text: engine.add("text", key=text),
    "reason": lambda engine, text: engine.tombstone(id_of(1), text),
}
TEXTS: dict[str, Any] = LINES | {
    "content": lambda engine, text: engine.add(text),
    "tag": lambda engine, text: engine.tag(id_of(1), text),
}


def prepared() -> Engine:
    """Return an engine with two atoms."""
    engine = engine_on()
    engine.apply([Add("first", id=id_of(1)), Add("second", id=id_of(2))])
    return engine


def refused(call: Any, *given: Any) -> bool:
    """Return True if `call(engine, *given)` raises InvalidInputError and changes nothing."""
    engine = prepared()
    return refuses(engine, InvalidInputError, call, engine, *given)


@pytest.mark.parametrize("character", FOREVER, ids=ascii)
@pytest.mark.parametrize("field", TEXTS)
def test_harmful_characters_are_refused_everywhere(field: str, character: str) -> None:
    """Lone surrogates, NUL and the two noncharacters are rejected, alone or inside a text."""
    assert refused(TEXTS[field], character)
    assert refused(TEXTS[field], f"a{character}b")


@pytest.mark.parametrize("character", FOREVER, ids=ascii)
def test_harmful_characters_are_refused_in_questions(character: str) -> None:
    """A question with such a character raises InvalidInputError."""
    with pytest.raises(InvalidInputError):
        prepared().recall(f"first {character}")


@pytest.mark.parametrize("character", CONTROLS, ids=ascii)
@pytest.mark.parametrize("field", LINES)
def test_a_line_has_no_control_characters(field: str, character: str) -> None:
    """Titles, sources, keys and reasons with control characters or line breaks are rejected."""
    assert refused(LINES[field], f"a{character}b")


@pytest.mark.parametrize("given", [None, 5, b"text", ["text"], 1.5, True], ids=repr)
def test_content_must_be_text(given: object) -> None:
    """Content that is not a `str` is rejected."""
    assert refused(TEXTS["content"], given)


@pytest.mark.parametrize("given", ["", " ", "\n\t ", "\u3000", "\u2003"], ids=ascii)
def test_blank_content_is_refused(given: str) -> None:
    """Content that is only white space is rejected."""
    assert refused(TEXTS["content"], given)


@pytest.mark.parametrize("field", ["title", "source", "key"])
def test_an_empty_line_is_refused(field: str) -> None:
    """An optional field that is an empty text is rejected."""
    assert refused(LINES[field], "")


SAYABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufffe\uffff")


@settings(max_examples=150, deadline=None)
@given(st.text(SAYABLE, min_size=1, max_size=60).filter(lambda text: text.strip()))
def test_content_comes_back_exactly(content: str) -> None:
    """All other texts are stored character for character, also after a rebuild and in reads of the past."""
    engine = engine_on()
    id_ = engine.add(content).subject
    root = engine.root()
    assert engine.get(id_).content == content
    assert engine.rebuild() == root
    assert engine.get(id_, as_of=1).content == content


# Ids, labels, numbers


SPACED = "ab " * 10 + "ab"
ID = "c0ffee00-0000-8000-8000-0000000000ab"
BAD_IDS = [
    "",
    "1",
    "0" * 32,
    "1" * 32,
    "1" * 33,
    SPACED,
    ID.upper(),
    ID[1:],
    f" {ID[1:]}",
    f"{ID[1:]}\n",
    f"{ID}\n",
]
BAD_IDS += [
    "{" + "1" * 32 + "}",
    "urn:uuid:" + str(uuid.UUID(int=1)),
    "0x" + "1" * 30,
    f"+{ID[1:]}",
    f"1_{ID[2:]}",
    f"0x{ID[2:]}",
    f"١{ID[1:]}",
    ID.replace("-", ""),
    ID[1:9] + "c" + ID[9:],
]


@pytest.mark.parametrize(
    "given", [*BAD_IDS, 5, None, b"", bytes(15), bytes(16), bytes(17), True, uuid.UUID(int=0)], ids=ascii
)
def test_a_bad_id_is_refused_before_anything_is_written(given: Any) -> None:
    """An id that is not 16 bytes, a UUID or its text, or that is all zeros, is rejected."""
    assert refused(lambda engine, id_: engine.tombstone(id_), given)
    if given is not None:
        assert refused(lambda engine, id_: engine.add("text", id=id_), given)


@pytest.mark.parametrize("form", [str, lambda one: one.bytes, lambda one: one])
def test_every_form_of_an_id_identifies_the_same_atom(form: Any) -> None:
    """Bytes, a UUID and its text identify the same atom."""
    one = uuid.UUID("c0ffee00-0000-8000-8000-0000000000ab")
    engine = engine_on()
    engine.add("text", id=str(one))
    assert engine.get(form(one)).id == str(one)


@pytest.mark.parametrize(
    "given", ["", "A", "a b", "ä", "٣", "a\n", "a/b", "x" * 33, None, 5, b"a"], ids=ascii
)
@pytest.mark.parametrize("field", ["kind", "bucket", "predicate", "actor"])
def test_a_label_has_only_allowed_characters(field: str, given: Any) -> None:
    """A label other than 1 to 32 characters from a-z 0-9 . _ - is rejected, also one with a line end."""
    calls: dict[str, Any] = {
        "kind": lambda engine: engine.add("text", kind=given),
        "bucket": lambda engine: engine.add("text", buckets=[given]),
        "predicate": lambda engine: engine.register_type(given),
        "actor": lambda engine: Engine(backend_of(engine), actor=given).add("text"),
    }
    assert refused(calls[field])


@pytest.mark.parametrize("given", [True, False, -1, 1.0, "1", 1 << 63, float("nan"), HUGE, -HUGE], ids=short)
@pytest.mark.parametrize("field", ["sequence", "trust", "created", "occurrence"])
def test_a_number_must_be_an_integer_in_range(field: str, given: Any) -> None:
    """Booleans, fractions, texts, and numbers out of range are rejected; a time may be before 1970."""
    if (field, given) == ("created", -1):
        given = limits.CREATED_MIN - 1
    assert refused(lambda engine: engine.add("text", **{field: given}))


META: dict[str, Any] = {
    "a list": [("a", 1)],
    "a text": "a",
    "a key with a space": {"a b": 1},
    "an empty key": {"": 1},
    "a key of 65": {"k" * 65: 1},
    "a key that is no text": {1: 1},
    "null": {"a": None},
    "bytes": {"a": b"x"},
    "a map": {"a": {}},
    "no number": {"a": float("nan")},
    "infinity": {"a": float("inf")},
    "an integer too large": {"a": 1 << 53},
    "a float too large": {"a": 1e300},
    "a lone surrogate": {"a": "\ud800"},
}


@pytest.mark.parametrize("name", META)
def test_meta_is_a_map_of_scalars(name: str) -> None:
    """Meta must be a map from identifiers to texts, booleans and numbers that all JSON parsers preserve."""
    assert refused(lambda engine: engine.add("text", meta=META[name]))


@pytest.mark.parametrize("field", ["request", "pipeline", "folder"])
@pytest.mark.parametrize("given", ["", "a\nb", "a\x1b", "\u2028", 1, b"x"], ids=repr)
def test_request_and_pipeline_are_one_line(field: str, given: Any) -> None:
    """The request and the pipeline of an event must be one nonempty line without control characters."""
    said: dict[str, Any] = {field: given}
    if field == "folder":
        assert refused(lambda engine: engine.add("text", **said))
    else:
        assert refused(lambda engine: engine.apply([Add("text")], **said))


def test_created_may_be_a_time_before_1970() -> None:
    """A time with a time zone is stored in microseconds, and one without a time zone is rejected."""
    engine = engine_on()
    atom = engine.add("text", created=datetime(1929, 10, 24, 1, tzinfo=timezone(timedelta(hours=1)))).subject
    assert engine.get(atom).created == -14_679 * 86_400_000_000
    assert refused(lambda engine: engine.add("text", created=datetime.fromisoformat("1929-10-24")))


@pytest.mark.parametrize("given", ["Internal", "", None, 1, "quarantine "], ids=repr)
def test_provenance_is_one_of_three(given: Any) -> None:
    """A provenance other than internal, external and quarantine is rejected."""
    assert refused(lambda engine: engine.add("text", provenance=given))


BAD_WEIGHTS = [
    float("nan"),
    float("inf"),
    -float("inf"),
    -0.0,
    -1e-60,
    1e39,
    10**400,
    HUGE,
    -HUGE,
    True,
    False,
    "1",
    None,
    1j,
]


@pytest.mark.parametrize("given", BAD_WEIGHTS, ids=short)
def test_a_weight_is_a_finite_number(given: Any) -> None:
    """NaN, infinities, negative zero (also after rounding), overflow and other types are rejected."""
    assert refused(lambda engine: engine.link(id_of(1), "part_of", id_of(2), given))


@pytest.mark.parametrize(("given", "kept"), [(0, 0.0), (-1, -1.0), (0.1, 0.10000000149011612), (1e-60, 0.0)])
def test_a_weight_is_kept_as_binary32(given: float, kept: float) -> None:
    """A weight is rounded to the nearest IEEE 754 binary32."""
    engine = prepared()
    engine.link(id_of(1), "part_of", id_of(2), given)
    assert engine.get_edge(id_of(1), "part_of", id_of(2)).weight == kept


BAD_DATA = [
    b"\x18\x01",
    b"\x9f\xff",
    b"\x01\x01",
    b"\x81",
    b"\xff",
    b"\xa2\x02\x01\x01\x01",
    b"\xa2\x01\x01\x01\x02",
    "x",
]
BAD_DATA += [
    b"\xd8\x1e\x82\x01\x00",
    b"\xd8\x23\x61(",
    b"\xd8\x1c\x81\xd8\x1d\x00",
    b"\xfb" + bytes(8),
    b"\x81" * 3000,
]


@pytest.mark.parametrize("given", BAD_DATA, ids=lambda data: repr(data)[:30])
def test_edge_data_is_one_canonical_item(given: Any) -> None:
    """Edge data that is not one canonical CBOR item, or has hostile tags, is rejected."""
    assert refused(lambda engine: engine.link(id_of(1), "part_of", id_of(2), 1, given))


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=40)
    | st.builds(lambda tag, rest: bytes([0xD8, tag]) + rest, st.integers(0, 255), st.binary(max_size=12))
)
def test_any_edge_data_is_kept_exactly_or_refused(data: bytes) -> None:
    """Any bytes are either stored exactly or rejected with an error of the engine."""
    engine = prepared()
    try:
        engine.link(id_of(1), "part_of", id_of(2), 1, data)
    except EngineError:
        assert not rows_of(backend_of(engine), "edges-from")
    else:
        assert engine.get_edge(id_of(1), "part_of", id_of(2)).data == data
