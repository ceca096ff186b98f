"""The command hooks: gives the memory to the sessions of a client, and takes in what is said in them."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from backends.sealed import COMMAND, FILE
from engine.base.errors import EngineError, InvalidInputError
from engine.base.json_text import encode
from engine.cli import hook_process
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Positive, command
from engine.cli.mcp_command import absolute
from engine.cli.shared_options import one_of
from engine.cli.shown_parts import line

ACTIONS = ("install", "uninstall", "list", "run", "forget")
TEMPORARY = ("uvx", "pipx")
"""The programs that start memroot in an environment that may be gone later."""


@command(
    "engine hooks install claude-code --dry-run",
    "engine hooks install claude-code --store notes",
    "engine hooks list",
    "engine hooks uninstall claude-code",
)
def hooks(
    session: Session,
    action: str,
    client: str | None = None,
    *,
    budget: Positive | None = None,
    project: bool = False,
    dry_run: bool = False,
) -> int:
    """Give the memory to the sessions of a client, and take in what is said.

    install adds hooks to the configuration of the client: at the start of a session, it is given what was
    said last in the project; a prompt is given what recall finds, if that is about the prompt; and the new
    turns are taken in after each answer, before a compaction and at the end. Other entries and comments stay,
    and the file is copied before. uninstall removes the hooks again. list shows for which clients hooks are
    installed. run is what the client calls, with an event as JSON on stdin: it ends within 0.3 s and with
    exit code 0, whatever happens. To unlock a sealed store takes longer, so its hooks work only while
    `engine mcp` runs on it.

    For each text that a session is given, a receipt is written to the data folder of the user. By the
    receipts, the text is not taken in again from the transcript, and `engine why` shows who was given it.
    forget deletes all receipts of the store; with ENGINE_RECEIPTS=off, none are written.

    Args:
        action: The action: install, uninstall, list, run or forget.
        client: The client: claude-code, codex, cursor or gemini-cli.
        budget: The tokens that a session is given at once. [default: 400]
        project: Use the configuration of the project in the current folder.
    """
    one_of(ACTIONS, action, "action")
    if action == "run":
        hook_process.run(client or "", absolute(session.setting.url), budget or hook_process.BUDGET)
    if action == "forget":
        from engine.capture.served import forget

        with session.engine() as engine:
            gone = forget(engine.store)
        return session.out.answer({"receipts": gone}, [line("receipts", f"{gone:,} deleted")])
    # Imported late: a hook has little time.
    from engine.mcp.client_hooks import FILES, Hooks, add_hooks, hooks_in, remove_hooks

    if action == "list":
        places = [(name, one) for name, one in FILES.items() if client in {None, name}]
        files = [(name, one.project_file() if project else one.user_file()) for name, one in places]
        found = []
        for name, file in files:
            try:
                found.append(hooks_in(name, file))
            except EngineError as error:  # the other clients are shown
                found.append(Hooks(name, str(file), (), "", str(error)))
            _say_server(session, name, needed=bool(found[-1].events))
        said = (
            f"{', '.join(one.events)}: {one.command}" if one.events else one.error or "no hooks"
            for one in found
        )
        lines = [line(one.client, each) for one, each in zip(found, said, strict=True)]
        return session.out.answer(encode(found), lines)
    if client is None:
        raise InvalidInputError(f"{action} needs the name of a client", hint=f"one of: {', '.join(FILES)}")
    one_of(FILES, client, "client")
    file = FILES[client].project_file() if project else FILES[client].user_file()
    if action == "uninstall":
        done = remove_hooks(client, file, dry_run=dry_run)
        note = "removed" if done.changed else "nothing to do: there are no hooks"
    else:
        words = _command(client, absolute(session.setting.url), budget)
        done = add_hooks(client, file, words, dry_run=dry_run)
        note = f"added; {FILES[client].title}: {FILES[client].restart}" if done.changed else "nothing to do"
    session.out.note(f"would be {note}" if dry_run and done.changed else note)
    _say_server(session, client, needed=action == "install")
    if action == "install" and (os.environ.get(FILE) or os.environ.get(COMMAND)):
        session.out.note(
            "the command of a hook has no key: to unlock a sealed store takes longer than a hook may last, "
            "so its hooks work only while `engine mcp` runs on it"
        )
    backup = [] if done.backup is None else [line("backup", done.backup)]
    return session.out.answer(encode(done), [line("file", done.file), *backup])


def _say_server(session: Session, client: str, *, needed: bool) -> None:
    from engine.mcp.client_hooks import has_server

    if needed and not has_server(client):
        session.out.note(
            f"{client} has no MCP server of the memory: without one, a hook opens the store itself and may "
            f"not answer in time; `engine mcp install {client}` adds it"
        )


def _command(client: str, store: str, budget: int | None) -> str:
    """Return the command line of a hook, for the shell of the client."""
    from engine.mcp.client_install import program

    own = [sys.executable, "-P", str(Path(hook_process.__file__).resolve()), client, store]
    words = [*own, *([] if budget is None else [str(budget)])]
    if Path(started := program()[0]).name in TEMPORARY:
        options = ["--store", store, *([] if budget is None else ["--budget", str(budget)])]
        words = [started, *program()[1:], "hooks", "run", client, *options]
    return shlex.join(words)
