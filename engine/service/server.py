"""Runs an ASGI program for many clients, some of them hostile: uvicorn with limits.

A connection counts from its first packet on, also during the TLS handshake. asyncio's own servers show a
connection to the program only after the handshake, so the server takes connections itself.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import socket
import ssl
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, cast

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from engine.base.errors import EngineError
from engine.base.process import at_end
from engine.service.guard import Guard, Metrics, Observer, address_of
from engine.service.http_connection import Connection, Shared
from engine.service.listening import Listener, Settings, listening
from engine.service.places import Connections, Place

log: Final = logging.getLogger("engine.service")
_TICKS_A_RENEWAL: Final = 600
"""The number of uvicorn's ticks, 0.1 s each, between two checks of the certificate's files."""

_NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_SECONDS: Final = 0.05
_BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
)


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
        observers: Functions that are told of each request, such as `guard.log_requests`.
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
    guarded: ASGIApp = Guard(app, listener, observers)
    if settings.proxies:
        proxies = [str(network) for network in settings.proxies]
        guarded = cast("ASGIApp", ProxyHeadersMiddleware(guarded, trusted_hosts=proxies))  # type: ignore[arg-type]
    config = uvicorn.Config(
        guarded,
        loop="asyncio",
        http=cast("type[asyncio.Protocol]", Connection),
        ws="none",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
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
    """uvicorn's server, which accepts connections in its own way and checks all of them regularly."""

    def __init__(self, config: uvicorn.Config, listener: Listener, observers: Sequence[Observer]) -> None:
        """Serve on `listener`, and report bytes that are not requests to `observers`."""
        super().__init__(config)
        limits = listener.settings.limits
        self._listener = listener
        self._observers = observers
        self._connections = Connections(limits.connections, limits.connections_of_peer)

    def show_in(self, metrics: Metrics) -> None:
        """Add the numbers of connections and of running requests to metrics."""
        connections, tasks = self._connections, self.server_state.tasks
        for name, kind, about, value in (
            ("requests_in_progress", "gauge", "Requests that run.", lambda: len(tasks)),
            ("connections", "gauge", "Open connections.", lambda: len(connections)),
            ("connections_dropped_total", "counter", "That made room.", lambda: connections.dropped),
            ("connections_refused_total", "counter", "That got no place.", lambda: connections.refused),
            ("received_bytes_total", "counter", "Bytes that were read.", lambda: connections.received),
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
        shared = Shared(
            self.config,
            self.server_state,
            self.lifespan.state,
            self._listener.settings.limits,
            self._observers,
            self._connections,
        )
        acceptor = Acceptor(self._listener, shared)
        acceptor.start()
        self.servers = [cast("asyncio.Server", acceptor)]
        self.started = True

    async def on_tick(self, counter: int) -> bool:
        """Use a certificate that was renewed."""
        if counter % _TICKS_A_RENEWAL == 0:
            self._renew()
        return await super().on_tick(counter)

    def _renew(self) -> None:
        if self._listener.encryption is not None:
            try:
                self._listener.encryption.renew()
            except EngineError as error:
                log.warning("the renewed certificate is not used: %s", error)

    async def shutdown(self, sockets: object = None) -> None:
        """Wait for running requests for a limited time, then end the others."""
        del sockets
        await super().shutdown()
        for connection in list(self.server_state.connections):
            cast("Connection", connection).transport.abort()
        await asyncio.sleep(0)


class Acceptor:
    """Gives each new connection a place and a protocol. It has the methods of a server that uvicorn calls."""

    def __init__(self, listener: Listener, shared: Shared) -> None:
        """Accept connections of `listener`."""
        self._listener = listener
        self._shared = shared
        self._connections = shared.connections
        self._limits = listener.settings.limits
        self._proxies = listener.settings.proxies
        # Behind a proxy that ends TLS, nobody else may send tokens in plain text.
        self._proxies_only = bool(self._proxies) and listener.tls is None and not listener.settings.insecure
        self._shaking: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take connections."""
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Take no further connections, and end the handshakes that are not complete."""
        if self._accepting is not None:
            self._accepting.cancel()
        for task in self._shaking:
            task.cancel()
        self._listener.socket.close()

    async def wait_closed(self) -> None:
        """Wait until the handshakes have ended."""
        tasks = [*self._shaking, *([self._accepting] if self._accepting else [])]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self) -> None:
        loop, turns = asyncio.get_running_loop(), self._shared.turns
        turn = asyncio.Event()
        while True:
            # In turns, so that a client has time to show its token before newer connections take its place.
            turn.clear()
            turns.wait(turn.set, first=True)
            await turn.wait()
            try:
                taken, address = await loop.sock_accept(self._listener.socket)
            except OSError as error:
                # Other errors are those of one client that is gone already (accept(2)).
                if error.errno in _NO_ROOM and not self._connections.make_room():
                    await asyncio.sleep(_PAUSE_SECONDS)
                continue
            self._admit(taken, address[0])

    def _admit(self, taken: socket.socket, address: str) -> None:
        peer = address_of(address)
        is_proxy = any(peer in network for network in self._proxies)
        place = None
        if is_proxy or peer.is_loopback or not self._proxies_only:
            place = self._connections.admit(_share(peer), exempt=is_proxy)
        if place is None:
            if self._listener.tls is None:
                with suppress(OSError):
                    taken.send(_BUSY)
            taken.close()
            return
        task = asyncio.get_running_loop().create_task(self._welcome(taken, place))
        place.drop = task.cancel
        self._shaking.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._shaking.discard(task)
            if task.cancelled():  # perhaps before its first step
                place.leave()
                taken.close()

        task.add_done_callback(done)

    async def _welcome(self, taken: socket.socket, place: Place) -> None:
        tls = self._listener.tls
        seconds = None if tls is None else self._limits.head_seconds
        connected = False
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: Connection(self._shared, place),
                taken,
                ssl=tls,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=None if tls is None else self._limits.write_seconds,
            )
            connected = True
        except (OSError, ssl.SSLError):
            return  # the client gave up, or speaks no TLS
        finally:
            if not connected:
                place.leave()


def _share(peer: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """Return the unit to which the limit for one peer applies: an address, or the /64 network of one."""
    if isinstance(peer, ipaddress.IPv4Address) or peer.is_loopback:
        return str(peer)
    return str(ipaddress.ip_network((peer, 64), strict=False))
