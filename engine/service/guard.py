"""Checks each request before the application sees it, and bounds its body.

The checks, in this order: the form of the request (400, 431, 505), the headers Host (421) and Origin (403)
against DNS rebinding, and the declared length of the body (413). A body without a declared length is
counted while it is read.
"""

from __future__ import annotations

import asyncio
import logging
import re
from http import HTTPStatus
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.service.listening import Listener
from engine.service.logs import where
from engine.service.problems import Problem
from engine.service.request_state import END, STREAM
from engine.service.settings import LOOPBACK, Settings, address_of

log: Final = logging.getLogger("engine.service")

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
BULK: Final = "/bulk"
"""The suffix of the paths whose requests are read line by line."""

_LOOPBACK: Final = (LOOPBACK, "localhost", "[::1]")


class Guard:
    """An ASGI application that lets only well-formed, expected and small requests through to another."""

    def __init__(self, app: ASGIApp, listener: Listener) -> None:
        """Guard `app`, which is reached through `listener`."""
        self._app = app
        self._names = Names(listener)
        self._limits = listener.settings.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send, self._body_bytes(scope))
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, exchange.send)
            return
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except asyncio.CancelledError:
            await exchange.fail(Problem(503, "closed", "the server is shutting down"))
        except Exception as error:  # noqa: BLE001  the last line of defence: a bug must not end the server
            # Without the message, which could quote a text or a token. An application that has answered with
            # status 500 has logged the error itself.
            if not (exchange.refused or exchange.status == HTTPStatus.INTERNAL_SERVER_ERROR):
                log.error("%s: %s", type(error).__name__, " < ".join(where(error.__traceback__)))
            await exchange.fail(Problem(500, "failure", "the server failed; its log says where"))
        finally:
            if END in scope["state"]:
                scope["state"][END]()

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = scope["headers"]
        names = [name for name, _ in headers]
        if scope["http_version"] not in {"1.0", "1.1"}:
            return _closing(505, "invalid", "the server speaks HTTP/1.1")
        if _head_bytes(scope) > self._limits.head_bytes:
            # The parser bounds a head that comes in parts, but not one that comes at once.
            return _closing(431, "limit", f"a request's head has at most {self._limits.head_bytes} bytes")
        if b"content-length" in names and b"transfer-encoding" in names:
            # Two lengths: a proxy may believe the other one (request smuggling).
            return _closing(400, "invalid", "a request has Content-Length or Transfer-Encoding, not both")
        if not scope["path"].startswith("/") or _CONTROL.search(scope["path"]):
            return _closing(400, "invalid", "the target of a request is a path without control characters")
        refusal = self._names.refusal(scope)
        if refusal is not None:
            return refusal
        # h11 has checked that there is one length, in digits.
        length = next((int(value) for name, value in headers if name == b"content-length"), 0)
        most = self._body_bytes(scope)
        return _too_large(most) if length > most else None

    def _body_bytes(self, scope: Scope) -> int:
        """Return the limit for the body of a request: a bulk request is never kept as a whole."""
        is_bulk = scope["method"] == "POST" and scope["path"].endswith(BULK)
        return self._limits.bulk_bytes if is_bulk else self._limits.body_bytes


def _too_large(most: int) -> Problem:
    """Return the refusal of a body with more than `most` bytes."""
    return Problem(413, "limit", f"the body of a request has at most {most} bytes")


def _closing(status: int, code: str, detail: str) -> Problem:
    """A refusal after which nothing more is read from the connection."""
    return Problem(status, code, detail, {"connection": "close"})


def _head_bytes(scope: Scope) -> int:
    """Return the size of the request line and the headers, as short as they can be written."""
    target = len(scope["raw_path"]) + len(scope["query_string"])
    return target + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])


class Names:
    """The names under which a server may be addressed, and the origins whose pages may use it."""

    def __init__(self, listener: Listener) -> None:
        settings: Settings = listener.settings
        self._port = listener.port
        self._hosts = frozenset(
            host.lower()
            for host in (*settings.hosts, listener.name, *(f"{name}:{listener.port}" for name in _LOOPBACK))
        )
        self._origins = frozenset(settings.origins)

    def refusal(self, scope: Scope) -> Problem | None:
        """Return why a request is refused, or None."""
        given = [value for name, value in scope["headers"] if name == b"host"]
        if len(given) != 1:
            return _closing(400, "invalid", "a request needs one header Host")
        host = given[0].decode("latin-1").lower()
        if not self._is_ours(host, scope):
            return Problem(421, "refused", "the header Host names another server")
        for name, value in scope["headers"]:
            if name == b"origin" and not self._may_use(value.decode("latin-1"), host, scope["scheme"]):
                return Problem(403, "refused", "pages of another origin may not use this server")
        return None

    def _is_ours(self, host: str, scope: Scope) -> bool:
        if host in self._hosts:
            return True
        name, colon, port = host.rpartition(":")
        if colon and port.isdecimal():
            if name in self._hosts:
                return True
        else:
            name, port = host, "443" if scope["scheme"] == "https" else "80"
        return port == str(self._port) and self._is_own_address(name, scope)

    @staticmethod
    def _is_own_address(name: str, scope: Scope) -> bool:
        """Return True for the address that the connection was made to, because DNS rebinding needs a name."""
        try:
            own = address_of(scope["server"][0])
            return not own.is_loopback and address_of(name.removeprefix("[").removesuffix("]")) == own
        except ValueError:
            return False

    def _may_use(self, origin: str, host: str, scheme: str) -> bool:
        return origin.lower() == f"{scheme}://{host}" or origin in self._origins


class _Exchange:
    """One request and its answer: counts the body, and refuses a body that is too large."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, body_bytes: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._left = body_bytes
        self._body_bytes = body_bytes
        self.status = 0
        self.refused = False

    async def receive(self) -> Message:
        """Return the next part of the request."""
        if self.refused:
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                await self.fail(_too_large(self._body_bytes))
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the application's answer."""
        if self.refused:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if dict(message["headers"]).get(b"content-type", b"").startswith(b"text/event-stream"):
                self._scope["state"][STREAM] = True
        await self._send(message)

    async def fail(self, problem: Problem) -> None:
        """Answer instead of the application.

        If the application's answer has begun, the connection cuts it off.
        """
        if not (self.status or self.refused):
            await problem(self._scope, self._receive, self._send)
        self.refused = True
