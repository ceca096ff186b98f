"""The conditions on values in a LangGraph search: fields with a value, or with operators.

`{"status": "open", "votes": {"$gte": 3}}` matches the values whose field `status` is `open` and whose field
`votes` is a number of at least 3.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.base.errors import InvalidInputError
from engine.base.validation import quoted

_ORDERINGS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS: Final = ("$eq", "$ne", *_ORDERINGS)


def condition(wanted: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function that returns True for the values that match all fields of `wanted`.

    A missing field has the value None. The ordering operators compare two numbers or two texts; any other
    pair does not match. Inside a field, a map without operators matches the values that match its fields, and
    a list matches a list of the same length whose elements match.

    Raises:
        InvalidInputError: `wanted` is not a map, or has an unknown operator.
    """
    if not isinstance(wanted, Mapping):
        raise InvalidInputError(f"a filter must be a map, not {type(wanted).__name__}")
    for field in wanted.values():
        _check(field)
    return lambda value: all(_matches(value.get(name), field) for name, field in wanted.items())


def _is_operators(wanted: Any) -> bool:
    return isinstance(wanted, Mapping) and any(str(key).startswith("$") for key in wanted)


def _check(wanted: Any) -> None:
    if _is_operators(wanted):
        unknown = [key for key in wanted if key not in OPERATORS]
        if unknown:
            raise InvalidInputError(
                f"{quoted(unknown[0])} is not an operator of a filter", hint=f"use {', '.join(OPERATORS)}"
            )
    elif isinstance(wanted, Mapping | list | tuple):
        for one in wanted.values() if isinstance(wanted, Mapping) else wanted:
            _check(one)


def _matches(value: Any, wanted: Any) -> bool:
    if _is_operators(wanted):
        return all(_applies(value, name, other) for name, other in wanted.items())
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(
            _matches(value.get(key), one) for key, one in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(_matches(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return _equal(value, wanted)


def _applies(value: Any, name: str, other: Any) -> bool:
    if name in {"$eq", "$ne"}:
        return _equal(value, other) is (name == "$eq")
    comparable = (_is_number(value) and _is_number(other)) or (
        isinstance(value, str) and isinstance(other, str)
    )
    return comparable and _ORDERINGS[name](value, other)


def _equal(value: Any, other: Any) -> bool:
    """Return True if two values are equal as JSON, in which True is not 1."""
    return bool(value == other) and isinstance(value, bool) is isinstance(other, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
