"""The ASGI application between the server and the program: it checks each request, and reports it.

`Guard` checks in this order: the form of the request (400, 431, 505), the headers Host (421) and Origin (403)
against DNS rebinding, and the declared length of the body (413). A body without a declared length is counted
while it is read. An observer, such as `Metrics`, sees an `Exchange`: never the path, the query, the body or
the token of a request.

The metrics follow https://prometheus.io/docs/practices/naming/ and have the text format of Prometheus
(https://prometheus.io/docs/instrumenting/exposition_formats/). The values of labels are bounded: methods,
templates of paths, and statuses.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import json
import logging
import re
import sys
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.base import __version__
from engine.clients.wire.problem_details import Problem
from engine.service.listening import LOOPBACK, Listener, Settings
from engine.service.request_logs import where

log: Final = logging.getLogger("engine.service")
# What the application and the server tell each other about a request: keys of `scope["state"]` (ASGI).

TOKEN: Final = "token"  # noqa: S105  the name of a key, not a token
"""The name of the token that the application has accepted."""

STREAM: Final = "stream"
"""True if the answer is a stream of events, which may last any time and ends when the server stops."""

STATUS: Final = "status"
"""The status with which the server has answered instead of the application."""

END: Final = "end"
"""A function without arguments that the server calls when the request has ended."""

BULK: Final = "/bulk"
"""The suffix of the paths whose requests are read line by line."""

UNMATCHED: Final = "unmatched"
"""The route of a request for an address that does not exist, or of bytes that are not a request."""

LEFT: Final = 499
"""The status of a request whose client left before the answer began. Servers use it in logs only."""

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the histogram of durations, in seconds."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER: Final = "OTHER"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_LOOPBACK: Final = (LOOPBACK, "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer."""

    method: str
    """The method, or `OTHER`."""

    route: str
    """The template of the path, such as `/v1/memories/{memory}/recall`."""

    status: int

    seconds: float
    """The time from the request's headers to the end of the answer."""

    sent: int
    """The bytes of the answer's body."""

    token: str
    """The name of the token, or an empty text."""

    peer: str
    """The address of the client."""


Observer = Callable[[Exchange], None]


def log_requests(exchange: Exchange, file: TextIO | None = None) -> None:
    """Write one line about a request to `file`, or to stderr."""
    fields = {
        "time": dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "method": exchange.method,
        "route": exchange.route,
        "status": exchange.status,
        "ms": round(exchange.seconds * 1000, 3),
        "bytes": exchange.sent,
        "token": exchange.token,
        "peer": exchange.peer,
    }
    # JSON in ASCII has neither line ends nor sequences that a terminal would obey.
    (file or sys.stderr).write(json.dumps(fields) + "\n")
    (file or sys.stderr).flush()


