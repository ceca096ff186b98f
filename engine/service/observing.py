"""The facts about a request that an operator may see: never its path, its query, its body or its token."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.service.request_state import STATUS, TOKEN
from engine.service.settings import address_of

UNMATCHED: Final = "unmatched"
"""The route of a request for an address that does not exist, or of bytes that are not a request."""

LEFT: Final = 499
"""The status of a request whose client left before the answer began. Servers use it in logs only."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER: Final = "OTHER"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer."""

    method: str
    """The method, or `OTHER`."""

    route: str
    """The template of the path, such as `/v1/memories/{memory}/recall`."""

    status: int

    seconds: float
    """The time from the request's headers to the end of the answer."""

    sent: int
    """The bytes of the answer's body."""

    token: str
    """The name of the token, or an empty text."""

    peer: str
    """The address of the client."""


Observer = Callable[[Exchange], None]


class Observed:
    """An ASGI application that reports each request to another application to observers."""

    def __init__(self, app: ASGIApp, observers: Sequence[Observer]) -> None:
        """Report each request to `app` to `observers`."""
        self._app = app
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, sent, began = 0, 0, time.monotonic()

        async def counted(message: Message) -> None:
            nonlocal status, sent
            status = message.get("status", status)
            sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            state = scope["state"]
            exchange = Exchange(
                method=scope["method"] if scope["method"] in _METHODS else _OTHER,
                route=_route_of(scope),
                status=state.get(STATUS) or status or LEFT,
                seconds=time.monotonic() - began,
                sent=sent,
                token=state.get(TOKEN, ""),
                peer=peer_of(scope["client"]),
            )
            for observer in self._observers:
                observer(exchange)


def refused(status: int, client: tuple[str, int] | None) -> Exchange:
    """The description of bytes that are not a request."""
    return Exchange(_OTHER, UNMATCHED, status, 0.0, 0, "", peer_of(client))


def peer_of(client: tuple[str, int] | None) -> str:
    """Return the address of a client. A proxy can forward any text as the address."""
    try:
        return "" if client is None else str(address_of(client[0]))
    except ValueError:
        return ""


def _route_of(scope: Scope) -> str:
    """Return the template of the path, in which the name of a memory is left open."""
    # Starlette leaves the route that it has chosen in the scope.
    route: str = getattr(scope.get("route"), "path", UNMATCHED)
    operation = scope.get("path_params", {}).get("operation", "")
    return route.replace("{operation}", operation) if operation and _is_operation(operation) else route


def _is_operation(name: str) -> bool:
    # Loaded here: the table takes a second to build, and the server of `engine mcp` needs none.
    from engine.remote.wire.operations import operations

    return name in operations()
