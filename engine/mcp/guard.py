"""What a request over HTTP must pass before the SDK sees it, and the form in which answers leave."""

from __future__ import annotations

import json
from typing import Final

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.mcp.tokens import is_bearer
from engine.query.explore.form import dumped

PATH: Final = "/mcp"


class Guard:
    """The app behind checks of Host, Origin, token, path and method, in this order."""

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings, token: str) -> None:
        """Guard `app`; `settings` name the hosts and origins that may ask."""
        self._app = app
        self._names = TransportSecurityMiddleware(settings)
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request (ASGI)."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = await self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, _Escaping(send))

    async def _refusal(self, scope: Scope) -> Response | None:
        wrong_name = await self._names.validate_request(Request(scope))
        if wrong_name is not None:
            return wrong_name
        if not is_bearer(Headers(scope=scope).get("authorization"), self._token):
            return PlainTextResponse(
                "A token is required", 401, {"WWW-Authenticate": 'Bearer realm="memroot"'}
            )
        if scope["path"] != PATH:
            return PlainTextResponse("There is nothing here", 404)
        if scope["method"] != "POST":
            return PlainTextResponse("One message is posted", 405, {"Allow": "POST"})
        return None


class _Escaping:
    """Sends JSON with `<` and what a terminal might obey escaped, as over a pipe."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
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