class Guard:
    """An ASGI application that lets only well-formed, expected and small requests through to another."""

    def __init__(self, app: ASGIApp, listener: Listener, observers: Sequence[Observer]) -> None:
        """Guard `app`, which is reached through `listener`, and report each request to `observers`."""
        self._app, self._observers = app, observers
        self._names, self._limits = Names(listener), listener.settings.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange, began = _CheckedBody(scope, receive, send, self._body_bytes(scope)), time.monotonic()
        try:
            await (self._refusal(scope) or self._app)(scope, exchange.receive, exchange.send)
        except asyncio.CancelledError:
            await exchange.fail(Problem(503, "closed", "the server is shutting down"))
        except Exception as error:  # noqa: BLE001  the last line of defence: a bug must not end the server
            # Without the message, which could quote a text or a token. An application that has answered with
            # status 500 has logged the error itself.
            if not (exchange.refused or exchange.status == HTTPStatus.INTERNAL_SERVER_ERROR):
                log.error("%s: %s", type(error).__name__, " < ".join(where(error.__traceback__)))
            await exchange.fail(Problem(500, "failure", "the server failed; its log says where"))
        finally:
            if END in scope["state"]:
                scope["state"][END]()
            self._report(scope, exchange, time.monotonic() - began)

    def _report(self, scope: Scope, exchange: _CheckedBody, seconds: float) -> None:
        state = scope["state"]
        report = Exchange(
            method=scope["method"] if scope["method"] in _METHODS else _OTHER,
            route=_route_of(scope),
            status=state.get(STATUS) or exchange.status or LEFT,
            seconds=seconds,
            sent=exchange.sent,
            token=state.get(TOKEN, ""),
            peer=peer_of(scope["client"]),
        )
        for observer in self._observers:
            observer(report)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = scope["headers"]
        names = [name for name, _ in headers]
        if scope["http_version"] not in {"1.0", "1.1"}:
            return _closing(505, "invalid", "the server speaks HTTP/1.1")
        if _head_bytes(scope) > self._limits.head_bytes:
            # The parser bounds a head that comes in parts, but not one that comes at once.
            return _closing(431, "limit", f"a request's head has at most {self._limits.head_bytes} bytes")
        if b"content-length" in names and b"transfer-encoding" in names:
            # Two lengths: a proxy may believe the other one (request smuggling).
            return _closing(400, "invalid", "a request has Content-Length or Transfer-Encoding, not both")
        if not scope["path"].startswith("/") or _CONTROL.search(scope["path"]):
            return _closing(400, "invalid", "the target of a request is a path without control characters")
        refusal = self._names.refusal(scope)
        if refusal is not None:
            return refusal
        # h11 has checked that there is one length, in digits.
        length = next((int(value) for name, value in headers if name == b"content-length"), 0)
        most = self._body_bytes(scope)
        return _too_large(most) if length > most else None

    def _body_bytes(self, scope: Scope) -> int:
        """Return the limit for the body of a request: a bulk request is never kept as a whole."""
        is_bulk = scope["method"] == "POST" and scope["path"].endswith(BULK)
        return self._limits.bulk_bytes if is_bulk else self._limits.body_bytes


def _too_large(most: int) -> Problem:
    """Return the refusal of a body with more than `most` bytes."""
    return Problem(413, "limit", f"the body of a request has at most {most} bytes")


def _closing(status: int, code: str, detail: str) -> Problem:
    """A refusal after which nothing more is read from the connection."""
    return Problem(status, code, detail, {"connection": "close"})


def _head_bytes(scope: Scope) -> int:
    """Return the size of the request line and the headers, as short as they can be written."""
    target = len(scope["raw_path"]) + len(scope["query_string"])
    return target + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])


class Names:
    """The names under which a server may be addressed, and the origins whose pages may use it."""

    def __init__(self, listener: Listener) -> None:
        settings: Settings = listener.settings
        self._port = listener.port
        self._hosts = frozenset(
            host.lower()
            for host in (*settings.hosts, listener.name, *(f"{name}:{listener.port}" for name in _LOOPBACK))
        )
        self._origins = frozenset(settings.origins)

    def refusal(self, scope: Scope) -> Problem | None:
        """Return why a request is refused, or None."""
        given = [value for name, value in scope["headers"] if name == b"host"]
        if len(given) != 1:
            return _closing(400, "invalid", "a request needs one header Host")
        host = given[0].decode("latin-1").lower()
        if not self._is_ours(host, scope):
            return Problem(421, "refused", "the header Host names another server")
        for name, value in scope["headers"]:
            if name == b"origin" and not self._may_use(value.decode("latin-1"), host, scope["scheme"]):
                return Problem(403, "refused", "pages of another origin may not use this server")
        return None

    def _is_ours(self, host: str, scope: Scope) -> bool:
        if host in self._hosts:
            return True
        name, colon, port = host.rpartition(":")
        if colon and port.isdecimal():
            if name in self._hosts:
                return True
        else:
            name, port = host, "443" if scope["scheme"] == "https" else "80"
        return port == str(self._port) and self._is_own_address(name, scope)

    @staticmethod
    def _is_own_address(name: str, scope: Scope) -> bool:
        """Return True for the address that the connection was made to, because DNS rebinding needs a name."""
        try:
            address = address_of(scope["server"][0])
            return not address.is_loopback and address_of(name.removeprefix("[").removesuffix("]")) == address
        except ValueError:
            return False

    def _may_use(self, origin: str, host: str, scheme: str) -> bool:
        return origin.lower() == f"{scheme}://{host}" or origin in self._origins


