"""The command mcp."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.base.errors import InvalidInputError
from engine.cli.pages import command, new_app, running, was_given
from engine.cli.settings import find_secrets

if TYPE_CHECKING:
    from engine.cli.session import Session
    from engine.engine import Engine
    from engine.mcp.lease import Lease

app = new_app()

DEFAULT_ACTOR = "agent"
PORT_MAX = 65_535


@command(
    app,
    "engine mcp",
    "engine mcp --read-only --store notes",
    "ENGINE_MCP_TOKEN=… engine mcp --http 8765",
)
def mcp(
    ctx: typer.Context,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer only what changes nothing; never make a store.")
    ] = False,
    profile: Annotated[
        str,
        typer.Option("--profile", metavar="NAME", help="Which tools: memory, or reference."),
    ] = "memory",
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            min=0,
            max=65535,
            metavar="PORT",
            help="Serve http://HOST:PORT/mcp; 0 finds a free port.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="With --http: 127.0.0.1, ::1 or localhost.")
    ] = "127.0.0.1",
    token_file: Annotated[
        str | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="With --http: holds the token that clients must send. Else ENGINE_MCP_TOKEN, or a new one.",
        ),
    ] = None,
) -> int:
    """Serve the memory to agents over MCP.

    The Model Context Protocol, on stdin and stdout; with --http on a port of this machine, for whoever
    has the token. Nothing but the protocol is on stdout, and the log is on stderr.

    The store is opened when a call needs it, made if it is missing, and released between calls: other
    commands and servers work beside this one. A call waits up to --wait seconds (default: 10) for it.
    """
    from engine.mcp.profiles import profile_of, writing

    if http is not None and http > PORT_MAX:
        raise InvalidInputError(f"--http {http} is no port; ports end at {PORT_MAX}")
    session = running(ctx)
    served, refused = profile_of(profile, read_only=read_only), writing(profile) if read_only else ()
    _log_to_stderr()
    lease = _lease(ctx, session, create=not read_only)
    if http is None:
        from engine.mcp.stdio import serve

        if token_file is not None or host != "127.0.0.1":
            raise InvalidInputError("--host and --token-file go with --http PORT")
        serve(served, lease, refused)
    else:
        from engine.mcp.http import serve_http

        # Also with --quiet: a new token is shown nowhere else.
        def note(text: str) -> None:
            typer.echo(text, err=True)

        serve_http(
            served,
            lease,
            refused,
            host=host,
            port=http,
            token_file=None if token_file is None else Path(token_file),
            note=note,
        )
    return 0


def _lease(ctx: typer.Context, session: Session, *, create: bool) -> Lease:
    from engine.mcp.lease import DEFAULT_WAIT, Lease

    url, policy = session.setting.url, find_secrets()[0]
    actor = session.actor if was_given(ctx, "actor") else DEFAULT_ACTOR
    wait = session.wait if was_given(ctx, "wait") else DEFAULT_WAIT

    def open_store() -> Engine:
        from engine.engine import Engine

        return Engine.open(url, create=create, actor=actor, secrets=policy)

    return Lease(open_store, wait)


def _log_to_stderr() -> None:
    import logging
    import sys

    from engine.cli.output import shown

    class Harmless(logging.Formatter):
        """Lines in which nothing is left that a terminal might obey, whoever it comes from."""

        def format(self, record: logging.LogRecord) -> str:
            return shown(super().format(record))

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Harmless("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
