"""Conditions on values, beyond what LangGraph's own store does."""

from typing import Any

import pytest

from engine.base.errors import InvalidInputError
from engine.frameworks.value_conditions import condition


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        ({"n": {"$gt": 3}}, {"n": "4"}),
        ({"n": {"$gt": 3}}, {"n": None}),
        ({"n": {"$gt": 3}}, {}),
        ({"n": {"$gte": 0}}, {"n": True}),
        ({"n": 1}, {"n": True}),
        ({"n": {"$lt": "b"}}, {"n": 1}),
        ({"n": {"m": 1}}, {"n": [1]}),
        ({"n": [1]}, {"n": [1, 2]}),
    ],
    ids=str,
)
def test_values_of_different_types_do_not_match(wanted: dict[str, Any], value: dict[str, Any]) -> None:
    """A comparison of values that cannot be compared does not match, and is no error."""
    assert condition(wanted)(value) is False


def test_texts_are_compared_as_texts() -> None:
    """Days in ISO 8601 can be compared with the operators of order."""
    matches = condition({"day": {"$gte": "2026-01-01", "$lt": "2027-01-01"}})
    days = ["2025-12-31", "2026-01-01", "2026-11-23", "2027-01-01"]
    assert [day for day in days if matches({"day": day})] == ["2026-01-01", "2026-11-23"]


@pytest.mark.parametrize(
    "wanted",
    [{"n": {"$near": 1}}, {"n": {"m": {"$near": 1}}}, {"n": [{"$near": 1}]}, {"n": {"$gt": 1, "m": 2}}],
)
def test_unknown_operators_are_refused_at_any_depth(wanted: dict[str, Any]) -> None:
    """The operators are checked before any value is read."""
    with pytest.raises(InvalidInputError, match="is not an operator"):
        condition(wanted)


def test_a_filter_that_is_no_map_is_refused() -> None:
    """A filter names fields."""
    with pytest.raises(InvalidInputError, match="a filter must be a map"):
        condition(["n"])  # type: ignore[arg-type]
