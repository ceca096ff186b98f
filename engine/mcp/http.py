"""The optional HTTP server for programs on the same machine that have the token.

The server listens on loopback only, requires a bearer token, and checks the headers Host and Origin against
its address (to prevent DNS rebinding). There is no CORS, no session and no stream: each POST to /mcp contains
one message and gets one JSON answer.
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
"""Host name → the loopback address on which the server then listens. All other hosts are refused."""

CONNECTIONS_MAX: Final = 64
"""The maximum number of simultaneous connections; further connections get status 503."""

END_SECONDS: Final = 1

VARIABLE: Final = "ENGINE_MCP_TOKEN"

_TOKEN_CHARS_MIN: Final = 16
"""The minimum length of a token in characters; a shorter token could be guessed."""

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
    """Serve until SIGTERM or SIGINT; then close the store.

    Args:
        profile: The tools, resources and prompts to offer.
        lease: The store.
        refused: The names of tools that are not offered. Calls of these tools are refused.
        host: 127.0.0.1, ::1 or localhost.
        port: The port; 0 chooses a free port.
        token_file: The file with the token. If None, the token is the value of ENGINE_MCP_TOKEN. If
            that is not set, a new token is created and shown once.
        note: A function that shows a text to the person who started the server.

    Raises:
        RefusedError: the host is not loopback, the token is too weak, or other users can read the token file.
        EngineError: the port is not available.
    """
    if host not in LOOPBACK:
        raise RefusedError(
            f"{host!a} is not a loopback address",
            hint="use 127.0.0.1, ::1 or localhost; for other machines, put a proxy with TLS in front",
        )
    token, is_new = _token(token_file)
    listening = _listen(LOOPBACK[host], port)
    try:
        bound = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        note(f"serving {profile.name} on http://{shown}:{bound}/mcp")
        if is_new:
            note(f"token (shown only once): {token}")
        _run(_app(profile, lease, refused, bound, token), listening)
    finally:
        listening.close()
        lease.close(END_SECONDS)


def _token(file: Path | None) -> tuple[str, bool]:
    """Return the token, and True if the token was newly created.

    The token is read from `file` or, without a file, from the environment. If neither is given, a random
    token is created.

    Raises:
        RefusedError: the token is too short or has invalid characters, or other users can read the file.
        NotFoundError: the file does not exist.
    """
    if file is not None:
        from engine.trust.notes.files import read_file

        raw = read_file(file, _FILE_BYTES_MAX)
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise RefusedError(f"other users can read {file}", hint=f"run `chmod 600 {file}`")
        return _checked(raw.decode("utf-8", "replace").strip(), str(file)), False
    given = os.environ.get(VARIABLE)
    return (secrets.token_urlsafe(32), True) if given is None else (_checked(given, VARIABLE), False)


def _checked(token: str, where: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise RefusedError(
            f"{where} is not a valid token: it must have {_TOKEN_CHARS_MIN} or more characters, each "
            "a letter, a digit or one of `._~+/=-`",
            hint="omit the token to have a new one created",
        )
    return token


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        # From now on, connections are queued until the server answers them.
        listening.listen(CONNECTIONS_MAX)
    except OSError as error:
        listening.close()
        raise EngineError(
            f"cannot listen on port {port} of {address}: {error.strerror}", hint="choose another port, or 0"
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
    # The server stops at SIGTERM or SIGINT and raises the signal again; that is not a failure.
    with at_end(lambda: None):
        uvicorn.Server(config).run(sockets=[listening])
