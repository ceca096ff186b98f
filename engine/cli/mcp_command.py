"""The command mcp: serves a memory over the Model Context Protocol, or adds the server to a client."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any, Final

import click

from backends import locate
from engine.base.errors import InvalidInputError, translated
from engine.cli.cli_output import plain
from engine.cli.cli_session import Session
from engine.cli.command_declaration import argument, command, option
from engine.cli.shared_options import one_of, secrets_mode
from engine.cli.shown_parts import line, shown
from engine.mcp.profiles import profile_of, screened, writing
from engine.memory.lease import DEFAULT_WAIT, Lease
from engine.memory.memory_settings import VARIABLE, find_mirror, find_secrets_for_agents
from engine.memory.open_memory import engine_opener

DEFAULT_ACTOR = "agent"
LOOPBACK = "127.0.0.1"
NO_ENTRY: Final[dict[str, Any]] = {"name": "memory", "project": False, "replace": False, "printed": False}
"""The default options of install."""


@command(
    "engine mcp",
    "engine mcp --read-only --store notes",
    "ENGINE_MCP_TOKEN=… engine mcp --http 8765",
    "engine mcp install claude-code --store notes",
    "engine mcp install cursor --project --read-only --print",
)
@argument("action", "ACTION", "The action: install; without it, the server runs.", required=False)
@argument(
    "client",
    "CLIENT",
    "For install: claude-desktop, claude-code, cursor, vs-code, codex, gemini-cli, windsurf or zed.",
    required=False,
)
@option("--read-only", help="Offer only the tools that change nothing, and never create a store.")
@option("--profile", metavar="NAME", default="memory", help="The set of tools: memory or reference.")
@secrets_mode
@option(
    "port",
    "--http",
    metavar="PORT",
    type=click.IntRange(0, 65_535),
    help="Serve http://HOST:PORT/mcp instead of stdin and stdout; port 0 chooses a free port.",
)
@option(
    "--host", metavar="HOST", default=LOOPBACK, help="The address for --http: 127.0.0.1, ::1 or localhost."
)
@option(
    "--token-file",
    metavar="FILE",
    help="The file with the token that HTTP clients must send. [default: ENGINE_MCP_TOKEN, or a new token]",
)
@option(
    "--name",
    metavar="NAME",
    default=NO_ENTRY["name"],
    help="For install: the name of the server in the client.",
)
@option("--project", help="For install: write to the project in the current folder, not to the user's file.")
@option("--replace", help="For install: replace a different entry that has the same name.")
@option("printed", "--print", help="For install: print the entry, and write nothing.")
def mcp(
    session: Session,
    action: str | None,
    client: str | None,
    read_only: bool,
    profile: str,
    mode: str | None,
    port: int | None,
    host: str,
    token_file: str | None,
    **entry: Any,
) -> int:
    """Serve the memory to agents over MCP, or install the server in a client.

    Uses the Model Context Protocol over stdin and stdout. With --http, uses a port of this machine instead,
    and clients need the token. Only messages of the protocol are written to stdout; the log is written to
    stderr.

    The server opens the store when a call needs it, and closes the store between calls, so that other
    commands and servers can use it. A missing store is created. A call waits up to --wait seconds (default:
    10) for a store that is in use.

    A password or a key in a text is redacted before the text is stored, and agents are told so.
    `--secrets off` stores texts unchanged.

    install writes an entry to the configuration of a client, so that the client starts the server on this
    store. A copy of the file is kept as FILE.bak. Exit code 6: the client has a different entry of this name.
    """
    policy = find_secrets_for_agents(mode)
    served = screened(
        profile_of(profile, read_only=read_only), policy if isinstance(policy, str) else policy.mode
    )
    if action is not None:
        one_of(("install",), action, "action")
        if port is not None or token_file is not None or host != LOOPBACK:
            raise InvalidInputError("--http, --host and --token-file cannot be used with install")
        return install_server(session, client, read_only=read_only, profile=profile, mode=mode, **entry)
    if entry != NO_ENTRY:
        raise InvalidInputError("--name, --project, --replace and --print can only be used with install")
    refused = writing(profile) if read_only else ()
    _log_to_stderr()
    actor = session.actor if "actor" in session.given else DEFAULT_ACTOR
    wait = session.wait if "wait" in session.given else DEFAULT_WAIT
    mirror = None if read_only else find_mirror(session.store, session.memory)
    opener = engine_opener(session.setting.url, actor, create=not read_only, mirror=mirror, secrets=policy)
    lease = Lease(opener, wait)
    if port is None:
        from engine.mcp.stdio import serve

        if token_file is not None or host != LOOPBACK:
            raise InvalidInputError("--host and --token-file can only be used with --http PORT")
        serve(served, lease, refused)
    else:
        from engine.service.mcp_http import serve_mcp

        # This is printed even with --quiet, because a new token is not shown anywhere else.
        def note(text: str) -> None:
            click.echo(text, err=True)

        token = None if token_file is None else Path(token_file)
        serve_mcp(served, lease, refused, host=host, port=port, token_file=token, note=note)
    return 0


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
    name: str,
    project: bool,
    replace: bool,
    printed: bool,
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
    if not NAME.fullmatch(name):
        raise InvalidInputError("--name takes at most 64 of the characters A-Z a-z 0-9 _ -")
    client = client_of(given)
    options = [*_options(session, read_only=read_only, profile=profile, mode=mode)]
    entry = client.entry([*program(), "mcp", *options], {VARIABLE: _absolute(session.setting.url)})
    file = client.project_file() if project else client.user_file()
    data = {"client": client.title, "file": str(file), "entry": entry}
    if printed:
        session.out.note(f"add this to {file}")
        return session.out.answer(data, [snippet(client, name, entry)])
    done = install(client, file, name, entry, replace=replace)
    said = "nothing to do: the entry is there already"
    if done.changed:
        said = "replaced" if done.replaced else "added"
    session.out.note(f"{said}; {client.title}: {client.restart}" if done.changed else said)
    shown = [line("client", client.title), line("file", done.file), line("store", entry["env"][VARIABLE])]
    backup = [] if done.backup is None else [line("backup", done.backup)]
    return session.out.answer(data | plain(done), [*shown, *backup])


def _options(session: Session, *, read_only: bool, profile: str, mode: str | None) -> list[str]:
    """Return the server options that the user gave, for the client's entry."""
    words = ["--read-only"] if read_only else []
    words += ["--profile", profile] if profile != "memory" else []
    words += ["--secrets", mode] if mode is not None else []
    for name in ("actor", "wait"):
        words += [f"--{name}", str(getattr(session, name))] if name in session.given else []
    return words


def _absolute(url: str) -> str:
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
