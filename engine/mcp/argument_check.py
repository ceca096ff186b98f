"""Validation of the arguments of a tool call against the tool's input schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from engine.base.errors import InvalidInputError
from engine.mcp.tool_definition import Arguments, Fields, Schema

_NEVER: Final = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    # 5.0 is an integer in JSON Schema.
    "integer": lambda value: (
        not isinstance(value, bool)
        and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
}

_BOUNDS: Final[Mapping[str, tuple[Callable[[Any, Any], bool], str]]] = {
    "enum": (lambda value, bound: value in bound, "is not one of {}"),
    "maxLength": (lambda value, bound: len(value) <= bound, "is longer than {} characters"),
    "minimum": (lambda value, bound: value >= bound, "is less than {}"),
    "maximum": (lambda value, bound: value <= bound, "is greater than {}"),
    "maxItems": (lambda value, bound: len(value) <= bound, "has more than {} items"),
}

Path = tuple[int | str, ...]


def checked(schema: Mapping[str, Any], given: Fields) -> Arguments:
    """Validate the arguments of a tool with this input schema, and return them with defaults filled in.

    The schema uses only the keywords of `engine.mcp.tool_definition`.

    Raises:
        InvalidInputError: an argument is invalid; the message names it, and does not quote long values.
    """
    for name, value in given.items():
        _check_texts(value, name)
    properties: Mapping[str, Schema] = schema.get("properties", {})
    # An error of the call as a whole comes before an error of one argument.
    error = max(_errors(given, schema, ()), key=lambda error: (-len(error[0]), error[0]), default=None)
    if error is not None:
        raise InvalidInputError(error[1], hint=f"the arguments are: {', '.join(properties) or 'none'}")
    return {name: rule["default"] for name, rule in properties.items() if "default" in rule} | given


def _errors(value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path of each invalid part of a value, and the message about it."""
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]
    if "type" in schema and not _TYPES[schema["type"]](value):
        yield path, f"{where} is not of type {schema['type']}"
        return
    for rule, (holds, phrase) in _BOUNDS.items():
        if rule in schema and not holds(value, schema[rule]):
            bound = ", ".join(schema[rule]) if rule == "enum" else schema[rule]
            yield path, f"{where} {phrase.format(bound)}"
    if "properties" in schema:
        yield from _errors_of_members(value, schema, path, where)
    if "items" in schema:
        for number, item in enumerate(value):
            yield from _errors(item, schema["items"], (*path, number))


def _errors_of_members(
    value: Fields, schema: Mapping[str, Any], path: Path, where: str
) -> Iterator[tuple[Path, str]]:
    properties, required = schema["properties"], schema.get("required", ())
    if unknown := [ascii(name)[:80] for name in value if name not in properties]:
        yield path, f"{f'{where}: ' if where else ''}unknown argument {', '.join(unknown[:3])}"
    if missing := [name for name in required if name not in value]:
        yield path, f"{', '.join(missing)} missing{f' in {where}' if where else ''}"
    if len(value) < schema.get("minProperties", 0):
        yield path, f"give at least one of {', '.join(one for one in properties if one not in required)}"
    for name, rule in properties.items():
        if name in value:
            yield from _errors(value[name], rule, (*path, name))


def _check_texts(value: Any, name: str) -> None:
    """Reject a value that contains a text with a forbidden character.

    Raises:
        InvalidInputError: a text in the value contains NUL, a lone surrogate, U+FFFE or U+FFFF.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and (match := _NEVER.search(one)):
            raise InvalidInputError(
                f"{ascii(name)[1:-1][:80]} has U+{ord(match[0]):04X} at character {match.start()}"
            )
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
