"""How a command is declared: its arguments and options, its help page, the run that it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import click

from engine.cli.session import Session

Function = TypeVar("Function", bound=Callable[..., Any])


class Argument(click.Argument):
    """An argument with a description, which `CommandWithHelp` prints.

    Not under the name `help`: from 8.5 on, click would print it a second time.
    """

    def __init__(self, *names: Any, description: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.description = description

    @property
    def label(self) -> str:
        """Its name in help: `[NAME]` where it may be left out."""
        return str(self.metavar) if self.required else f"[{self.metavar}]"


def argument(
    name: str,
    metavar: str,
    description: str,
    *,
    many: bool = False,
    required: bool = True,
) -> Callable[[Function], Function]:
    """An argument of a command. With `many` it takes all the words that are left, as a tuple."""
    nargs = -1 if many else 1
    return click.argument(
        name, cls=Argument, metavar=metavar, description=description, nargs=nargs, required=required
    )


def option(*names: str, help: str, **attributes: Any) -> Callable[[Function], Function]:  # noqa: A002
    """An option of a command; a flag, unless it has a `metavar`. `attributes` are those of `click.option`."""
    if "metavar" not in attributes:
        attributes["is_flag"] = True  # never False: click would take the value of such an option for optional
    return click.option(*names, help=help, **attributes)


def repeated(
    field: str, *names: str, metavar: str = "NAME", **attributes: Any
) -> Callable[[Function], Function]:
    """An option that may be given several times; the command is given all its values as the tuple `field`."""
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
        help="Where the store is: PATH, leveldb:PATH, sqlite:PATH or memory:. Else ENGINE_STORE, "
        "the nearest .engine.toml, the user's config.toml, or the default place.",
    ),
    _global(
        "--memory",
        metavar="NAME",
        help="Which memory, where --store holds several. Else ENGINE_MEMORY, or the file that names "
        "the store.",
    ),
    _global("--json", help="Print one JSON object."),
    _global("--quiet", "-q", help="Print only data and errors."),
    _global("--plain", help="No colours, tables or progress bars."),
    _global("--actor", metavar="NAME", help="The actor recorded in the journal. [default: user]"),
    _global(
        "--wait",
        metavar="SECONDS",
        type=float,
        help="How long to wait for a store that is in use. [default: 2]",
    ),
]
"""Accepted before the command and after it; the last one given counts."""


class CommandWithHelp(click.Command):
    """A command with its help page. The global options may follow it."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.own = list(self.params)
        """Its own arguments and options."""
        self.params += GLOBAL_OPTIONS

    @property
    def arguments(self) -> list[Argument]:
        """The arguments, in order."""
        return [param for param in self.own if isinstance(param, Argument)]

    @property
    def options(self) -> list[click.Option]:
        """Its own options, in the order of the help."""
        return [param for param in self.own if isinstance(param, click.Option)]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """`[OPTIONS] ID TAG...`."""
        del ctx
        return ["[OPTIONS]", *(one.label + "..." * (one.nargs == -1) for one in self.arguments)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The arguments and the command's own options; the global ones are in the help of `engine`."""
        records = [option.get_help_record(ctx) for option in self.options]
        for heading, rows in (
            ("Arguments", [(one.label, one.description) for one in self.arguments]),
            ("Options", [record for record in records if record is not None]),
        ):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        formatter.write_paragraph()
        formatter.write_text("Also --json, --store URL and the other options of `engine --help`.")


def examples(*lines: str) -> str:
    r"""An epilog of examples, one on each line (`\b` keeps the help from joining them)."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def command(*lines: str, name: str | None = None) -> Callable[[Callable[..., int]], CommandWithHelp]:
    """Make a function a command: its docstring is the help, `lines` are the examples.

    The function is given the run it belongs to, then its arguments and options by name, and returns the exit
    code. Without `name` the command has the function's.
    """

    def made(function: Callable[..., int]) -> CommandWithHelp:
        run = click.make_pass_decorator(Session, ensure=True)(function)
        described = click.command(
            name or function.__name__,
            cls=CommandWithHelp,
            help=inspect.cleandoc(function.__doc__ or ""),
            epilog=examples(*lines),
            context_settings={"show_default": True},
        )
        return described(run)

    return made
