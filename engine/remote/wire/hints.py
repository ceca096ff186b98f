"""Shapes from type hints."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Final, Union, get_args, get_origin

from engine.base.unchanged import Unchanged
from engine.remote.wire import shapes
from engine.remote.wire.shapes import Shape
from engine.remote.wire.times import FIELDS

_PLAIN: Final[dict[Any, Shape]] = {
    str: shapes.TEXT,
    bool: shapes.TRUTH,
    int: shapes.INTEGER,
    float: shapes.NUMBER,
    bytes: shapes.Base64(),
    type(None): shapes.Nothing(),
    Any: shapes.Anything(),
    object: shapes.Anything(),
}

_LISTS: Final = (list, set, frozenset, Iterable, Iterator, Sequence, Collection)


def shape_of(hint: Any, field: str = "", *, given: bool = False) -> Shape:
    """Return the shape of the values that a type hint describes.

    Args:
        hint: The type hint, without forward references.
        field: The name of the field or parameter. It decides whether an integer is a time.
        given: True if the values are given by callers. Otherwise they are results of methods.

    Raises:
        TypeError: There is no JSON form for the type.
    """
    if hint is int and field in FIELDS and not given:
        return shapes.Time()
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return shapes.Choice(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return record_of(hint, given=given)
    return _generic(hint, field, given)


def _generic(hint: Any, field: str, given: bool) -> Shape:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _union(arguments, field, given)
    if origin is tuple and arguments[-1] is not ...:
        return shapes.TupleOf(tuple(shape_of(item, given=given) for item in arguments))
    if origin is tuple:
        return shapes.ListOf(shape_of(arguments[0], given=given), tuple)
    if origin in _LISTS:
        return shapes.ListOf(shape_of(arguments[0], given=given), list)
    if origin in (dict, Mapping):
        return shapes.MapOf(shape_of(arguments[1], given=given))
    raise TypeError(f"{hint} has no JSON form")


def _union(members: Sequence[Any], field: str, given: bool) -> Shape:
    """Return the shape of a union. Where callers may give an enum or a text, a text is expected."""
    left = [member for member in members if member is not Unchanged]
    if given and str in left:
        left = [member for member in left if not (isinstance(member, type) and issubclass(member, Enum))]
    found: list[Shape] = []
    if given and datetime in left:
        found.append(shapes.Moment(texts=str in left))
        left = [member for member in left if member not in (int, str, datetime)]
    found += [shape_of(member, field, given=given) for member in sorted(left, key=_rank)]
    return found[0] if len(found) == 1 else shapes.OneOf(tuple(found))


def _rank(member: Any) -> int:
    """Return a sort key that puts null first, and numbers before texts, which a query string needs."""
    order: list[Any] = [type(None), bool, int, float, str]
    return order.index(member) if member in order else len(order)


@cache
def record_of(kind: type, *, given: bool = False) -> shapes.Record:
    """Return the shape of a dataclass.

    Raises:
        TypeError: There is no JSON form for one of its fields.
    """
    hints = typing.get_type_hints(kind)
    found = [
        shapes.Field(one.name, shape_of(hints[one.name], one.name, given=given), _is_required(one))
        for one in fields(kind)
        if one.init
    ]
    return shapes.Record(kind.__name__, summary(kind), tuple(found), kind, open=not given)


def _is_required(field: Any) -> bool:
    # A result contains all of its fields. Those with a default may be missing in an older service's answer.
    return field.default is MISSING and field.default_factory is MISSING


def summary(thing: Any) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
