"""A profile behind the SDK's server, for transports that are left to the SDK."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from engine.mcp.definition import Fields
from engine.mcp.dispatch import THREADS, WAITING, Dispatcher
from engine.mcp.protocol import ENVELOPE_VERSIONS, SERVER, ProtocolError, enveloped

Context = ServerRequestContext[Any, Any]


def server_of(dispatcher: Dispatcher) -> Server[Any]:
    """A server that hands every request of the profile to `dispatcher`, and sends what that answers."""
    limiter: list[anyio.CapacityLimiter] = []

    async def answer(context: Context, params: types.RequestParams) -> Fields:
        del params  # the dispatcher takes them as they came
        method, given = context.method, context.params or {}
        try:
            if method in WAITING:
                if not limiter:  # it belongs to an event loop, and there is none before the first request
                    limiter.append(anyio.CapacityLimiter(THREADS))
                result = await anyio.to_thread.run_sync(dispatcher.answer, method, given, limiter=limiter[0])
            else:
                result = dispatcher.answer(method, given)
        except ProtocolError as error:
            raise MCPError(error.code, error.message, error.data) from error
        return enveloped(method, result) if context.protocol_version in ENVELOPE_VERSIONS else result

    server: Server[Any] = Server(
        SERVER["name"], version=SERVER["version"], instructions=dispatcher.profile.instructions
    )
    for method in dispatcher.methods:
        server.add_request_handler(method, types.RequestParams, answer)
    return server
