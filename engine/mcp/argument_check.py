"""Validation of the arguments of a tool call against the tool's input schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no type hints
from jsonschema.exceptions import ValidationError, best_match  # type: ignore[import-untyped]

from engine.base.errors import InvalidInputError
from engine.mcp.tool_definition import Arguments, Fields

_NEVER: Final = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")

_PHRASES: Final[Mapping[str, str]] = {
    "maxLength": "is longer than {} characters",
    "minLength": "is shorter than {} characters",
    "maximum": "is greater than {}",
    "minimum": "is less than {}",
    "maxItems": "has more than {} items",
    "minItems": "has fewer than {} items",
    "type": "is not of type {}",
    "enum": "is not one of {}",
    "const": "is not {}",
    "pattern": "does not match {}",
    "uniqueItems": "has a duplicate item",
}


class Checker:
    """The validator of one tool's arguments."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Compile a JSON Schema of type object."""
        self._properties: Mapping[str, Any] = schema.get("properties", {})
        self._validator = Draft202012Validator(schema)

    def checked(self, given: Fields) -> Arguments:
        """Validate the arguments, and return them with defaults filled in.

        Raises:
            InvalidInputError: an argument is invalid; the message names it.
        """
        for name, value in given.items():
            _check_texts(value, name)
        error = best_match(self._validator.iter_errors(given))
        if error is not None:
            raise InvalidInputError(self._message(error), hint=f"the arguments are: {self._names()}")
        defaults = {name: rule["default"] for name, rule in self._properties.items() if "default" in rule}
        return {**defaults, **given}

    def _names(self) -> str:
        return ", ".join(self._properties) or "none"

    def _message(self, error: ValidationError) -> str:
        """Return the message for a violation of the schema. Long values are not quoted."""
        where = "".join(
            f"[{step}]" if isinstance(step, int) else str(step) if at == 0 else f".{step}"
            for at, step in enumerate(error.absolute_path)
        )
        rule, bound = str(error.validator), error.validator_value
        if rule == "required" and isinstance(error.instance, dict):
            missing = [name for name in bound if name not in error.instance]
            return f"{', '.join(missing)} missing{f' in {where}' if where else ''}"
        if rule == "additionalProperties" and isinstance(error.instance, dict):
            known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
            unknown = [ascii(name)[:80] for name in error.instance if name not in known]
            return f"{f'{where}: ' if where else ''}unknown argument {', '.join(unknown[:3])}"
        if rule == "minProperties" and not where:
            needed = self._validator.schema.get("required", ())
            return f"give at least one of {', '.join(one for one in self._properties if one not in needed)}"
        shown = ", ".join(map(str, bound)) if isinstance(bound, list) else bound
        phrase = _PHRASES.get(rule, "violates the rule " + rule).format(shown)
        return f"{where or 'the arguments'} {phrase}"


def _check_texts(value: Any, name: str) -> None:
    """Reject a value that contains a text with a forbidden character.

    Raises:
        InvalidInputError: a text in the value contains NUL, a lone surrogate, U+FFFE or U+FFFF.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and (found := _NEVER.search(one)):
            raise InvalidInputError(
                f"{ascii(name)[1:-1][:80]} has U+{ord(found[0]):04X} at character {found.start()}"
            )
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
