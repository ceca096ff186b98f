"""HTTP/1.1 on one connection, with limits in time, and with bounded work for strangers.

Nothing is read before something waits for it: the next request after the last answer, and the body when the
application asks for it, which it does after it has accepted the token. A stranger has one request in a turn
(`engine.service.places`), for which at most `STRANGER_BYTES` are read and `CHUNKS` are parsed. After a
refusal, or an answer that was sent before the body was read, nothing more is read, and the connection is
closed.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import unquote

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Scope
from uvicorn.server import ServerState

from engine.clients.wire.problem_details import Problem
from engine.service.guard import STATUS, STREAM, TOKEN, Observer, address_of, refused
from engine.service.listening import BODY_BYTES_A_SECOND, Limits
from engine.service.places import Connections, Place, Standing, Turns

STRANGER_BYTES: Final = 16 << 10
"""The bytes that are read from a stranger in one turn."""

KNOWN_BYTES: Final = 256 << 10
"""The bytes that are read at once from a client with a token."""

CHUNKS: Final = 64
"""The chunks of a body that are parsed in one turn of the event loop."""

LINGER_SECONDS: Final = 1.0
"""The time in which a client whose body is not read can read the answer: closing would cut the answer off."""

_CLOSE: Final = (b"connection", b"close")


@dataclass(frozen=True)
class Shared:
    """What all connections of a server have in common."""

    config: uvicorn.Config
    state: ServerState
    app_state: dict[str, Any]
    limits: Limits
    observers: Sequence[Observer]
    connections: Connections
    turns: Turns = field(default_factory=Turns)
    buffer: memoryview = field(default_factory=lambda: memoryview(bytearray(KNOWN_BYTES)))
    """Where each read goes first: one read of one connection at a time."""


class Step(enum.Enum):
    """How far the answer to a request is."""

    NONE = 0
    BEGUN = 1
    COMPLETE = 2


class Connection(asyncio.BufferedProtocol):
    """One connection of a client."""

    def __init__(self, shared: Shared, place: Place) -> None:
        """Take the place of a connection that was accepted."""
        self._shared: Final = shared
        self.limits: Final = shared.limits
        self._place: Final = place
        self._http = h11.Connection(h11.SERVER, shared.limits.head_bytes)
        self._news = asyncio.Event()
        """Set when something has been read, and when the connection ends."""
        self._writable = asyncio.Event()
        self._writable.set()
        self.is_stopping = False
        self._is_known = self._had_turn = False
        self._running: Exchange | None = None
        self._ending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin (called by the event loop)."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.pause_reading()
        self._server, peer = (transport.get_extra_info(name) for name in ("sockname", "peername"))
        # On `::`, an IPv4 address comes as a part of IPv6; proxies are named without that.
        self._client = (str(address_of(peer[0])), peer[1]) if peer else None
        self._place.standing, self._place.drop = self.standing, self.transport.abort
        self._shared.state.connections.add(self)  # type: ignore[arg-type]
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to write what the client sends (called by the event loop)."""
        del sizehint
        return self._shared.buffer[: KNOWN_BYTES if self._is_known else STRANGER_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        """Take what the client has sent, and read no more until it is handled (called by the event loop)."""
        self.transport.pause_reading()
        self._shared.connections.received += nbytes
        self._http.receive_data(bytes(self._shared.buffer[:nbytes]))
        self._soon(self._news.set)

    def _soon(self, go: Callable[[], object]) -> None:
        """Call `go` at once, or when it is the turn of this stranger."""
        if self.standing() is Standing.STRANGER:
            self._shared.turns.wait(go, first=not self._had_turn)
            self._had_turn = True
        else:
            go()

    def pause_writing(self) -> None:
        """Wait until the client reads (called by the event loop)."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on after the client has read (called by the event loop)."""
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the table (called by the event loop)."""
        del exc
        if self._ending is not None:
            self._ending.cancel()
        self._place.leave()
        self._shared.state.connections.discard(self)
        self._news.set()
        self._writable.set()

    def standing(self) -> Standing:
        """Return how the connection is used now."""
        # A request that has just begun has not shown its token yet.
        if self._running is not None and TOKEN in self._running.scope["state"]:
            return Standing.KNOWN_BUSY
        if not self._is_known:
            return Standing.STRANGER
        return Standing.KNOWN_IDLE if self._running is None else Standing.KNOWN_BUSY

    def shutdown(self) -> None:
        """End soon (called by uvicorn): idle connections and streams now, running requests when answered."""
        self.is_stopping = True
        running = self._running
        if running is None:
            self._close()
        elif running.step is Step.BEGUN and STREAM in running.scope["state"]:
            self.transport.write(self._http.send(h11.EndOfMessage()) or b"")
            running.leave()
            self._close()

    async def _serve(self) -> None:
        """Answer one request after the other."""
        limits, tasks = self.limits, self._shared.state.tasks
        seconds = limits.head_seconds
        while (request := await self._next_request(seconds)) is not None:
            self._running = exchange = Exchange(self, self._http, self._scope(request))
            tasks.add(self._task)
            try:
                await exchange.run(self._shared.config.loaded_app)
            finally:
                tasks.discard(self._task)
                self._is_known, self._running = TOKEN in exchange.scope["state"], None
            if self._http.our_state is not h11.DONE or self.is_stopping:
                self._close(LINGER_SECONDS if self._http.their_state is h11.SEND_BODY else 0)
                return
            self._http.start_next_cycle()
            seconds = limits.proxy_idle_seconds if self._place.exempt else limits.idle_seconds

    async def _next_request(self, seconds: float) -> h11.Request | None:
        """Return the next request, or None if the connection ends. Its first byte must come in `seconds`."""
        has_begun = bool(self._http.trailing_data[0])
        try:
            async with asyncio.timeout(self.limits.head_seconds if has_begun else seconds) as timer:
                if has_begun:
                    await self.turn()
                while (event := self._http.next_event()) is h11.NEED_DATA:
                    if not has_begun and self._http.trailing_data[0]:
                        has_begun = True
                        timer.reschedule(asyncio.get_running_loop().time() + self.limits.head_seconds)
                    await self.read()
                    if self.transport.is_closing():
                        return None
        except TimeoutError:
            if self._http.trailing_data[0]:
                self.refuse(Problem(408, "busy", "the server waited too long for the rest of the headers"))
            else:
                self._close()
        except h11.RemoteProtocolError:
            self.refuse_bytes()
        else:
            return event if isinstance(event, h11.Request) else None
        return None

    def _scope(self, request: h11.Request) -> Scope:
        """Return the description of a request for the application (ASGI)."""
        path, _, query = request.target.partition(b"?")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": request.http_version.decode("ascii"),
            "server": self._server[:2],
            "client": self._client,
            "scheme": "http" if self.transport.get_extra_info("sslcontext") is None else "https",
            "method": request.method.decode("ascii"),
            "root_path": "",
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "headers": list(request.headers),
            "state": self._shared.app_state.copy(),
        }

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers of each answer."""
        return self._shared.state.default_headers

    def wake(self) -> None:
        """Let go on what waits for the client."""
        self._news.set()

    async def turn(self) -> None:
        """Let other connections go on; a stranger waits for its turn."""
        self._news.clear()
        asyncio.get_running_loop().call_soon(self._soon, self._news.set)
        await self._news.wait()

    async def read(self) -> None:
        """Wait until the client has sent something and has its turn, or until it is gone."""
        self._news.clear()
        if not self.transport.is_closing():
            self.transport.resume_reading()
            await self._news.wait()

    async def left(self) -> None:
        """Wait until the client is gone, or something has changed. What the client sends is kept."""
        self._news.clear()
        if not self._http.trailing_data[0]:
            self.transport.resume_reading()
        await self._news.wait()

    async def write(self, *events: h11.Event) -> None:
        """Send parts of an answer. A client that does not read is dropped."""
        for event in events:
            self.transport.write(self._http.send(event) or b"")
        try:
            async with asyncio.timeout(self.limits.write_seconds):
                await self._writable.wait()
        except TimeoutError:
            self.transport.abort()

    def refuse_bytes(self) -> None:
        """Refuse what is not HTTP."""
        self.refuse(Problem(400, "invalid", "this is not a valid HTTP request"))

    def refuse(self, problem: Problem) -> None:
        """Answer a request without the application, and close. If an answer has begun, cut it off."""
        running = self._running
        if running is None or running.step is Step.COMPLETE:
            for observer in self._shared.observers:
                observer(refused(problem.status, self._client))
        else:
            running.scope["state"][STATUS] = problem.status
            running.leave()
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        for event in (
            response(problem.status, [*problem.head(), _CLOSE]),
            h11.Data(data=problem.body()),
            h11.EndOfMessage(),
        ):
            self.transport.write(self._http.send(event) or b"")
        self._close(LINGER_SECONDS)

    def _close(self, linger: float = 0) -> None:
        """Send what is written, and close: after `linger` seconds, in which nothing is read."""
        loop = asyncio.get_running_loop()
        if linger and self._ending is None:
            self.transport.pause_reading()
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self._ending = loop.call_later(linger, self._close)
        elif not linger and not self.transport.is_closing():
            if self._ending is not None:
                self._ending.cancel()
            self._ending = loop.call_later(self.limits.write_seconds, self.transport.abort)
            self.transport.close()


class Exchange:
    """One request and its answer, as the application sees them (ASGI)."""

    def __init__(self, connection: Connection, http: h11.Connection, scope: Scope) -> None:
        self.scope: Final = scope
        self.step = Step.NONE
        self._connection = connection
        self._http = http
        self._limits = connection.limits
        self._start: Message = {}
        self._body = bytearray()
        """What was parsed of the body and not given to the application."""
        self._has_more = True
        self._is_long = False
        """True if more of the body may have arrived than was parsed in one turn."""
        self._is_told = self._is_left = False
        self._patience = self._limits.body_seconds
        self._timer: asyncio.TimerHandle

    async def run(self, app: ASGIApp) -> None:
        """Let the application answer."""
        self._expect()
        try:
            await app(self.scope, self.receive, self.send)
        finally:
            self._timer.cancel()
        if self.step is not Step.COMPLETE and not self._is_gone():
            self._connection.refuse(Problem(500, "failure", "the server failed; its log says where"))

    def leave(self) -> None:
        """Tell the application that the client has gone."""
        self._is_left = True
        self._connection.wake()

    def _is_gone(self) -> bool:
        return self._is_left or self.step is Step.COMPLETE or self._connection.transport.is_closing()

    def _expect(self) -> None:
        """Refuse the request if the application does not answer in time."""
        detail = "the request took too long; it may have been carried out"
        late = partial(self._connection.refuse, Problem(504, "in_doubt", detail))
        self._timer = asyncio.get_running_loop().call_later(self._limits.answer_seconds, late)

    async def receive(self) -> Message:
        """Return the next part of the body; after its end, wait until the client is gone or answered."""
        while not (self._is_told or self._is_gone()):
            if self._body or not self._has_more:
                body, self._body, self._is_told = bytes(self._body), bytearray(), not self._has_more
                return {"type": "http.request", "body": body, "more_body": self._has_more}
            try:
                await self._arrive()
            except h11.RemoteProtocolError:
                self._connection.refuse_bytes()
            except TimeoutError:
                detail = "the server waited too long for the rest of the body"
                self._connection.refuse(Problem(408, "busy", detail))
        while not self._is_gone():
            await self._connection.left()
        return {"type": "http.disconnect"}

    async def _arrive(self) -> None:
        """Parse what has arrived of the body; if nothing has, wait for it."""
        if self._is_long:
            await self._connection.turn()
        self._parse()
        if self._body or self._is_long or not self._has_more:
            return
        if self._http.they_are_waiting_for_100_continue:
            await self._connection.write(h11.InformationalResponse(status_code=100, headers=[]))
        self._timer.cancel()
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with asyncio.timeout(self._patience):
            await self._connection.read()
        self._patience -= loop.time() - began
        if self.step is Step.NONE:
            self._expect()

    def _parse(self) -> None:
        """Parse at most `CHUNKS` chunks of the body.

        Raises:
            h11.RemoteProtocolError: They are not valid.
        """
        self._is_long = False
        for _ in range(CHUNKS):
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                return
            if not isinstance(event, h11.Data):
                self._has_more = False
                return
            self._body += event.data
            self._patience += len(event.data) / BODY_BYTES_A_SECOND
        self._is_long = True

    async def send(self, message: Message) -> None:
        """Send a part of the answer. Its head is sent with the first part of its body."""
        if self._is_gone():
            return
        if message["type"] == "http.response.start":
            self._start = message
            return
        events: list[h11.Event] = []
        if self.step is Step.NONE:
            self._timer.cancel()
            status, headers = self._start["status"], [*self._connection.headers(), *self._start["headers"]]
            if self._is_last(status) and _CLOSE not in headers:
                headers.append(_CLOSE)
            events.append(response(status, headers))
            self.step = Step.BEGUN
        if self.scope["method"] != "HEAD":
            events.append(h11.Data(data=message.get("body", b"")))
        if not message.get("more_body", False):
            events.append(h11.EndOfMessage())
            self.step = Step.COMPLETE
            self._connection.wake()
        await self._connection.write(*events)

    def _is_last(self, status: int) -> bool:
        """Return True if the connection ends: after a refusal of a stranger, or if the body is unread."""
        if self._connection.is_stopping:
            return True
        if status >= HTTPStatus.BAD_REQUEST and self._connection.standing() is Standing.STRANGER:
            return True
        with suppress(h11.RemoteProtocolError):
            if self._has_more and not self._body:
                self._parse()
        return self._has_more


def response(status: int, headers: list[tuple[bytes, bytes]]) -> h11.Response:
    """Return the head of an answer."""
    return h11.Response(status_code=status, headers=headers, reason=HTTPStatus(status).phrase.encode())