class _CheckedBody:
    """One request and its answer: counts the body, and refuses a body that is too large."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, body_bytes: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._left = body_bytes
        self._body_bytes = body_bytes
        self.status = 0
        self.sent = 0
        """The bytes of the body of the answer."""
        self.refused = False

    async def receive(self) -> Message:
        """Return the next part of the request."""
        if self.refused:
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                await self.fail(_too_large(self._body_bytes))
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the application's answer."""
        if self.refused:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if dict(message["headers"]).get(b"content-type", b"").startswith(b"text/event-stream"):
                self._scope["state"][STREAM] = True
        self.sent += len(message.get("body", b""))
        await self._send(message)

    async def fail(self, problem: Problem) -> None:
        """Answer instead of the application.

        If the application's answer has begun, the connection cuts it off.
        """
        if not (self.status or self.refused):
            await problem(self._scope, self._receive, self.send)
        self.refused = True


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address of a connection; an IPv4 address is never shown as a part of IPv6."""
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def refused(status: int, client: tuple[str, int] | None) -> Exchange:
    """The description of bytes that are not a request."""
    return Exchange(_OTHER, UNMATCHED, status, 0.0, 0, "", peer_of(client))


def peer_of(client: tuple[str, int] | None) -> str:
    """Return the address of a client. A proxy can forward any text as the address."""
    try:
        return "" if client is None else str(address_of(client[0]))
    except ValueError:
        return ""


def _route_of(scope: Scope) -> str:
    """Return the template of the path, in which the name of a memory is left open."""
    # Starlette leaves the route that it has chosen in the scope.
    route: str = getattr(scope.get("route"), "path", UNMATCHED)
    operation = scope.get("path_params", {}).get("operation", "")
    return route.replace("{operation}", operation) if operation and _is_operation(operation) else route


def _is_operation(name: str) -> bool:
    # Loaded here: the table takes a second to build, and the server of `engine mcp` needs none.
    from engine.clients.wire.operations import operations

    return name in operations()


Gauge = Callable[[], float]


class Metrics:
    """The counters of one server. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._sent: dict[str, int] = defaultdict(int)
        self._seconds: dict[str, float] = defaultdict(float)
        self._durations: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._gauges: dict[str, tuple[str, str, Gauge]] = {}
        started = time.time()
        self.watch("process_start_time_seconds", "gauge", "Start of the process.", lambda: started)
        self.watch("process_cpu_seconds_total", "counter", "Processor time.", time.process_time)

    def watch(self, name: str, kind: str, about: str, value: Gauge) -> None:
        """Add a value that is computed whenever the metrics are read; `kind` is gauge or counter."""
        self._gauges[name] = (kind, about, value)

    def count(self, exchange: Exchange) -> None:
        """Count one request."""
        route = exchange.route
        with self._lock:
            self._requests[exchange.method, route, exchange.status] += 1
            self._sent[route] += exchange.sent
            self._seconds[route] += exchange.seconds
            self._durations[route][bisect_left(BUCKETS, exchange.seconds)] += 1

    def text(self) -> str:
        """Return all metrics."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        name = "memroot_http_requests_total"
        yield from _head(name, "counter", "Requests that were answered.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'{name}{{method="{method}",route="{route}",status="{status}"}} {count}'
        name = "memroot_http_response_bytes_total"
        yield from _head(name, "counter", "Bytes in the bodies of answers.")
        for route, sent in sorted(self._sent.items()):
            yield f'{name}{{route="{route}"}} {sent}'
        yield from self._histogram()
        for name, (kind, about, value) in self._gauges.items():
            yield from _head(name, kind, about)
            yield f"{name} {value()}"
        name = "memroot_build_info"
        yield from _head(name, "gauge", "The version of the program; the value is always 1.")
        yield f'{name}{{version="{__version__}"}} 1'

    def _histogram(self) -> Iterator[str]:
        name = "memroot_http_request_duration_seconds"
        yield from _head(name, "histogram", "Time from the headers of a request to the end of its answer.")
        for route, counts in sorted(self._durations.items()):
            total = 0
            for bound, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]}'
            yield f'{name}_count{{route="{route}"}} {total}'


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
