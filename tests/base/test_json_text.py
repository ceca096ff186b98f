"""Tests of the strict JSON parser: it agrees with `json.loads` on valid input and rejects the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError
from engine.base.json_text import DEPTH_MAX, JsonError, parse, parse_several

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=30,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 0, 1, "\t"]))
def test_valid_documents_have_the_value_of_the_standard_library(
    value: Any, escaped: bool, indent: Any
) -> None:
    """Valid documents have the value that `json.loads` returns, whether they are bytes or text."""
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    assert parse(text) == parse(text.encode()) == json.loads(text) == value


@given(
    st.lists(VALUES.filter(lambda value: isinstance(value, (dict, list, str)))),
    st.sampled_from(["", "\n", " \t"]),
)
def test_consecutive_values_are_parsed_one_by_one(values: list[Any], between: str) -> None:
    """Consecutive values are parsed one by one, with or without white space between them."""
    assert list(parse_several(between.join(map(json.dumps, values)) + between)) == values


PARTS = [*"{}[]:,-.x ", "NaN", "Infinity", "1e999", "1", "-1E400x", ".5", '"a"', '"b', "\u0663", "9" * 400]


@given(
    st.text(st.sampled_from('{}[]",:\\u0dD8e-19NaInfity \n'))
    | st.lists(st.sampled_from(PARTS), max_size=12).map("".join)
)
@example("NaNx")
@example("[NaN1]")
@example("[1e999x]]")
@example("1e999.5")
@example("1e999\u0663")
def test_accepted_text_has_the_value_of_the_standard_library(text: str) -> None:
    """The parser raises only JsonError, and what it accepts has the value that `json.loads` returns."""
    try:
        value = parse(text)
    except JsonError:
        return
    assert value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":\n tru}', "not JSON: Expecting value (line 2, column 2)"),
        ("", "not JSON: Expecting value (column 1)"),
        ("[1]\n[2]", "not JSON: unexpected text after the value (line 2, column 1)"),
        ('{"a": 1,\n "b": {"c": 1, "\\u0063": 2}}', "the key 'c' occurs twice in an object"),
        ("[1, 1e999]", "the number 1e999 is too large"),
        ("[-1E400]", "the number -1E400 is too large"),
        ("[1,\n NaN]", "not JSON: NaN"),
        ("-Infinity", "not JSON: -Infinity"),
        ('{"n":' + "9" * 400 + ',"a":1,"a":2}', "the key 'a' occurs twice in an object"),
        ("[" + "9" * 5000 + "]", "not JSON: a number has thousands of digits (column 1)"),
        ('["a", "\\ud83d"]', "a string has a lone surrogate: it is not valid Unicode (column 8)"),
        ('{"\\udc00\\ud83d": 1}', "a string has a lone surrogate: it is not valid Unicode (column 3)"),
        ('"\ud800"', "a string has a lone surrogate: it is not valid Unicode (column 2)"),
        ("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1), "nested more than 64 levels deep"),
        ("\n" + '{"a":' * 100_000, "nested more than 64 levels deep"),
        (b'["a",\n "\xff"]', "not UTF-8 at byte 8"),
    ],
)
def test_an_error_has_a_reason(text: str | bytes, reason: str) -> None:
    """An error names the key or the number, or gives the line and the column."""
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    assert isinstance(caught.value, JsonError)
    assert str(caught.value) == reason


def test_a_text_over_the_bound_is_refused() -> None:
    """A text over the size limit is rejected, and a text of exactly that size is parsed."""
    assert parse("[1]", bytes_max=3) == [1]
    with pytest.raises(JsonError, match="over 2 bytes"):
        parse("[1]", bytes_max=2)


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_depth_is_that_of_the_deepest_part(wide: int, deep: int) -> None:
    """Only nested parts count for the depth, not adjacent ones."""
    text = "[" + '{"a": []},' * wide + "[" * deep + "0" + "]" * deep + "]"
    depth = 1 + max(2 if wide else 0, deep)
    assert parse(text, depth_max=depth) == json.loads(text)
    with pytest.raises(JsonError, match="levels deep"):
        parse(text, depth_max=depth - 1)


def test_pairs_of_surrogates_that_are_escaped_are_one_character() -> None:
    """An escaped pair of surrogates is one character; an escaped backslash before `u` is not an escape."""
    assert parse('"\\ud83d\\ude00 \\\\ud83d"') == "😀 \\ud83d"
