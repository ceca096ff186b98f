"""Options with a few possible values, checked with a message that names them."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from engine.base.errors import InvalidInputError
from engine.base.model import Direction
from engine.query.graph.find import Form

Choice = TypeVar("Choice", bound=StrEnum)


def direction_of(text: str) -> Direction:
    """The value of --direction."""
    return _one_of(Direction, text, "--direction")


def form_of(text: str) -> Form:
    """The value of --form."""
    return _one_of(Form, text, "--form")


def _one_of(choices: type[Choice], text: str, what: str) -> Choice:
    try:
        return choices(text)
    except ValueError:
        names = ", ".join(choice.value for choice in choices)
        raise InvalidInputError(f"{what} {text!r} is not one of {names}") from None
