"""A server in a thread of this process, a small application for it, and clients that send raw bytes."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.service.guard import Metrics, Observer
from engine.service.listening import Limits, Listener, Settings, listening
from engine.service.server import Server, server_of

TIMEOUT = 30
GOOD = "Authorization: Bearer good"


@dataclass
class App:
    """An application with one path for each behaviour that a client can meet."""

    seen: list[str] = field(default_factory=list)
    """The paths of all requests that reached the application, with `gone` where the client left."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "lifespan":
            assert (await receive())["type"] == "lifespan.startup"
            await send({"type": "lifespan.startup.complete"})
            assert (await receive())["type"] == "lifespan.shutdown"
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.seen.append(scope["path"])
        if dict(scope["headers"]).get(b"authorization") == b"Bearer good":
            scope["state"]["token"] = "good"  # noqa: S105  a name
        answer = getattr(self, scope["path"].strip("/"), self.echo)
        await answer(scope, receive, send)

    async def echo(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the length of the body, the address of the client and the scheme."""
        length, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.seen.append("gone")
                return
            length += len(message.get("body", b""))
            more = message.get("more_body", False)
        found = {"length": length, "client": scope["client"][0], "scheme": scope["scheme"]}
        await answered(send, json.dumps(found).encode())

    async def early(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer without reading the body."""
        del scope, receive
        await answered(send, b"early")

    async def refused(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse without reading the body."""
        del scope, receive
        await answered(send, b"refused", 401)

    async def never(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait until the client is gone."""
        del scope, send
        while (await receive())["type"] != "http.disconnect":
            pass
        self.seen.append("gone")

    async def long(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with 64 MiB, as fast as the client reads."""
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(1024):
            await send(part(b"x" * (64 << 10), more=True))
        await send(part(b""))
        self.seen.append("gone")

    async def events(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send one event, then wait until the client is gone."""
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send(part(b"data: 1\n\n", more=True))
        await self.never(scope, receive, send)

    async def slow(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take half a second."""
        del scope, receive
        await asyncio.sleep(0.5)
        await answered(send, b"slow")

    async def broken(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Fail with a secret in the message."""
        raise RuntimeError("the secret content")

    async def half(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Fail in the middle of an answer."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send(part(b"half", more=True))
        raise RuntimeError("the secret content")


def part(body: bytes, *, more: bool = False) -> Message:
    """A part of an answer's body."""
    return {"type": "http.response.body", "body": body, "more_body": more}


async def answered(send: Send, body: bytes, status: int = 200) -> None:
    """Send a whole answer."""
    await send({"type": "http.response.start", "status": status, "headers": [(b"x-app", b"yes")]})
    await send(part(body))


@dataclass
class Served:
    """A running server."""

    app: App
    listener: Listener
    server: Server

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.listener.port

    def connect(self, *parts: bytes) -> socket.socket:
        """Return a new connection on which `parts` have been sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), TIMEOUT)
        for sent in parts:
            connection.sendall(sent)
        return connection

    def raw(self, *parts: bytes) -> bytes:
        """Send bytes on a new connection; return all that comes back until the server closes it."""
        with self.connect() as connection:
            with suppress(ConnectionError):  # the server may close before it has read everything
                for sent in parts:
                    connection.sendall(sent)
            return rest_of(connection)

    def request(self, path: str = "/echo", *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
        """Send one request; return the whole answer."""
        return self.raw(self.head(path, "Connection: close", *headers, method=method) + body)

    def head(self, path: str = "/echo", *headers: str, method: str = "GET") -> bytes:
        """The head of a request to this server."""
        usual = () if any(line.startswith("Host:") for line in headers) else (f"Host: 127.0.0.1:{self.port}",)
        return "\r\n".join([f"{method} {path} HTTP/1.1", *usual, *headers, "", ""]).encode("latin-1")


def rest_of(connection: socket.socket) -> bytes:
    """Return what the server sends until it closes the connection."""
    found = bytearray()
    with suppress(ConnectionResetError):
        while data := connection.recv(1 << 16):
            found += data
    return bytes(found)


def answer_of(connection: socket.socket) -> bytes:
    """Return the next answer with chunks on a connection that stays open."""
    found = bytearray()
    while not found.endswith(b"\r\n0\r\n\r\n") and (data := connection.recv(1 << 16)):
        found += data
    return bytes(found)


def seen_to_stay_open(connection: socket.socket, seconds: float) -> bool:
    """Return True if the server neither ends its answer nor closes the connection in this time."""
    connection.settimeout(seconds)
    try:
        while connection.recv(1 << 16):
            pass
    except TimeoutError:
        return True
    return False


def status_of(answer: bytes) -> int:
    """Return the status of an answer, 0 if there is none."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


@contextmanager
def serving(
    settings: Settings | Limits | None = None,
    program: ASGIApp | None = None,
    observers: Sequence[Observer] = (),
    metrics: Metrics | None = None,
    **limits: float,
) -> Iterator[Served]:
    """Run a server of `program`, or of an `App`, in a thread."""
    if not isinstance(settings, Settings):
        settings = Settings(limits=settings or Limits(**limits))  # type: ignore[arg-type]
    with listening(settings) as listener:
        app = App()
        server = server_of(program or app, listener, observers, metrics)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield Served(app, listener, server)
        finally:
            server.stop()
            thread.join(TIMEOUT)
            assert not thread.is_alive()
