"""The Model Context Protocol over HTTP: in a service, with its tokens and scopes, or for one memory.

A service answers at `/mcp` and `/mcp/{memory}`. The server of `engine mcp --http` serves one memory to
programs on the same machine that have its token, and listens on loopback only. Neither has sessions or
streams: each POST contains one message and gets one JSON answer.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette import types as asgi
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from engine.base.errors import EngineError, RefusedError, SystemFailureError
from engine.base.json_text import dumped
from engine.base.scopes import Scope
from engine.engine import Engine
from engine.mcp.dispatch import THREADS, WAITING, Dispatcher
from engine.mcp.mcp_protocol import SERVER, ProtocolError
from engine.mcp.profiles import profile_of, screened, writing
from engine.mcp.tool_definition import Fields, Profile, Tool
from engine.mcp.wire import LINE_BYTES_MAX
from engine.memory.lease import Lease
from engine.service.listening import Limits, Settings, listening
from engine.service.operation_calls import Calls, for_client, problem
from engine.service.served_memories import UNNAMED, Memories
from engine.service.server import run

PROFILE: Final = "memory"
DISPATCHERS_MAX: Final = 256
"""The number of dispatchers that are kept: one for each memory, actor and permission to write."""

_CHOSEN: Final = "memroot.dispatcher"
"""The name in the ASGI scope of the dispatcher for a request."""

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


class _Used:
    """A memory in the form that a dispatcher expects: it is opened when a tool needs it."""

    def __init__(self, memories: Memories, name: str, actor: str) -> None:
        self._memories, self._name, self._actor = memories, name, actor

    @contextmanager
    def memory(self) -> Iterator[Engine]:
        """Yield the memory, with the name of the token as the actor."""
        try:
            with self._memories.use(self._name) as engine:
                yield engine.acting_as(self._actor)
        except SystemFailureError as error:
            raise for_client(error) from None


class Agents:
    """The ASGI endpoint for MCP. Like the rest of the service, it keeps no sessions."""

    def __init__(self, calls: Calls, mode: str) -> None:
        """Serve the memories of `calls`.

        `mode` is the treatment of secrets, which the descriptions of the tools state.
        """
        self._calls = calls
        self._mode = mode
        self._lock = threading.Lock()
        self._dispatchers: OrderedDict[tuple[str, str, bool], Dispatcher] = OrderedDict()
        first = self._made(UNNAMED, "", writes=False)
        self._manager = StreamableHTTPSessionManager(
            app=server_of(first, _chosen), json_response=True, stateless=True, security_settings=None
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the SDK's background tasks while the service runs."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        """Answer one request (ASGI)."""
        request = Request(scope, receive)
        try:
            dispatcher = await self._dispatcher(request)
        except EngineError as error:
            await problem(error)(scope, receive, send)
            return
        await self._manager.asgi_app({**scope, _CHOSEN: dispatcher}, receive, Escaping(send))

    async def _dispatcher(self, request: Request) -> Dispatcher:
        """Return the dispatcher for the token and the memory of a request.

        Raises:
            UnauthorizedError: There is no valid token.
            ForbiddenError: The token does not permit to read the memory.
        """
        calls = self._calls
        memory: str = request.path_params.get("memory", UNNAMED)
        grant = await calls.grant_of(request)
        calls.access.require(grant, Scope.READ, memory)
        writes = grant.allows(Scope.WRITE, memory) and not calls.memories.read_only
        key = (memory, grant.name, writes)
        with self._lock:
            dispatcher = self._dispatchers.get(key)
            if dispatcher is None:
                dispatcher = self._dispatchers[key] = self._made(memory, grant.name, writes=writes)
            self._dispatchers.move_to_end(key)
            if len(self._dispatchers) > DISPATCHERS_MAX:
                self._dispatchers.popitem(last=False)
        return dispatcher

    def _made(self, memory: str, actor: str, *, writes: bool) -> Dispatcher:
        profile = screened(profile_of(PROFILE, read_only=not writes), self._mode)
        return Dispatcher(
            profile,
            _Used(self._calls.memories, memory, actor),
            () if writes else writing(PROFILE),
            cause=f"the {'service is read-only' if self._calls.memories.read_only else 'token only reads'}",
            remedy="a token with the scope write can write if `engine serve` was started with --write",
        )


def _chosen(request: Any) -> Dispatcher:
    dispatcher: Dispatcher = request.scope[_CHOSEN]
    return dispatcher


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
        from engine.base.outside_files import read_file

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


def _app(profile: Profile, lease: Lease, refused: tuple[Tool, ...], token: str) -> asgi.ASGIApp:
    from mcp.server.transport_security import TransportSecuritySettings

    app = server_of(Dispatcher(profile, lease, refused)).streamable_http_app(
        json_response=True,
        stateless_http=True,
        # The server checks Host and Origin before this program runs.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return TokenGuard(app, token)


PATH: Final = "/mcp"

Context = ServerRequestContext[Any, Any]


def server_of(dispatcher: Dispatcher, choose: Callable[[Any], Dispatcher] | None = None) -> Server[Any]:
    """Return an SDK server that forwards requests to a dispatcher.

    Args:
        dispatcher: The dispatcher. It also gives the instructions and the names of the methods.
        choose: A function that returns the dispatcher for one HTTP request; it must have the same methods. If
            None, `dispatcher` answers all requests.
    """
    limiter: list[anyio.CapacityLimiter] = []

    async def answer(context: Context, params: types.RequestParams) -> Fields:
        del params  # the dispatcher checks the params
        answering = dispatcher if choose is None else choose(context.request)
        call = partial(answering.answer, context.method, context.params or {})
        try:
            if context.method not in WAITING:
                return call()
            if (
                not limiter
            ):  # created late: it belongs to an event loop, which does not exist before the first request
                limiter.append(anyio.CapacityLimiter(THREADS))
            return await anyio.to_thread.run_sync(call, limiter=limiter[0])
        except ProtocolError as error:
            raise MCPError(error.code, error.message, error.data) from error

    server: Server[Any] = Server(
        SERVER["name"], version=SERVER["version"], instructions=dispatcher.profile.instructions
    )
    # The SDK answers the handshake itself, because it keeps the state of connections.
    for method in dispatcher.methods - {"initialize", "ping", "server/discover"}:
        server.add_request_handler(method, types.RequestParams, answer)
    return server


class TokenGuard:
    """An ASGI app that checks token, path and method, in this order, before `app` runs."""

    def __init__(self, app: asgi.ASGIApp, token: str) -> None:
        """Put the checks in front of `app`, for clients that send `token`."""
        self._app = app
        self._token = token

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        """Handle one request (ASGI)."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, Escaping(send))

    def _refusal(self, scope: asgi.Scope) -> Response | None:
        if not _is_bearer(Headers(scope=scope).get("authorization"), self._token):
            return PlainTextResponse(
                "A token is required", 401, {"WWW-Authenticate": 'Bearer realm="memroot"'}
            )
        scope["state"]["token"] = "mcp"  # noqa: S105  a name, for the server's list of connections
        if scope["path"] != PATH:
            return PlainTextResponse("Not found", 404)
        if scope["method"] != "POST":
            return PlainTextResponse("Only POST is allowed", 405, {"Allow": "POST"})
        return None


def _is_bearer(header: str | None, token: str) -> bool:
    """Return True if an Authorization header (RFC 6750) has the token. The comparison takes constant time."""
    scheme, _, given = (header or "").partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode())
    return same and scheme.lower() == "bearer"


class Escaping:
    """A JSON response in which `<` and control characters are escaped, as in messages over stdout."""

    def __init__(self, send: asgi.Send) -> None:
        """Send the escaped response to `send`."""
        self._send = send
        self._start: asgi.Message | None = None
        self._body = bytearray()

    async def __call__(self, message: asgi.Message) -> None:
        """Send one message of the response (ASGI)."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.startswith("application/json"):
                self._start = message
                return
        elif self._start is not None:
            self._body += message.get("body", b"")
            if message.get("more_body"):
                return
            body = dumped(json.loads(self._body)).encode() if self._body else b""
            MutableHeaders(raw=self._start["headers"])["content-length"] = str(len(body))
            await self._send(self._start)
            message = {"type": "http.response.body", "body": body}
        await self._send(message)
