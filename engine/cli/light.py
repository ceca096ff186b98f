"""Converting arguments without pydantic.

From 0.2x on Typer hands every value, even one that was not given, to a pydantic adapter: measured
70 to 110 ms for the import and the adapters, of 150 ms that a command may take to start. Ours are
texts, numbers and flags. A Typer that has no such adapters is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

_ADAPTER = "_runtime_param"
_NUMBERS = {int: "a whole number", float: "a number"}


class _Plain:
    """In place of Typer's adapter: texts stay, numbers are read and held to their least value."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of one argument or option.

        Raises:
            BadParameter: not a number, or one below the least.
        """
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if several:
            return tuple(value)
        kind = param.type_descriptor.annotation
        if kind not in _NUMBERS or not isinstance(value, str):
            return value
        try:
            number = kind(value)
        except ValueError:
            raise typer.BadParameter(f"{value!r} is not {_NUMBERS[kind]}", ctx=ctx, param=param) from None
        if param.min is not None and number < param.min:
            raise typer.BadParameter(f"{value} is less than {param.min}", ctx=ctx, param=param)
        return number


def lighten(params: Sequence[Any]) -> Sequence[Any]:
    """These parameters of a command, from now on converted here instead of by pydantic."""
    for param in params:
        if hasattr(param, _ADAPTER):
            setattr(param, _ADAPTER, _Plain())
    return params
