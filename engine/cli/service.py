"""The command serve, which serves memories over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.base.errors import RefusedError
from engine.base.loopback import is_loopback
from engine.base.scope import Scope
from engine.cli.command import command, option, repeated
from engine.cli.options import secrets_mode
from engine.cli.served import served_memories
from engine.cli.session import Session
from engine.memories.lease import DEFAULT_WAIT
from engine.memories.settings import find_secrets_for_agents

if TYPE_CHECKING:
    from engine.service.tokens import Tokens

DEFAULT_PORT = 8377


@command(
    "engine serve",
    "engine serve --write --store postgresql://app@db.example/memories",
    "engine serve --host 0.0.0.0 --certificate server.pem",
    "engine serve --host 10.0.0.5 --behind-proxy 10.0.0.1",
)
@option("--write", help="Let tokens with the scope write or admin change memories. [default: read only]")
@option("--host", metavar="HOST", default="127.0.0.1", help="The address to listen on.")
@option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, 65_535),
    default=DEFAULT_PORT,
    help="The port; 0 chooses a free port.",
)
@option("--certificate", metavar="FILE", help="The certificate and its chain (PEM), to serve HTTPS.")
@option("--key", metavar="FILE", help="The private key (PEM). [default: in the file of the certificate]")
@repeated(
    "proxies",
    "--behind-proxy",
    metavar="ADDRESS",
    help="A proxy whose X-Forwarded-For is believed: an address or a network. Repeatable.",
)
@option("--insecure", help="Serve plain HTTP on an address that other machines can reach.")
@repeated("hosts", "--allow-host", help="A name that the header Host may contain. Repeatable.")
@repeated(
    "origins",
    "--allow-origin",
    metavar="ORIGIN",
    help="An origin whose pages may use the service, such as https://app.example.com. Repeatable.",
)
@secrets_mode
@option(
    "rate",
    "--rate",
    metavar="N",
    type=click.FloatRange(0.01, 1_000_000),
    default=50.0,
    help="The requests of one token in a second, on average.",
)
@option(
    "--connections",
    metavar="N",
    type=click.IntRange(4, 100_000),
    default=1_000,
    help="The connections at the same time; a quarter of them from one address.",
)
@option("--quiet-requests", help="Do not log requests, only problems.")
def serve(session: Session, **given: Any) -> int:
    """Serve memories to programs and agents over HTTP.

    The service answers JSON at /v1/ and the Model Context Protocol at /mcp. GET /v1/openapi.json describes
    the addresses. It serves all memories of a folder, a file or a database; with --memory, only one.

    Each request needs a token (`engine token new`). If no token exists and only this machine can reach the
    service, it makes a token for this run. Logs are lines of JSON on stderr, without texts, queries and
    tokens. SIGTERM ends the service.
    """
    from engine.service.access import Access
    from engine.service.app import application
    from engine.service.logs import log_requests, log_to_stderr
    from engine.service.metrics import Metrics
    from engine.service.rates import Rates
    from engine.service.server import serve as run
    from engine.service.settings import Limits, Settings, network_of
    from engine.service.tokens import Tokens, log, problem_of

    limits = Limits(
        connections=given["connections"],
        connections_of_peer=given["connections"] // 4,
        requests_per_second=given["rate"],
        requests_at_once=max(1, int(given["rate"] * 2)),
    )
    settings = Settings(
        host=given["host"],
        port=given["port"],
        certificate=_path(given["certificate"]),
        key=_path(given["key"]),
        proxies=tuple(map(network_of, given["proxies"])),
        insecure=given["insecure"],
        hosts=given["hosts"],
        origins=given["origins"],
        limits=limits,
    )
    memories = served_memories(
        session,
        read_only=not given["write"],
        secrets=find_secrets_for_agents(given["mode"]),
        wait=session.wait if "wait" in session.given else DEFAULT_WAIT,
    )
    tokens = Tokens(memories.url)
    try:
        known = tokens.listed()
        first = None if known else _token_of_this_run(tokens, given["host"], write=given["write"])
        access = Access(
            tokens,
            read_only=memories.read_only,
            rates=Rates(limits.requests_per_second, limits.requests_at_once, running=limits.requests_running),
        )
        metrics = Metrics()
        log_to_stderr()

        # These lines are printed even with --quiet: a new token is not shown anywhere else.
        def note(text: str) -> None:
            click.echo(text, err=True)
            if first is not None:
                click.echo(f"token (shown only once, for this run): {first}", err=True)
            for problem in filter(None, map(problem_of, known)):
                log.warning(problem)

        observers = [] if given["quiet_requests"] else [log_requests]
        run(application(memories, access, metrics), settings, note, observers, metrics)
    finally:
        tokens.close()
    return 0


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _token_of_this_run(tokens: Tokens, host: str, *, write: bool) -> str:
    """Return a token for this run, because the table has none.

    Raises:
        RefusedError: Other machines can reach the service.
    """
    if not is_loopback(host):
        raise RefusedError(
            "there is no token, and without one the service accepts no request",
            hint="make one: engine token new NAME",
        )
    return tokens.for_this_run(Scope.WRITE if write else Scope.READ)
