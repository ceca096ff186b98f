"""The command help: the texts of --help, or the whole command tree as JSON."""

from __future__ import annotations

from typing import Any

import click

from engine.base import __version__
from engine.base.errors import NotFoundError
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.command_tree import COMMANDS, GROUPS, Tree, build, loaded, spelled

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
    10: "failure of the system",
    11: "locked",
    130: "interrupted",
}


@command("engine help", "engine help recall", "engine help --json", name="help")
def help_(session: Session, given: str | None = None) -> int:
    """Show help; with --json, the whole command tree.

    Args:
        given: `COMMAND` The command to explain.
    """
    name = None if given is None else spelled(given)
    if given is not None and name is None:
        raise NotFoundError(f"there is no command {given!r}", hint="`engine help` lists all commands")
    tree = build()
    wanted = list(COMMANDS) if name is None else [name]
    data = {
        "version": __version__,
        "global_options": [_option(param) for param in tree.params if isinstance(param, click.Option)],
        "exit_codes": {str(code): meaning for code, meaning in EXIT_CODES.items()},
        "commands": [_described(one) for one in wanted] if session.out.json else [],
    }
    return session.out.answer(data, [_text(tree, name)], count=len(wanted))


def _text(tree: Tree, name: str | None) -> str:
    started = click.get_current_context().find_root().info_name  # engine or memroot
    with tree.make_context(started, [], resilient_parsing=True) as top:
        if name is None:
            return tree.get_help(top)
        page = loaded(name)
        with page.make_context(name, [], parent=top, resilient_parsing=True) as ctx:
            return page.get_help(ctx)


def _described(name: str) -> dict[str, Any]:
    """Describe one command as JSON types."""
    page = loaded(name)
    return {
        "name": name,
        "group": next(heading for heading, commands in GROUPS.items() if name in commands),
        "summary": COMMANDS[name][1],
        "help": page.help,
        "arguments": [
            {
                "name": one.metavar,
                "required": one.required,
                "repeatable": one.nargs == -1,
                "help": one.description,
            }
            for one in page.arguments
        ],
        "options": [_option(one) for one in page.options],
        "examples": [line.strip() for line in (page.epilog or "").splitlines() if line.startswith("  ")],
    }


def _option(param: click.Option) -> dict[str, Any]:
    # Use `isinstance`: the value for "no default" differs between versions of Click.
    default = param.default if isinstance(param.default, (str, int, float)) else None
    return {
        "names": list(param.opts),
        "value": None if param.is_flag else param.metavar,
        "repeatable": param.multiple,
        "default": bool(default) if param.is_flag else default,
        "help": param.help,
    }
