"""A profile behind the SDK's server, for transports that are left to the SDK."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from engine.mcp.definition import Fields
from engine.mcp.dispatch import THREADS, WAITING, Dispatcher
from engine.mcp.protocol import SERVER, ProtocolError

Context = ServerRequestContext[Any, Any]


def server_of(dispatcher: Dispatcher) -> Server[Any]:
    """A server that hands requests to `dispatcher`, and sends what that answers."""
    limiter: list[anyio.CapacityLimiter] = []

    async def answer(context: Context, params: types.RequestParams) -> Fields:
        del params  # the dispatcher takes them as they came
        call = partial(dispatcher.answer, context.method, context.params or {})
        try:
            if context.method not in WAITING:
                return call()
            if not limiter:  # it belongs to an event loop, and there is none before the first request
                limiter.append(anyio.CapacityLimiter(THREADS))
            return await anyio.to_thread.run_sync(call, limiter=limiter[0])
        except ProtocolError as error:
            raise MCPError(error.code, error.message, error.data) from error

    server: Server[Any] = Server(
        SERVER["name"], version=SERVER["version"], instructions=dispatcher.profile.instructions
    )
    # The handshake stays with the SDK, which keeps its own record of connections.
    for method in dispatcher.methods - {"initialize", "ping", "server/discover"}:
        server.add_request_handler(method, types.RequestParams, answer)
    return server
