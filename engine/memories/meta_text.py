"""Entries of meta as people write them: `project=atlas`, `priority=2`, `done=true`, `version="2"`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.base.validation import quoted

if TYPE_CHECKING:
    from proofs.further import Scalar


def parse_value(text: str, where: str) -> Scalar:
    """Return the value that `text` stands for: a JSON string, number, true or false, or else the text itself.

    Args:
        text: The text.
        where: The beginning of the error message: what contains the text.

    Raises:
        InvalidInputError: the text is a JSON list, a JSON object or null.
    """
    try:
        value = parse(text)
    except JsonError:
        return text
    if not isinstance(value, (bool, int, float, str)):
        raise InvalidInputError(
            f"{where}: the value must be text, a number, true or false",
            hint="put it in double quotes to make it a text",
        )
    return value


def parse_meta(given: Iterable[str], option: str) -> dict[str, Scalar]:
    """Parse texts of the form KEY=VALUE, and return them as entries of an atom's meta.

    Args:
        given: The texts.
        option: The option that contains them, for error messages.

    Raises:
        InvalidInputError: a text is not KEY=VALUE, its value is a JSON list, a JSON object or null, or a key
            is given twice.
    """
    found = parse_conditions(given, option)
    for key, values in found.items():
        if len(values) > 1:
            raise InvalidInputError(f"{option} gives {quoted(key)} twice; an atom has one value for a key")
    return {key: values[0] for key, values in found.items()}


def parse_conditions(given: Iterable[str], option: str) -> dict[str, tuple[Scalar, ...]]:
    """Parse texts of the form KEY=VALUE, and return each key with its values in order.

    Args:
        given: The texts.
        option: The option that contains them, for error messages.

    Raises:
        InvalidInputError: a text is not KEY=VALUE, or its value is a JSON list, a JSON object or null.
    """
    found: dict[str, tuple[Scalar, ...]] = {}
    for entry in given:
        key, equals, text = entry.partition("=")
        if not equals:
            raise InvalidInputError(f"{option} {quoted(entry)} is not KEY=VALUE")
        found[key] = (*found.get(key, ()), parse_value(text, f"{option} {quoted(entry)}"))
    return found
