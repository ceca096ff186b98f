"""Serving over HTTP, for programs on the same machine that hold a token. Off unless asked for.

Loopback only; a bearer token always; Host and Origin checked against the port (DNS rebinding); no CORS, no
sessions, no streams: a POST of one message to /mcp is answered with one JSON value.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.base.errors import EngineError, RefusedError
from engine.base.interrupts import at_end
from engine.mcp.definition import Profile, Tool
from engine.mcp.dispatch import Dispatcher
from engine.mcp.lease import Lease

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LOOPBACK: Final = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1"}
"""What may be listened on, by the names it goes by."""

CONNECTIONS_MAX: Final = 64
"""More at once are answered with 503."""

END_SECONDS: Final = 1

VARIABLE: Final = "ENGINE_MCP_TOKEN"

_TOKEN_CHARS_MIN: Final = 16
"""A shorter token could be guessed."""

_TOKEN: Final = re.compile(rf"[A-Za-z0-9._~+/=-]{{{_TOKEN_CHARS_MIN},1024}}")
_FILE_BYTES_MAX: Final = 2048


def serve_http(
    profile: Profile,
    lease: Lease,
    refused: tuple[Tool, ...],
    *,
    host: str,
    port: int,
    token_file: Path | None,
    note: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; then release the store.

    Args:
        profile: What is offered.
        lease: The store.
        refused: Tools that are not offered, and are refused when called.
        host: 127.0.0.1, ::1 or localhost.
        port: 0 finds a free one.
        token_file: Holds the token; None: ENGINE_MCP_TOKEN does, or a new one is shown once.
        note: Shows a text to the person who started the server.

    Raises:
        RefusedError: the host is another, or the token is too weak or lies open.
        EngineError: the port cannot be had.
    """
    if host not in LOOPBACK:
        raise RefusedError(
            f"{host!a} is not this machine alone",
            hint="serve 127.0.0.1, ::1 or localhost; put a proxy with TLS before it for others",
        )
    token, is_new = _token(token_file)
    listening = _listen(LOOPBACK[host], port)
    try:
        bound = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        note(f"serving {profile.name} on http://{shown}:{bound}/mcp")
        if is_new:
            note(f"token, shown this once: {token}")
        _run(_app(profile, lease, refused, bound, token), listening)
    finally:
        listening.close()
        lease.close(END_SECONDS)


def _token(file: Path | None) -> tuple[str, bool]:
    """The token, and whether it was made just now: from the file, the environment, or chance.

    Raises:
        RefusedError: it is too short, or holds what no header may; or others can read the file.
        NotFoundError: there is no such file.
    """
    if file is not None:
        from engine.trust.notes.files import read_file

        raw = read_file(file, _FILE_BYTES_MAX)
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise RefusedError(f"others can read {file}", hint=f"chmod 600 {file}")
        return _checked(raw.decode("utf-8", "replace").strip(), str(file)), False
    given = os.environ.get(VARIABLE)
    return (secrets.token_urlsafe(32), True) if given is None else (_checked(given, VARIABLE), False)


def _checked(token: str, where: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise RefusedError(
            f"{where} holds no token: {_TOKEN_CHARS_MIN} or more letters, digits and . _ ~ + / = -",
            hint="leave it out, and a new token is made",
        )
    return token


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        # From now on whoever connects waits for an answer, also before there is one.
        listening.listen(CONNECTIONS_MAX)
    except OSError as error:
        listening.close()
        raise EngineError(
            f"port {port} of {address} cannot be listened on: {error.strerror}", hint="choose another, or 0"
        ) from error
    return listening


def _app(profile: Profile, lease: Lease, refused: tuple[Tool, ...], port: int, token: str) -> ASGIApp:
    from mcp.server.transport_security import TransportSecuritySettings

    from engine.mcp.server import Guard, server_of

    hosts = [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
    settings = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
    app = server_of(Dispatcher(profile, lease, refused)).streamable_http_app(
        json_response=True, stateless_http=True, transport_security=settings
    )
    return Guard(app, settings, token)


def _run(app: ASGIApp, listening: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_graceful_shutdown=END_SECONDS,
    )
    # The server ends at SIGTERM and SIGINT and then raises them again: that must not count as a failure.
    with at_end(lambda: None):
        uvicorn.Server(config).run(sockets=[listening])
