"""Serves a profile through the SDK's HTTP server. Requests are checked first, and answers are escaped."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.base.json_text import dumped
from engine.mcp.definition import Fields
from engine.mcp.dispatch import THREADS, WAITING, Dispatcher
from engine.mcp.protocol import SERVER, ProtocolError

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
        chosen = dispatcher if choose is None else choose(context.request)
        call = partial(chosen.answer, context.method, context.params or {})
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


class Guard:
    """An ASGI app that checks token, path and method, in this order, before `app` runs."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Put the checks in front of `app`, for clients that send `token`."""
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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

    def _refusal(self, scope: Scope) -> Response | None:
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

    def __init__(self, send: Send) -> None:
        """Send the escaped response to `send`."""
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
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
