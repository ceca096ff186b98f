"""Runs an ASGI program for many clients, some of them hostile: uvicorn with limits."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from engine.base.interrupts import at_end
from engine.service.accepting import Acceptor
from engine.service.connections import Connections, Place
from engine.service.guard import Guard
from engine.service.listening import Listener, listening
from engine.service.protocol import Connection
from engine.service.settings import Settings

_TICKS_A_LOOK: Final = 5
"""The ticks of uvicorn, 0.1 s each, after which all connections are looked at."""


def serve(app: ASGIApp, settings: Settings, note: Callable[[str], None]) -> None:
    """Serve `app` until SIGTERM or SIGINT; then let running requests end.

    When the application has accepted a token, it sets `scope["state"]["token"]` to the name of the token.
    Without such a request, a connection makes room for others when there are too many.

    Args:
        app: The ASGI application.
        settings: The address and the limits.
        note: A function that shows a text to the person who started the server.

    Raises:
        EngineError: the settings are refused, or the address is not available.
    """
    with listening(settings) as listener:
        run(app, listener, lambda: note(f"serving {listener.url}"))


def run(app: ASGIApp, listener: Listener, ready: Callable[[], None]) -> None:
    """Serve `app` on a socket that already listens; otherwise as `serve`.

    `ready` is called when a signal would stop the server properly, shortly before it answers.
    """
    server = server_of(app, listener)
    # uvicorn has its own handlers while it runs. At the end it raises the signal again: not a failure.
    with at_end(server.stop):
        ready()
        server.run()


def server_of(app: ASGIApp, listener: Listener) -> Server:
    """Return a server of `app` that is not started yet."""
    settings = listener.settings
    guarded: ASGIApp = Guard(app, listener)
    if settings.proxies:
        proxies = [str(network) for network in settings.proxies]
        guarded = cast("ASGIApp", ProxyHeadersMiddleware(guarded, trusted_hosts=proxies))  # type: ignore[arg-type]
    config = uvicorn.Config(
        guarded,
        loop="asyncio",
        http=Connection,
        ws="none",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=settings.limits.head_bytes,
        timeout_graceful_shutdown=settings.limits.stop_seconds,
    )
    return Server(config, listener)


class Server(uvicorn.Server):
    """uvicorn's server with its own way to take connections, and with an eye on all of them."""

    def __init__(self, config: uvicorn.Config, listener: Listener) -> None:
        """Serve on `listener`."""
        super().__init__(config)
        limits = listener.settings.limits
        self._limits = limits
        self._connections = Connections(limits.connections, limits.connections_of_peer)
        self._acceptor = Acceptor(listener, self._connections, self._protocol)

    def _protocol(self, place: Place) -> Connection:
        return Connection(self.config, self.server_state, self.lifespan.state, place, self._limits)

    def stop(self) -> None:
        """End soon. Safe in a signal handler and in another thread."""
        self.should_exit = True

    async def startup(self, sockets: object = None) -> None:
        """Start the application, then take connections."""
        del sockets
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            sys.exit(STARTUP_FAILURE)
        self._acceptor.start()
        self.servers = [cast("asyncio.Server", self._acceptor)]
        self.started = True

    async def on_tick(self, counter: int) -> bool:
        """Look at all connections from time to time."""
        if counter % _TICKS_A_LOOK == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                cast("Connection", connection).look(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: object = None) -> None:
        """Let running requests end, then cut off what is left."""
        del sockets
        await super().shutdown()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
