"""Functions and classes for declaring commands with arguments, options and a help page."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import click

from engine.cli.cli_session import Session

Function = TypeVar("Function", bound=Callable[..., Any])


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
"""The types of options whose values are numbers. Their error messages are written in words."""


def at_least(number: int) -> click.IntRange:
    """Return the type of whole numbers that are at least `number`."""
    return _WholeNumber(min=number)


class Argument(click.Argument):
    """An argument with a description. `CommandWithHelp` prints the description.

    The attribute is not called `help`, because Click 8.5 and later prints an attribute with that name. The
    text would then appear twice.
    """

    def __init__(self, *names: Any, description: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.description = description

    @property
    def label(self) -> str:
        """The name shown in help; in brackets if the argument is optional."""
        return str(self.metavar) if self.required else f"[{self.metavar}]"


def argument(
    name: str,
    metavar: str,
    description: str,
    *,
    many: bool = False,
    required: bool = True,
) -> Callable[[Function], Function]:
    """Declare an argument of a command. With `many`, it takes all remaining words, as a tuple."""
    nargs = -1 if many else 1
    return click.argument(
        name, cls=Argument, metavar=metavar, description=description, nargs=nargs, required=required
    )


def option(*names: str, help: str, **attributes: Any) -> Callable[[Function], Function]:  # noqa: A002
    """Declare an option; without a `metavar` it is a flag. `attributes` are passed to `click.option`."""
    if "metavar" not in attributes:
        attributes["is_flag"] = (
            True  # Never pass False: Click would then treat the option's value as optional.
        )
    return click.option(*names, help=help, **attributes)


def repeated(
    field: str, *names: str, metavar: str = "NAME", **attributes: Any
) -> Callable[[Function], Function]:
    """Declare a repeatable option; the command receives all values of the option as the tuple `field`."""
    return option(field, *names, metavar=metavar, multiple=True, **attributes)


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and value is not False and param.name is not None:
        ctx.ensure_object(Session).option(param.name, value)


def _global(*names: str, **attributes: Any) -> click.Option:
    if "metavar" not in attributes:
        attributes["is_flag"] = True
    return click.Option(names, callback=_remember, expose_value=False, **attributes)


GLOBAL_OPTIONS: list[click.Parameter] = [
    _global(
        "--store",
        metavar="URL",
        help="The store: PATH, leveldb:PATH, sqlite:PATH, postgresql://USER@HOST/DB or memory:. Default: "
        "ENGINE_STORE, the nearest .engine.toml, the user's config.toml, or the standard location.",
    ),
    _global(
        "--memory",
        metavar="NAME",
        help="The name of the memory, if --store holds several memories. Default: ENGINE_MEMORY, or the file "
        "that names the store.",
    ),
    _global("--json", help="Print the result as one JSON object."),
    _global("--quiet", "-q", help="Print only results and errors."),
    _global("--plain", help="No colours, tables or progress bars."),
    _global("--full", help="Print whole ids, and every line of long reports."),
    _global("--actor", metavar="NAME", help="The actor recorded in the journal. [default: user]"),
    _global(
        "--wait",
        metavar="SECONDS",
        type=NUMBER,
        help="Seconds to wait for a store that is in use. [default: 2]",
    ),
]
"""The options accepted both before and after the command; if one is repeated, the last value is used."""


class CommandWithHelp(click.Command):
    """A command with a help page.

    The global options may also follow the command, except one that the command declares itself.
    """

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.own = list(self.params)
        """The command's own arguments and options."""
        names = {name for one in self.own for name in one.opts}
        self.params += [one for one in GLOBAL_OPTIONS if names.isdisjoint(one.opts)]

    @property
    def arguments(self) -> list[Argument]:
        """The command's arguments, in order."""
        return [param for param in self.own if isinstance(param, Argument)]

    @property
    def options(self) -> list[click.Option]:
        """The command's own options, in help order."""
        return [param for param in self.own if isinstance(param, click.Option)]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the part of the usage line after the command's name, such as `[OPTIONS] ID TAG...`."""
        del ctx
        return ["[OPTIONS]", *(one.label + "..." * (one.nargs == -1) for one in self.arguments)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and the command's own options; `engine --help` lists the global options."""
        records = [option.get_help_record(ctx) for option in self.options]
        for heading, rows in (
            ("Arguments", [(one.label, one.description) for one in self.arguments]),
            ("Options", [record for record in records if record is not None]),
        ):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        formatter.write_paragraph()
        formatter.write_text(
            "The options of `engine --help`, such as --json and --store URL, are accepted, too."
        )


def examples(*lines: str) -> str:
    r"""Return an epilog with one example on each line (`\b` prevents Click from joining the lines)."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def hyphenated(name: str) -> str:
    """Return the name of a command or an option with `-` in place of each `_`."""
    return name.replace("_", "-")


def command(*lines: str, name: str | None = None) -> Callable[[Callable[..., int]], CommandWithHelp]:
    """Turn a function into a command. The docstring is the help text, and `lines` are the examples.

    The function receives the session, then the arguments and options by name, and returns the exit code.
    The command has the function's name unless `name` is given.
    """

    def made(function: Callable[..., int]) -> CommandWithHelp:
        run = click.make_pass_decorator(Session, ensure=True)(function)
        described = click.command(
            name or function.__name__,
            cls=CommandWithHelp,
            help=inspect.cleandoc(function.__doc__ or ""),
            epilog=examples(*lines),
            context_settings={"show_default": True, "token_normalize_func": hyphenated},
        )
        return described(run)

    return made
