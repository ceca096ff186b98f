"""The ASGI application: the addresses, and the endpoint at each.

It keeps nothing between requests except open memories, so that any number of them can serve one database.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from engine.base.errors import EngineError
from engine.clients.wire.operations import operations
from engine.service.access import Access
from engine.service.guard import Metrics
from engine.service.long_answers import Following, WholeJournal
from engine.service.mcp_http import Agents
from engine.service.openapi import document
from engine.service.operation_calls import (
    Calls,
    answer,
    on_disconnect,
    on_engine_error,
    on_failure,
    on_http_error,
)
from engine.service.served_memories import Memories
from engine.service.service_endpoints import PATHS, Health, Naming, page

if TYPE_CHECKING:
    from engine.commands.secrets.policy import SecretsPolicy

METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
"""The methods that reach the endpoints of a memory, which refuse those that they do not accept."""

END_SECONDS: Final = 5.0
"""The time, in seconds, that running calls get to end when the service ends."""


def application(memories: Memories, access: Access, metrics: Metrics | None = None) -> Starlette:
    """Return the application that serves memories to clients with tokens.

    It shows `metrics` at `/metrics`; the server counts in them. When the application ends, it closes the
    memories.
    """
    calls = Calls(memories, access)
    agents = Agents(calls, mode_of(memories.secrets))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        operations()  # building the table takes half a second, for which no request should wait
        async with agents.running():
            yield
        memories.close(END_SECONDS)

    naming, journal, following = Naming(calls), WholeJournal(calls), Following(calls)
    health = Health(calls, metrics or Metrics())
    memory = "/v1/memories/{memory}"
    return Starlette(
        routes=[
            Route("/v1/openapi.json", _openapi),
            _by_method("/v1/memories", GET=naming.listed, POST=naming.create),
            _by_method(memory, GET=naming.described, PATCH=naming.rename, DELETE=naming.delete),
            _by_method(f"{memory}/events", GET=following.events),
            _by_method(f"{memory}/export", GET=journal.export),
            _by_method(f"{memory}/bulk", POST=journal.bulk),
            Route(f"{memory}/{{operation}}", calls.operation, methods=METHODS),
            *(Route(path, page, methods=["GET"]) for path in PATHS),
            Route("/health", health.health),
            Route("/ready", health.ready),
            Route("/metrics", health.counted),
            Route("/mcp", agents),
            Route("/mcp/{memory}", agents),
        ],
        lifespan=lifespan,
        exception_handlers={
            EngineError: on_engine_error,
            HTTPException: on_http_error,
            ClientDisconnect: on_disconnect,
            Exception: on_failure,
        },
    )


def _by_method(path: str, **endpoints: Callable[[Request], Awaitable[Response]]) -> Route:
    """Return one route for all methods of an address. The answer to a wrong method lists the right ones."""
    accepted = (*endpoints, "HEAD") if "GET" in endpoints else tuple(endpoints)

    async def endpoint(request: Request) -> Response:
        if request.method not in accepted:
            raise HTTPException(405, headers={"allow": ", ".join(accepted)})
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, endpoint, methods=METHODS)


def mode_of(secrets: SecretsPolicy | str | None) -> str:
    """Return the mode of a secrets policy."""
    return secrets if isinstance(secrets, str) else "off" if secrets is None else secrets.mode


async def _openapi(request: Request) -> Response:
    """Answer with the description of the service, which needs no token."""
    del request
    return answer(document())
