"""Values of frameworks as the content and the `meta` of atoms."""

import json
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Engine
from engine.base.errors import ConflictError, InvalidInputError
from engine.frameworks.framework_values import only_text, pack, plain, unpack

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Mn", "Mc", "Me"], exclude_characters="\ufffe\uffff"))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=400)
@given(st.dictionaries(TEXTS, JSON, max_size=5) | st.dictionaries(TEXTS, NUMBERS | TEXTS, max_size=3))
def test_every_value_comes_back_from_a_memory_as_it_was(value: dict[str, Any]) -> None:
    """Unpacking a stored atom gives the value, with integers and floats told apart."""
    packed = pack(plain(value), only_text(value))
    with Engine.open("memory:") as memory:
        atom = memory.get(memory.add(packed.content, meta=packed.meta).id)
    found = unpack(atom.content, atom.meta, "the atom")
    assert json.dumps(found, sort_keys=True) == json.dumps(value, sort_keys=True)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({"text": "Tea at five."}, "Tea at five."),
        ({"text": "Tea at five.", "votes": 3, "old": False, "by": None}, "Tea at five."),
        ({"text": "Tea", "by": "Ada"}, '{"by": "Ada", "text": "Tea"}'),
        ({"text": "Tea", "tags": []}, '{"tags": [], "text": "Tea"}'),
        ({"text": "  "}, '{"text": "  "}'),
        ({"text": "a\x00b"}, '{"text": "a\\u0000b"}'),
        ({"n": 1}, '{"n": 1}'),
        ({}, "{}"),
    ],
    ids=str,
)
def test_the_content_is_the_only_text_or_else_the_whole_value(value: dict[str, Any], content: str) -> None:
    """A value with one text and no lists or maps reads as this text; any other value reads as JSON."""
    assert pack(value, only_text(value)).content == content


def test_the_other_fields_are_fields_of_meta() -> None:
    """What `meta` cannot hold exactly is kept as JSON: None, whole floats, unusual names, large integers."""
    value = {"text": "Tea", "votes": 3, "old": False, "by": None, "x": 1.0, "y": 0.5, "a b": 1, "z": 2**60}
    packed = pack(value, only_text(value))
    assert packed.content == "Tea"
    assert {name: packed.meta.get(name) for name in value} == {
        "text": None, "votes": 3, "old": False, "by": None, "x": None, "y": 0.5, "a b": None, "z": None,
    }  # fmt: skip
    assert json.dumps(unpack("Tea", packed.meta, "the atom"), sort_keys=True) == json.dumps(
        value, sort_keys=True
    )


def test_a_field_with_the_name_of_an_adapter_s_field_is_told_apart() -> None:
    """A value may have a field named `value.path`."""
    value = {"text": "Tea", "value.path": 1, "value.unindexed": True}
    packed = pack(value, only_text(value))
    assert unpack(packed.content, packed.meta, "the atom") == value


def test_a_rest_that_is_too_large_for_meta_stays_with_the_text() -> None:
    """If the other fields exceed the limits of `meta`, the content is the whole value."""
    value = {"text": "Tea"} | {f"field {number}": number for number in range(200)}
    packed = pack(value, only_text(value))
    assert json.loads(packed.content) == value
    assert unpack(packed.content, packed.meta, "the atom") == value


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1: "x"},
        {"x": float("nan")},
        {"x": [float("inf")]},
        {"x": {1, 2}},
        {"x": b"bytes"},
        {"x": 10**5000},
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_that_is_not_json_is_refused(value: Any) -> None:
    """Objects, keys that are no texts, and numbers that are not finite are invalid."""
    with pytest.raises(InvalidInputError, match="a value"):
        plain(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    """A value has at most 64 levels."""
    value: dict[str, Any] = {}
    value["again"] = value
    with pytest.raises(InvalidInputError, match="64 levels"):
        plain(value)


def test_an_edited_text_is_the_text_of_the_value() -> None:
    """A person who revises the content of an atom changes the text of the value, and nothing else."""
    packed = pack({"text": "Tea", "votes": 3}, ("text",))
    assert unpack("Coffee", packed.meta, "the atom") == {"text": "Coffee", "votes": 3}


@pytest.mark.parametrize("edited", ["Tea and coffee", "[1]", "3", '{"a": "Tea"'])
def test_an_edited_value_that_is_no_json_object_is_an_error_that_names_the_atom(edited: str) -> None:
    """The error says which atom to repair."""
    packed = pack({"a": "Tea", "b": "Coffee"}, None)
    with pytest.raises(ConflictError, match="atom 1f0c does not hold a value"):
        unpack(edited, packed.meta, "atom 1f0c")


def test_a_word_of_an_enumeration_is_stored_as_its_text() -> None:
    """Enumerations of texts are JSON."""

    class Colour(str, Enum):  # noqa: UP042  the older form, whose `str` is the name
        RED = "red"

    assert plain({"colour": Colour.RED}) == {"colour": "red"}
    assert json.dumps(plain({"colour": Colour.RED})) == '{"colour": "red"}'
    assert type(plain(Colour.RED)) is str
