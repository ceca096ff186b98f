"""The Model Context Protocol at `/mcp` and `/mcp/{memory}`, with the tokens and scopes of the service."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from engine.base.errors import EngineError, SystemFailureError
from engine.base.scope import Scope
from engine.engine import Engine
from engine.mcp.dispatch import Dispatcher
from engine.mcp.profiles import profile_of, writing
from engine.mcp.screening import screened
from engine.mcp.server import Escaping, server_of
from engine.service.answers import for_client, problem
from engine.service.calls import Calls
from engine.service.memories import UNNAMED, Memories

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
        """Serve the memories of `calls`; `mode` is the treatment of secrets, which the tools' texts tell."""
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
        """Run what the SDK needs while the service runs."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
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
            found = self._dispatchers.get(key)
            if found is None:
                found = self._dispatchers[key] = self._made(memory, grant.name, writes=writes)
            self._dispatchers.move_to_end(key)
            if len(self._dispatchers) > DISPATCHERS_MAX:
                self._dispatchers.popitem(last=False)
        return found

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
    found: Dispatcher = request.scope[_CHOSEN]
    return found
