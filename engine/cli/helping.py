"""The command help: the same texts as --help, or the whole tree as data for a program."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engine.base.errors import NotFoundError
from engine.base.version import __version__
from engine.cli.pages import GLOBAL_OPTIONS, command, new_app, running
from engine.cli.tree import COMMANDS, GROUPS, LazyGroup

app = new_app()

EXIT_CODES = {
    0: "ok",
    1: "failure",
    2: "usage",
    3: "not found",
    4: "verification failed",
    5: "busy",
    6: "conflict",
    7: "refused",
    8: "partial import",
    9: "rollback or fork",
    130: "interrupted",
}


@command(app, "engine help", "engine help recall", "engine help --json", name="help")
def help_(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="COMMAND", help="The command to explain.")] = None,
) -> int:
    """Show help; with --json, the whole command tree."""
    session = running(ctx)
    top: Any = ctx.find_root()
    group = top.command
    if name is not None and name not in COMMANDS:
        raise NotFoundError(f"there is no command {name!r}", hint="`engine help` lists them all")
    wanted = list(COMMANDS) if name is None else [name]
    data = {
        "version": __version__,
        "global_options": [_option(param) for param in group.params if param.opts],
        "exit_codes": {str(code): meaning for code, meaning in EXIT_CODES.items()},
        "commands": [_described(group, top, one) for one in wanted] if session.out.json else [],
    }
    text = group.get_help(top) if name is None else _page(group, top, name)
    return session.out.answer(data, [text], count=len(wanted))


def _page(group: LazyGroup, top: Any, name: str) -> str:
    found = group.get_command(top, name)
    with found.make_context(name, [], parent=top, resilient_parsing=True) as ctx:
        return str(found.get_help(ctx))


def _described(group: LazyGroup, top: Any, name: str) -> dict[str, Any]:
    """One command as data."""
    found = group.get_command(top, name)
    own = [param for param in found.params if param.name not in GLOBAL_OPTIONS]
    heading = next(heading for heading, commands in GROUPS.items() if name in commands)
    lines = (found.epilog or "").splitlines()
    return {
        "name": name,
        "group": heading,
        "summary": COMMANDS[name][1],
        "help": found.help,
        "arguments": [_argument(param) for param in own if param.param_type_name == "argument"],
        "options": [_option(param) for param in own if param.param_type_name == "option"],
        "examples": [line.strip() for line in lines if line.startswith("  ")],
    }


def _argument(param: Any) -> dict[str, Any]:
    return {
        "name": param.metavar,
        "required": param.required,
        "repeatable": param.nargs == -1,
        "help": param.help,
    }


def _option(param: Any) -> dict[str, Any]:
    default = param.default if isinstance(param.default, (str, int, float, bool)) else None
    return {
        "names": list(param.opts),
        "value": None if param.is_flag else param.metavar,
        "repeatable": param.multiple,
        "default": default,
        "help": param.help,
    }
