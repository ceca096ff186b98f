"""Runs an ASGI program for many clients, some of them hostile: uvicorn with limits."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Final, cast

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from engine.base.errors import EngineError
from engine.base.interrupts import at_end
from engine.service.accepting import Acceptor
from engine.service.connections import Connections, Place
from engine.service.guard import Guard
from engine.service.listening import Listener, listening
from engine.service.metrics import Metrics
from engine.service.observing import Observed, Observer
from engine.service.protocol import Connection
from engine.service.settings import Settings

_TICKS_A_LOOK: Final = 5
"""The ticks of uvicorn, 0.1 s each, after which all connections are looked at."""

_TICKS_A_RENEWAL: Final = 600
"""The ticks after which the files of the certificate are looked at."""

log: Final = logging.getLogger("engine.service")


def serve(
    app: ASGIApp,
    settings: Settings,
    note: Callable[[str], None],
    observers: Sequence[Observer] = (),
    metrics: Metrics | None = None,
) -> None:
    """Serve `app` until SIGTERM or SIGINT; then let running requests end.

    When the application has accepted a token, it sets `scope["state"]["token"]` to the name of the token.
    Without such a request, a connection makes room for others when there are too many.

    Args:
        app: The ASGI application.
        settings: The address and the limits.
        note: A function that shows a text to the person who started the server.
        observers: Functions that are told of each request, such as `engine.service.logs.log_requests`.
        metrics: The metrics in which the server counts requests and connections.

    Raises:
        EngineError: the settings are refused, or the address is not available.
    """
    with listening(settings) as listener:
        run(app, listener, lambda: note(f"serving {listener.url}"), observers, metrics)


def run(
    app: ASGIApp,
    listener: Listener,
    ready: Callable[[], None],
    observers: Sequence[Observer] = (),
    metrics: Metrics | None = None,
) -> None:
    """Serve `app` on a socket that already listens; otherwise as `serve`.

    `ready` is called when a signal would stop the server properly, shortly before it answers.
    """
    server = server_of(app, listener, observers, metrics)
    # uvicorn has its own handlers while it runs. At the end it raises the signal again: not a failure.
    with at_end(server.stop):
        ready()
        server.run()


def server_of(
    app: ASGIApp, listener: Listener, observers: Sequence[Observer] = (), metrics: Metrics | None = None
) -> Server:
    """Return a server of `app` that is not started yet."""
    settings = listener.settings
    if metrics is not None:
        observers = (*observers, metrics.count)
    if settings.origins:
        app = _open_to(settings.origins, app)
    guarded: ASGIApp = Observed(Guard(app, listener), observers)
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
    server = Server(config, listener, observers)
    if metrics is not None:
        server.show_in(metrics)
    return server


def _open_to(origins: Sequence[str], app: ASGIApp) -> ASGIApp:
    """Return an application that also tells browsers that pages of these origins may use it (CORS).

    Browsers send no cookies to it; a page needs a token like every client.
    """
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=("DELETE", "GET", "PATCH", "POST"),
        allow_headers=("Authorization", "Idempotency-Key", "Last-Event-ID", "MCP-Protocol-Version"),
        allow_private_network=True,
        expose_headers=("Retry-After",),
    )


class Server(uvicorn.Server):
    """uvicorn's server with its own way to take connections, and with an eye on all of them."""

    def __init__(self, config: uvicorn.Config, listener: Listener, observers: Sequence[Observer]) -> None:
        """Serve on `listener`; tell `observers` of bytes that are not requests."""
        super().__init__(config)
        limits = listener.settings.limits
        self._limits = limits
        self._listener = listener
        self._observers = observers
        self._connections = Connections(limits.connections, limits.connections_of_peer)
        self._acceptor = Acceptor(listener, self._connections, self._protocol)

    def _protocol(self, place: Place) -> Connection:
        state = self.lifespan.state
        return Connection(self.config, self.server_state, state, place, self._limits, self._observers)

    def show_in(self, metrics: Metrics) -> None:
        """Add the numbers of connections and of running requests to metrics."""
        connections, tasks = self._connections, self.server_state.tasks
        for name, kind, about, value in (
            ("requests_in_progress", "gauge", "Requests that run.", lambda: len(tasks)),
            ("connections", "gauge", "Open connections.", lambda: len(connections)),
            ("connections_dropped_total", "counter", "That made room.", lambda: connections.dropped),
            ("connections_refused_total", "counter", "That got no place.", lambda: connections.refused),
        ):
            metrics.watch(f"memroot_http_{name}", kind, about, value)

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
        if counter % _TICKS_A_RENEWAL == 0:
            self._renew()
        if counter % _TICKS_A_LOOK == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                cast("Connection", connection).look(now)
        return await super().on_tick(counter)

    def _renew(self) -> None:
        """Use a certificate that was renewed."""
        if self._listener.encryption is not None:
            try:
                self._listener.encryption.renew()
            except EngineError as error:
                log.warning("the renewed certificate is not used: %s", error)

    async def shutdown(self, sockets: object = None) -> None:
        """Let running requests end, then cut off what is left."""
        del sockets
        await super().shutdown()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
