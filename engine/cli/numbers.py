"""The types of options whose values are numbers. Their error messages are written in words."""

from __future__ import annotations

from typing import Any

import click


class _WholeNumber(click.IntRange):
    """A whole number, possibly with a minimum."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that `value` contains, or raise a usage error."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if self.min is not None and number < self.min:
            self.fail(f"{number} is below the minimum, which is {self.min}", param, ctx)
        return number


class _Number(click.FloatRange):
    """A number, possibly with a fraction."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that `value` contains, or raise a usage error."""
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)


WHOLE = _WholeNumber()
NUMBER = _Number()


def at_least(number: int) -> click.IntRange:
    """Return the type of whole numbers that are at least `number`."""
    return _WholeNumber(min=number)
