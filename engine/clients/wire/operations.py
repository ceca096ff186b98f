"""The methods of `Engine` that a service offers, described by their own marks, type hints and docstrings."""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final, Union, get_args, get_origin

from engine import commands
from engine import engine as engine_module
from engine.base.docstrings import described
from engine.base.errors import InvalidInputError
from engine.base.json_text import TIME_FIELDS
from engine.base.model import Unchanged
from engine.base.scopes import Scope, offers
from engine.base.validation import quoted
from engine.clients.wire import json_shapes as shapes
from engine.clients.wire.json_calls import COMMANDS, Operation, Parameter, SentProof
from engine.clients.wire.json_shapes import Schema, Schemas, Shape
from engine.engine import Engine

_REPLACED: Final[dict[tuple[str, str], Any]] = {
    ("prove", "claims"): list[list[str]],
    ("prove", "checkpoint"): str | None,
}
"""(Operation, parameter) → the type hint that is used instead of the parameter's own."""

_LEFT_OUT: Final = frozenset({"self", "actor", "request", "filters"})
"""Parameters that the token, the headers and the fields of `Filters` replace."""

_NOT_SENT: Final = frozenset(
    {
        ("explore", "policy"),  # an object of the caller
        ("checkpoint_note", "key"),  # a file of the service's machine
        ("checkpoint_note", "known"),  # the caller compares the note itself
    }
)
"""(Operation, parameter) → left out, as are all parameters that are functions."""


@cache
def operations() -> Mapping[str, Operation]:
    """Return all operations by name, sorted."""
    return {
        name: _operation(name, one.scope) for name, one in offers(Engine).items() if one.scope is not None
    }


def _operation(name: str, scope: Scope) -> Operation:
    member = inspect.getattr_static(Engine, name)
    method: Any = member.fget if isinstance(member, property) else member
    hints = typing.get_type_hints(method, _namespace())
    text = described(inspect.getdoc(method) or "")
    parameters = [
        made
        for one in inspect.signature(method).parameters.values()
        if not _is_left_out(name, one.name, hints.get(one.name))
        for made in _parameters(name, one, hints, text.arguments)
    ]
    result = hints["return"]
    streams = typing.get_origin(result) is typing.get_origin(typing.Iterator[int])
    if streams:
        (result,) = typing.get_args(result)
    shape = record_of(SentProof) if name == "prove" else shape_of(result)
    return Operation(name, scope, tuple(parameters), shape, streams, text.summary, text.about)


def _is_left_out(operation: str, name: str, hint: Any) -> bool:
    is_function = Callable in (typing.get_origin(part) for part in (hint, *typing.get_args(hint)))
    if (
        operation in {"revert", "revertible"} and name == "actor"
    ):  # it selects events, and is not their author
        return False
    return name in _LEFT_OUT or (operation, name) in _NOT_SENT or is_function


def _parameters(
    operation: str, one: inspect.Parameter, hints: Mapping[str, Any], about: Mapping[str, str]
) -> list[Parameter]:
    """Return the parameters for a parameter of a method: several for `**narrow`, otherwise one."""
    hint = _REPLACED.get((operation, one.name), hints[one.name])
    if one.kind is inspect.Parameter.VAR_KEYWORD:
        fields = typing.get_type_hints(typing.get_args(hint)[0])
        return [
            Parameter(name, shape_of(inner, name, given=True), False, _FILTERS[name])
            for name, inner in fields.items()
        ]
    text = about.get(one.name) or _shared_texts()[one.name]
    if one.kind is inspect.Parameter.VAR_POSITIONAL:
        return [Parameter(one.name, shape_of(list[hint], given=True), True, text, spread=True)]  # type: ignore[valid-type]
    if (operation, one.name) == ("apply", "commands"):
        return [Parameter(one.name, shapes.ListOf(command_shape(), list), True, text, of_commands=True)]
    shape = shape_of(hint, one.name, given=True)
    return [Parameter(one.name, shape, one.default is inspect.Parameter.empty, text)]


_FILTERS: Final = {
    "tags": "Only atoms that have all of these tags.",
    "without_tags": "Only atoms that have none of these tags.",
    "buckets": "Only atoms in one of these buckets.",
    "sources": "Only atoms of one of these sources. A source that ends in `*` stands for all that begin so.",
    "kinds": "Only atoms of one of these kinds.",
    "provenances": "Only atoms of one of these provenances.",
    "since": "Only atoms that were created at this time or later: ISO 8601, or µs since 1970, UTC.",
    "until": "Only atoms that were created before this time: ISO 8601, or µs since 1970, UTC.",
    "categories": "Only atoms of one of these categories.",
    "superseded": "If true, superseded atoms can be returned, too.",
    "meta": "Only atoms whose meta has these keys with these values. A value may be a list of values.",
}


@cache
def _shared_texts() -> Mapping[str, str]:
    """Return the descriptions for methods whose docstrings refer to those of `recall` and `link`."""
    return {
        name: text
        for method in (Engine.link, Engine.recall)
        for name, text in described(inspect.getdoc(method) or "").arguments.items()
    }


@cache
def _namespace() -> dict[str, Any]:
    """Return the names in the type hints of `Engine`, which imports most of them for type checkers only."""
    names = vars(typing) | vars(engine_module)
    for block in ast.parse(inspect.getsource(engine_module)).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            names |= dict(_imported(block))
    return names


def _imported(block: ast.If) -> Iterator[tuple[str, Any]]:
    for one in block.body:
        # No operation has a type of the client, which imports this module.
        if isinstance(one, ast.ImportFrom) and one.module and not one.module.startswith("engine.clients"):
            module = import_module(one.module)
            yield from ((alias.asname or alias.name, getattr(module, alias.name)) for alias in one.names)


@dataclass(frozen=True, slots=True)
class Tagged(shapes.AsJson):
    """An object with one field, whose name says which record the value is: `{"add": {…}}`."""

    records: dict[str, shapes.Record]

    def decode(self, value: Any, where: str) -> Any:
        """Return an instance of the record."""
        if not isinstance(value, dict) or len(value) != 1:
            raise InvalidInputError(f"{where} must be an object with one field", hint=self._hint())
        ((name, item),) = value.items()
        if name not in self.records:
            raise InvalidInputError(f"{where} has no field {quoted(name)}", hint=self._hint())
        return self.records[name].decode(item, f"{where}.{name}")

    def _hint(self) -> str:
        return f"the field is one of {', '.join(self.records)}"

    def schema(self, schemas: Schemas) -> Schema:
        """Return one schema for each record."""
        return {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {name: record.schema(schemas)},
                    "required": [name],
                    "additionalProperties": False,
                }
                for name, record in self.records.items()
            ]
        }


@cache
def command_shape() -> Tagged:
    """Return the shape of a command."""
    return Tagged({name: _record(getattr(commands, kind)) for name, kind in COMMANDS.items()})


def _record(kind: type) -> shapes.Record:
    # The schemas have names of their own: there is also a result that is called Tombstone.
    return replace(record_of(kind, given=True), name=f"{kind.__name__}Command")


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
    if hint is int and field in TIME_FIELDS and not given:
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
    record_fields = [
        shapes.Field(one.name, shape_of(hints[one.name], one.name, given=given), _is_required(one))
        for one in fields(kind)
        if one.init
    ]
    return shapes.Record(kind.__name__, summary(kind), tuple(record_fields), kind, open=not given)


def _is_required(field: Any) -> bool:
    # A result contains all of its fields. Those with a default may be missing in an older service's answer.
    return field.default is MISSING and field.default_factory is MISSING


def summary(thing: Any) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
