"""The arguments of a method of `Engine` as the JSON arguments of an operation."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, NamedTuple

from engine.base.errors import InvalidInputError, RefusedError
from engine.engine import Engine
from engine.query.filters import NO_FILTERS, Filters
from engine.remote.wire import shapes
from engine.remote.wire.commands import encode_command
from engine.remote.wire.encoding import encode
from engine.remote.wire.operations import Operation


class Sent(NamedTuple):
    """What is sent for a call."""

    body: dict[str, Any]
    request: str | None
    """The key of the request that the caller gave, or None."""


def sent(operation: Operation, args: tuple[Any, ...], options: Mapping[str, Any]) -> Sent:
    """Return what is sent for a call of a method.

    Raises:
        TypeError: The method does not accept these arguments.
        RefusedError: An argument cannot be sent, such as a function.
        InvalidInputError: A value has no JSON form.
    """
    signature = inspect.signature(getattr(Engine, operation.name))
    given = signature.bind(None, *args, **options).arguments
    given.pop("self")
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            given |= given.pop(name, {})
        elif name in given and given[name] is parameter.default:
            del given[name]
    given = _filters(given.pop("filters", NO_FILTERS)) | given
    request = given.pop("request", None)
    known = {parameter.name: parameter.shape for parameter in operation.parameters}
    for name in given:
        if name not in known:
            raise _unknown(operation, name, signature)
    return Sent({name: _encoded(name, value, known[name]) for name, value in given.items()}, request)


def _filters(filters: object) -> dict[str, Any]:
    """Return the fields of `filters` that set a condition."""
    if not isinstance(filters, Filters):
        raise InvalidInputError(f"filters must be Filters, not {type(filters).__name__}")
    return {
        one.name: value
        for one in fields(Filters)
        if (value := getattr(filters, one.name)) != getattr(NO_FILTERS, one.name)
    }


def _unknown(operation: Operation, name: str, signature: inspect.Signature) -> Exception:
    if name == "actor":
        return RefusedError(
            "a client cannot choose the actor: it is the name of the token", hint="use another token"
        )
    if name in signature.parameters:
        return RefusedError(
            f"a client cannot pass {name} to {operation.name}", hint="leave it out, or work on the server"
        )
    return InvalidInputError(f"{name} is neither an argument nor a field of Filters")


def _encoded(name: str, value: Any, shape: shapes.Shape) -> Any:
    if isinstance(shape, shapes.ListOf) and isinstance(shape.item, shapes.Tagged):
        return [_encoded_command(command) for command in value]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Collection)):
        value = list(value)
    _check_zone(name, value)
    try:
        # The keys of `meta` are the caller's own. Other integers need no field: the service takes µs.
        return encode(value, name if name == "meta" else "")
    except TypeError as error:
        raise InvalidInputError(f"{name} cannot be sent: {error}") from error


def _encoded_command(command: Any) -> dict[str, Any]:
    if is_dataclass(command):
        for one in fields(command):
            _check_zone(one.name, getattr(command, one.name))
    try:
        return encode_command(command)
    except TypeError as error:
        raise InvalidInputError(f"a command cannot be sent: {error}") from error


def _check_zone(name: str, value: object) -> None:
    """Refuse a datetime without a time zone, which the service would read as UTC."""
    if isinstance(value, datetime) and value.tzinfo is None:
        raise InvalidInputError(f"{name} is a datetime without a time zone")
