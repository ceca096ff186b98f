"""The command mcp: serves a memory over the Model Context Protocol, or adds the server to a client."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypedDict, Unpack

from backends import locate, store_exists
from backends.sealed import COMMAND, FILE
from engine.base.errors import InvalidInputError, translated
from engine.base.json_text import encode
from engine.capture.hook_door import listen
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.hook_process import BUDGET
from engine.cli.shared_options import one_of
from engine.cli.shown_parts import line, shown
from engine.mcp.profiles import profile_of, screened, writing
from engine.memory.lease import DEFAULT_WAIT, Lease
from engine.memory.memory_settings import VARIABLE, find_mirror, find_secrets_for_agents, find_sync
from engine.memory.open_memory import engine_opener

DEFAULT_ACTOR = "agent"
SAVING_SECONDS = 5.0
"""The time after which no further part of a transcript is begun for one hook."""


class Entry(TypedDict):
    """The options of `engine mcp install`.

    Args:
        name: For install: the name of the server in the client. [default: memory]
        project: For install: write to the project in the current folder.
        replace: For install: replace a different entry that has the same name.
        printed: `--print` For install: print the entry, and write nothing.
    """

    name: str | None
    project: bool
    replace: bool
    printed: bool


@command(
    "engine mcp",
    "engine mcp --read-only --store notes",
    "engine mcp install claude-code --store notes",
    "engine mcp install cursor --project --read-only --print",
)
def mcp(
    session: Session,
    action: str | None = None,
    client: str | None = None,
    *,
    read_only: bool = False,
    profile: str = "memory",
    mode: str | None = None,
    **entry: Unpack[Entry],
) -> int:
    """Serve the memory to agents over MCP, or install the server in a client.

    Uses the Model Context Protocol over stdin and stdout, and writes the log to stderr. `engine serve` offers
    the same tools over HTTP.

    The store is open only during calls, so that other commands and servers can use it; it is created if it is
    missing. A call waits up to --wait seconds (default: 10) for a store that is in use.

    Passwords and keys in texts are redacted before the texts are stored, unless --secrets is off.

    install lets a client start the server on this store. A copy of the client's file is kept as FILE.bak.
    ENGINE_KEY_FILE and ENGINE_KEY_COMMAND, if they are set, become a part of the entry. Exit code 6: the
    client has a different entry of this name.

    Args:
        action: The action: install; without it, the server runs.
        client: For install: claude-desktop, claude-code, cursor, vs-code, codex, gemini-cli, windsurf or zed.
        read_only: Offer only the tools that change nothing, and never create a store.
        profile: The set of tools: memory or reference.
    """
    policy = find_secrets_for_agents(mode)
    served = screened(
        profile_of(profile, read_only=read_only), policy if isinstance(policy, str) else policy.mode
    )
    if action is not None:
        one_of(("install",), action, "action")
        return install_server(session, client, read_only=read_only, profile=profile, mode=mode, **entry)
    if any(value not in (None, False) for value in entry.values()):
        raise InvalidInputError("--name, --project, --replace and --print can only be used with install")
    refused = writing(profile) if read_only else ()
    _log_to_stderr()
    actor = session.actor if "actor" in session.given else DEFAULT_ACTOR
    wait = session.wait if "wait" in session.given else DEFAULT_WAIT
    mirror = None if read_only else find_mirror(session.store, session.memory)
    folder = find_sync(session.store, session.memory)
    opener = engine_opener(
        session.setting.url, actor, create=not read_only, mirror=mirror, secrets=policy, sync=folder
    )
    from engine.mcp.stdio import serve

    lease = Lease(opener, wait)
    if not read_only:
        with suppress(InvalidInputError):  # no hook can open a store in memory
            url = absolute(session.setting.url)
            listen(url, partial(_handle, lease), partial(_prepare, lease, url))
    serve(served, lease, refused)
    return 0


def _handle(lease: Lease, client: str, budget: int, value: Any) -> tuple[str, Callable[[], object] | None]:
    """Answer a hook. Receipts are written and turns taken in after the answer: the session need not wait."""
    # Imported late: a server without hooks does not need it.
    from engine.capture.hook_events import SAVE, answer_to, event_of, take_in

    event = event_of(client, value)

    def later() -> None:
        with lease.memory() as engine:
            take_in(engine.view, event, time.monotonic() + SAVING_SECONDS)

    if event.action == SAVE:
        return "", later
    with lease.memory() as engine:
        return answer_to(engine.view, event, budget)


def _prepare(lease: Lease, url: str) -> None:
    """Load what a prompt needs, by searching for one: the first real prompt waits only for its answer."""
    if store_exists(url):
        _handle(lease, "claude-code", BUDGET, {"hook_event_name": "UserPromptSubmit", "prompt": "memory"})


class _Harmless(logging.Formatter):
    """A log formatter that escapes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return shown(super().format(record))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Harmless("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def install_server(
    session: Session,
    given: str | None,
    *,
    read_only: bool,
    profile: str,
    mode: str | None,
    **wanted: Unpack[Entry],
) -> int:
    """Add the server to the configuration of the client `given`, or print the entry; return the exit code.

    Raises:
        InvalidInputError: the client is unknown, the store is in memory, or the file is malformed.
        ConflictError: the file has a different entry with this name.
    """
    # Imported late: the server itself does not need these modules, and its first answer must come soon.
    from engine.mcp.client_install import CLIENTS, NAME, client_of, install, program, snippet

    if given is None:
        raise InvalidInputError("install needs the name of a client", hint=f"one of: {', '.join(CLIENTS)}")
    name = "memory" if wanted["name"] is None else wanted["name"]
    if not NAME.fullmatch(name):
        raise InvalidInputError("--name takes at most 64 of the characters A-Z a-z 0-9 _ -")
    client = client_of(given)
    options = [*_options(session, read_only=read_only, profile=profile, mode=mode)]
    entry = client.entry([*program(), "mcp", *options], environment(session.setting.url))
    file = client.project_file() if wanted["project"] else client.user_file()
    data = {"client": client.title, "file": str(file), "entry": entry}
    if wanted["printed"]:
        session.out.note(f"add this to {file}")
        return session.out.answer(data, [snippet(client, name, entry)])
    done = install(client, file, name, entry, replace=wanted["replace"])
    said = "nothing to do: the entry is there already"
    if done.changed:
        said = "replaced" if done.replaced else "added"
    session.out.note(f"{said}; {client.title}: {client.restart}" if done.changed else said)
    shown = [line("client", client.title), line("file", done.file), line("store", entry["env"][VARIABLE])]
    backup = [] if done.backup is None else [line("backup", done.backup)]
    return session.out.answer(data | encode(done), [*shown, *backup])


def _options(session: Session, *, read_only: bool, profile: str, mode: str | None) -> list[str]:
    """Return the server options that the user gave, for the client's entry."""
    words = ["--read-only"] if read_only else []
    words += ["--profile", profile] if profile != "memory" else []
    words += ["--secrets", mode] if mode is not None else []
    for name in ("actor", "wait"):
        words += [f"--{name}", str(getattr(session, name))] if name in session.given else []
    return words


def environment(url: str) -> dict[str, str]:
    """Return the variables of the entry: the store, and where the key of a sealed store comes from."""
    made = {VARIABLE: absolute(url)}
    if file := os.environ.get(FILE):
        made[FILE] = os.path.abspath(file)  # noqa: PTH100  links stay links
    if line := os.environ.get(COMMAND):
        made[COMMAND] = line
    return made


def absolute(url: str) -> str:
    """Return the URL of a store with a full path, because clients start the server in other folders.

    Raises:
        InvalidInputError: the store is in memory.
    """
    with translated():
        location = locate(url)
        if location.kind == "postgresql":
            return url
        place = location.file
        if place is None:
            raise InvalidInputError(
                "a store in memory would be empty whenever the client starts the server",
                hint="name a store with --store",
            )
        return f"{location.scheme}:{place}"
