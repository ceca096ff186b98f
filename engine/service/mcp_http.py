"""The server of `engine mcp --http`: one memory for programs on the same machine that have the token.

It listens on loopback only and requires a bearer token. There is no session and no stream: each POST to /mcp
contains one message and gets one JSON answer.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp

from engine.base.errors import RefusedError
from engine.mcp.definition import Profile, Tool
from engine.mcp.dispatch import Dispatcher
from engine.mcp.server import PATH, Guard, server_of
from engine.mcp.wire import LINE_BYTES_MAX
from engine.memories.lease import Lease
from engine.service.listening import listening
from engine.service.server import run
from engine.service.settings import Limits, Settings

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""The hosts on which the server listens. All other hosts are refused."""

END_SECONDS: Final = 1

LIMITS: Final = Limits(
    connections=200, connections_of_peer=200, body_bytes=LINE_BYTES_MAX, stop_seconds=END_SECONDS
)

VARIABLE: Final = "ENGINE_MCP_TOKEN"

_TOKEN_CHARS_MIN: Final = 16
"""The minimum length of a token in characters; a shorter token could be guessed."""

_TOKEN: Final = re.compile(rf"[A-Za-z0-9._~+/=-]{{{_TOKEN_CHARS_MIN},1024}}")
_FILE_BYTES_MAX: Final = 2048


def serve_mcp(
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
            hint="use 127.0.0.1, ::1 or localhost; for other machines, use `engine serve`",
        )
    token, is_new = _token(token_file)
    try:
        with listening(Settings(host=host, port=port, limits=LIMITS)) as listener:

            def ready() -> None:
                note(f"serving {profile.name} on {listener.url}{PATH}")
                if is_new:
                    note(f"token (shown only once): {token}")

            run(_app(profile, lease, refused, token), listener, ready)
    finally:
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


def _app(profile: Profile, lease: Lease, refused: tuple[Tool, ...], token: str) -> ASGIApp:
    from mcp.server.transport_security import TransportSecuritySettings

    app = server_of(Dispatcher(profile, lease, refused)).streamable_http_app(
        json_response=True,
        stateless_http=True,
        # The server checks Host and Origin before this program runs.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, token)
