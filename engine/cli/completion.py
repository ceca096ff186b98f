"""Shell completion: the options --install-completion and --show-completion."""

from __future__ import annotations

import os
from pathlib import Path

import click

from engine.base.errors import InvalidInputError
from engine.cli.session import Session

VARIABLE = "_ENGINE_COMPLETE"
"""The environment variable that completion scripts set to request completions (for both command names)."""

_FILES = {
    "bash": ".bash_completions/{name}.sh",
    "zsh": ".zfunc/_{name}",
    "fish": ".config/fish/completions/{name}.fish",
}
"""The path of the completion script for each shell and command name, relative to the home folder."""

_STARTED_BY = {
    "bash": (".bashrc", "source '{script}'"),
    "zsh": (".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
}
"""The start-up file of each shell, and the line in it that loads the script."""


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in _FILES:
        known = ", ".join(_FILES)
        raise InvalidInputError(
            f"no completion is available for the shell {name!a}, which the variable SHELL names",
            hint=f"supported shells: {known}",
        )
    return name


def _script(ctx: click.Context, shell: str) -> str:
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:  # unreachable: Click supports every shell in `_FILES`
        raise InvalidInputError(f"no completion is available for {shell}")
    return found(ctx.command, {}, str(ctx.info_name), VARIABLE).source()


def _show(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    del param
    if asked and not ctx.resilient_parsing:
        ctx.ensure_object(Session).out.exact(_script(ctx, _shell()))
        ctx.exit()


def _install(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    del param
    if not asked or ctx.resilient_parsing:
        return
    shell = _shell()
    script = Path.home() / _FILES[shell].format(name=ctx.info_name)
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_script(ctx, shell), encoding="utf-8")
    if shell in _STARTED_BY:
        name, line = _STARTED_BY[shell]
        start, line = Path.home() / name, line.format(script=script)
        if not start.exists() or line not in start.read_text(encoding="utf-8"):
            with start.open("a", encoding="utf-8") as file:
                file.write(f"\n{line}\n")
    data = {"shell": shell, "file": str(script)}
    text = f"{shell} completion installed in {script}; restart the shell to use it"
    ctx.ensure_object(Session).out.answer(data, [text])
    ctx.exit()


COMPLETION_OPTIONS: list[click.Parameter] = [
    click.Option([name], is_flag=True, is_eager=True, expose_value=False, callback=callback, help=text)
    for name, callback, text in (
        ("--install-completion", _install, "Install completion for the current shell."),
        (
            "--show-completion",
            _show,
            "Print the completion script for the current shell.",
        ),
    )
]
