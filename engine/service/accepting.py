"""Takes new connections from the listening socket, so that each is counted before anything is read from it.

A connection counts from its first packet on, also during the TLS handshake. asyncio's own servers show a
connection to the program only after the handshake.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from engine.service.connections import Connections, Place
from engine.service.listening import Listener
from engine.service.protocol import Connection
from engine.service.settings import address_of

_NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_SECONDS: Final = 0.05

_BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
)


class Acceptor:
    """Gives each new connection a place and a protocol. It has the methods of a server that uvicorn calls."""

    def __init__(
        self, listener: Listener, connections: Connections, protocol: Callable[[Place], Connection]
    ) -> None:
        """Accept connections of `listener`; `protocol` makes the protocol for the owner of a place."""
        self._listener = listener
        self._connections = connections
        self._protocol = protocol
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
        loop = asyncio.get_running_loop()
        while True:
            try:
                taken, address = await loop.sock_accept(self._listener.socket)
            except OSError as error:
                # Other errors are those of one client that is gone already (accept(2)).
                if error.errno in _NO_ROOM and not self._connections.make_room():
                    await asyncio.sleep(_PAUSE_SECONDS)
                await asyncio.sleep(0)
                continue
            self._admit(taken, address[0])
            await asyncio.sleep(0)  # a flood of connections must not stop everything else

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
                lambda: self._protocol(place),
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
