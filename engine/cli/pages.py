"""What every command has in common: its run, its help page with examples, the options it shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand

from engine.cli.light import lighten
from engine.cli.session import Session

GLOBAL_OPTIONS = frozenset({"store", "memory", "json", "quiet", "plain", "actor", "wait"})
"""Accepted before the command and after it."""


def running(ctx: typer.Context) -> Session:
    """The run that a command belongs to."""
    session = ctx.find_object(Session)
    if session is None:  # unreachable through `engine.cli.main`
        raise RuntimeError("no session")
    return session


def was_given(ctx: typer.Context, option: str) -> bool:
    """Whether a global option stands anywhere on the command line."""
    at: typer.Context | None = ctx
    while at is not None:
        source = at.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            return True
        at = at.parent  # type: ignore[assignment]  # a context of click's, with the same methods
    return False


def examples(*lines: str) -> str:
    r"""An epilog of examples, one on each line (`\b` keeps the help from joining them)."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Page(TyperCommand):
    """A command whose help is for people: arguments by name, without the types of Python."""

    def get_params(self, ctx: Any) -> Any:
        """All arguments and options, converted without pydantic."""
        return lighten(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] ID TAG...`."""
        del ctx
        names = (f"{_name(param)}..." if param.nargs == -1 else _name(param) for param in _arguments(self))
        return ["[OPTIONS]", *names]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments and the command's own options; the global ones are in the help of `engine`."""
        arguments = [(_name(param), param.help or "") for param in _arguments(self)]
        options = [
            param.get_help_record(ctx)
            for param in self.get_params(ctx)
            if param.param_type_name == "option" and param.name not in GLOBAL_OPTIONS | {"help"}
        ]
        for heading, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        formatter.write_paragraph()
        formatter.write_text("Also --json, --store URL and the other options of `engine --help`.")


def _arguments(command: Any) -> list[Any]:
    return [param for param in command.params if param.param_type_name == "argument"]


def _name(param: Any) -> str:
    return str(param.metavar) if param.required else f"[{param.metavar}]"


Function = TypeVar("Function", bound=Callable[..., int])


def command(app: typer.Typer, *lines: str, name: str | None = None) -> Callable[[Function], Function]:
    """Make a function a command of `app`, its docstring the help, `lines` the examples."""
    return app.command(name, cls=Page, epilog=examples(*lines))


def new_app() -> typer.Typer:
    """A file's own Typer, to hang its commands on."""
    return typer.Typer(rich_markup_mode=None, add_completion=False)
