"""The Model Context Protocol over HTTP: a service answers at `/mcp` and `/mcp/{memory}`.

There are no sessions and no streams: each POST contains one message and gets one JSON answer.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
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

from engine.base.errors import EngineError, SystemFailureError
from engine.base.json_text import dumped
from engine.base.scopes import Scope
from engine.engine import Engine
from engine.mcp.dispatch import THREADS, WAITING, Dispatcher
from engine.mcp.mcp_protocol import SERVER, ProtocolError
from engine.mcp.profiles import profile_of, screened, writing
from engine.mcp.tool_definition import Fields
from engine.service.operation_calls import Calls, for_client, problem
from engine.service.served_memories import UNNAMED, Memories

PROFILE: Final = "memory"
DISPATCHERS_MAX: Final = 256
"""The number of dispatchers that are kept: one for each memory, actor and permission to write."""

_CHOSEN: Final = "memroot.dispatcher"
"""The name in the ASGI scope of the dispatcher for a request."""


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
